/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* The library's own version. */

#include <troupe/version.h>

#define VERSION_TEXT_OF(part) #part
#define VERSION_TEXT(major, minor, patch)                                                          \
    VERSION_TEXT_OF(major) "." VERSION_TEXT_OF(minor) "." VERSION_TEXT_OF(patch)

int troupe_version_number(void)
{
    return TROUPE_VERSION_NUMBER;
}

const char *troupe_version_text(void)
{
    return VERSION_TEXT(TROUPE_VERSION_MAJOR, TROUPE_VERSION_MINOR, TROUPE_VERSION_PATCH);
}
