/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* Edit distance, for "did you mean". */

#include <string.h>

#include "base/assert.h"
#include "base/text.h"

#define DISTANCE_ROW (TRP_TEXT_DISTANCE_SIZE_MAX + 1)

/* The table of distances between beginnings of `a` and `b`, of which three rows are kept: that of the
 * letter before the last, of the last letter and of the present letter of `a`. */
typedef struct distance {
    const char *a;
    const char *b;
    size_t b_size;
    size_t rows[3][DISTANCE_ROW];
} distance_t;

static size_t distance_min(size_t x, size_t y)
{
    return x < y ? x : y;
}

/* Distance of the first i letters of a and the first j of b, both at least 1. */
static size_t distance_cell(const distance_t *d, size_t i, size_t j)
{
    const size_t *row = d->rows[i % 3];
    const size_t *above = d->rows[(i - 1) % 3];
    size_t best = above[j - 1] + (d->a[i - 1] != d->b[j - 1]);
    best = distance_min(best, above[j] + 1);
    best = distance_min(best, row[j - 1] + 1);
    if (i > 1 && j > 1 && d->a[i - 1] == d->b[j - 2] && d->a[i - 2] == d->b[j - 1]) {
        best = distance_min(best, d->rows[(i - 2) % 3][j - 2] + 1);
    }
    return best;
}

size_t trp_text_distance(const char *a, const char *b)
{
    TRP_ASSERT(a != NULL && b != NULL);
    size_t a_size = strnlen(a, DISTANCE_ROW);
    distance_t d = {a, b, strnlen(b, DISTANCE_ROW), {{0}}};
    if (a_size >= DISTANCE_ROW || d.b_size >= DISTANCE_ROW) {
        return SIZE_MAX;
    }
    for (size_t j = 0; j <= d.b_size; j++) {
        d.rows[0][j] = j;
    }
    for (size_t i = 1; i <= a_size; i++) {
        d.rows[i % 3][0] = i;
        for (size_t j = 1; j <= d.b_size; j++) {
            d.rows[i % 3][j] = distance_cell(&d, i, j);
        }
    }
    return d.rows[a_size % 3][d.b_size];
}

const char *trp_text_suggest(const char *word, const char *const *candidates, size_t len)
{
    TRP_ASSERT(word != NULL);
    /* A third of the letters may be wrong: more is another word. */
    size_t nearest = (strlen(word) + 2) / 3;
    const char *best = NULL;
    for (size_t i = 0; i < len; i++) {
        size_t distance = trp_text_distance(word, candidates[i]);
        if (distance < nearest || (distance == nearest && best == NULL)) {
            nearest = distance;
            best = candidates[i];
        }
    }
    return best;
}
