/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* Memory for cells: slabs of one dispatcher, so that no two dispatchers' cells share a cache line, cut
 * into classes of whole lines. Freed cells are used again first; slabs live as long as the dispatcher.
 * Thread rule: owner dispatcher. */

#ifndef TROUPE_ACTOR_CELLS_H
#define TROUPE_ACTOR_CELLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TRP_CELL_CLASSES 64u /* Of one cache line each; larger cells come from the system. */

typedef struct trp_cells {
    void *free[TRP_CELL_CLASSES]; /* Linked through word 0. */
    void *slabs;                  /* Linked through word 0. */
    char *cut;                    /* The rest of the present slab. */
    size_t cut_size;
    size_t slab_size; /* Of the next slab: grows with use. */
} trp_cells_t;

void trp_cells_init(trp_cells_t *cells);
void trp_cells_fini(trp_cells_t *cells);
/* `size` bytes, not zeroed, on a line of their own; NULL without memory. */
void *trp_cells_take(trp_cells_t *cells, size_t size);
void trp_cells_put(trp_cells_t *cells, void *block, size_t size);

#endif
