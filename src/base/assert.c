/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* Where a failed assertion ends. */

#include "base/assert.h"

#include <stdio.h>
#include <stdlib.h>

void trp_assert_fail(const char *text, const char *file, int line)
{
    (void)fprintf(stderr, "troupe: assertion failed: %s (%s:%d)\n", text, file, line);
    abort();
}
