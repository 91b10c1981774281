/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* The version: of the headers at compile time, of the library at run time.
 *
 * Thread rule: any thread. Since 0.1. */

#ifndef TROUPE_VERSION_H
#define TROUPE_VERSION_H

#include <troupe/api.h>

TROUPE_BEGIN_DECLS

/* CMake reads the version from these three lines. */
#define TROUPE_VERSION_MAJOR 0
#define TROUPE_VERSION_MINOR 1
#define TROUPE_VERSION_PATCH 0

#define TROUPE_VERSION_NUMBER                                                                      \
    (TROUPE_VERSION_MAJOR * 1000000 + TROUPE_VERSION_MINOR * 1000 + TROUPE_VERSION_PATCH)

/* The library's TROUPE_VERSION_NUMBER, to compare with that of the headers. */
TROUPE_API int troupe_version_number(void);

/* "0.1.0". Static. */
TROUPE_API const char *troupe_version_text(void);

TROUPE_END_DECLS

#endif
