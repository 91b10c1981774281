/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* The smallest program: are the headers and the library of one version? */

#include <stdio.h>

#include <troupe/version.h>

int main(void)
{
    (void)printf("troupe %s\n", troupe_version_text());
    return troupe_version_number() == TROUPE_VERSION_NUMBER ? 0 : 1;
}
