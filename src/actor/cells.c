/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

#include "actor/cells.h"

#include "base/assert.h"
#include "base/attr.h"
#include "base/memory.h"

#define SLAB_SIZE_MIN ((size_t)64 * 1024)
#define SLAB_SIZE_MAX ((size_t)2 * 1024 * 1024)

void trp_cells_init(trp_cells_t *cells)
{
    *cells = (trp_cells_t){.slab_size = SLAB_SIZE_MIN};
}

void trp_cells_fini(trp_cells_t *cells)
{
    while (cells->slabs != NULL) {
        void *slab = cells->slabs;
        cells->slabs = *(void **)slab;
        trp_free(slab);
    }
}

static size_t cell_lines(size_t size)
{
    return (size + TRP_CACHE_LINE - 1) / TRP_CACHE_LINE;
}

static bool cells_grow(trp_cells_t *cells)
{
    char *slab = trp_alloc_aligned(TRP_CACHE_LINE, cells->slab_size);
    if (slab == NULL) {
        return false;
    }
    *(void **)(void *)slab = cells->slabs;
    cells->slabs = slab;
    cells->cut = slab + TRP_CACHE_LINE;
    cells->cut_size = cells->slab_size - TRP_CACHE_LINE;
    if (cells->slab_size < SLAB_SIZE_MAX) {
        cells->slab_size *= 2;
    }
    return true;
}

void *trp_cells_take(trp_cells_t *cells, size_t size)
{
    size_t lines = cell_lines(size);
    if (lines >= TRP_CELL_CLASSES) {
        return trp_alloc_aligned(TRP_CACHE_LINE, lines * TRP_CACHE_LINE);
    }
    void *block = cells->free[lines];
    if (block != NULL) {
        cells->free[lines] = *(void **)block;
        return block;
    }
    /* What is left of a slab that is too small is given up: at most one cell in hundreds. */
    if (cells->cut_size < lines * TRP_CACHE_LINE && !cells_grow(cells)) {
        return NULL;
    }
    block = cells->cut;
    cells->cut += lines * TRP_CACHE_LINE;
    cells->cut_size -= lines * TRP_CACHE_LINE;
    return block;
}

void trp_cells_put(trp_cells_t *cells, void *block, size_t size)
{
    size_t lines = cell_lines(size);
    TRP_ASSERT(block != NULL && lines > 0);
    if (lines >= TRP_CELL_CLASSES) {
        trp_free(block);
        return;
    }
    *(void **)block = cells->free[lines];
    cells->free[lines] = block;
}
