/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* Numbers of system messages on the wire: fixed for good, whatever the runtime calls them.
 *
 * Thread rule: pure functions. */

#ifndef TROUPE_LINK_SYSTEM_CODE_H
#define TROUPE_LINK_SYSTEM_CODE_H

#include <stdint.h>

#include "actor/system.h"

#define TRP_SYSTEM_CODE_TABLE(X)                                                                   \
    X(1, TRP_SYSTEM_WATCH)                                                                         \
    X(2, TRP_SYSTEM_UNWATCH)                                                                       \
    X(3, TRP_SYSTEM_TERMINATED)                                                                    \
    X(4, TRP_SYSTEM_POISON)                                                                        \
    X(5, TRP_SYSTEM_KILL)                                                                          \
    X(6, TRP_SYSTEM_ASK_FAILED)

/* The number of a kind; 0: it does not cross links. */
static inline uint16_t trp_system_code_of(uint16_t kind)
{
#define TRP_SYSTEM_CODE_OF(code, name)                                                             \
    if (kind == (uint16_t)(name)) {                                                                \
        return (code);                                                                             \
    }
    TRP_SYSTEM_CODE_TABLE(TRP_SYSTEM_CODE_OF)
#undef TRP_SYSTEM_CODE_OF
    return 0;
}

/* The kind of a number; 0, which is none: there is no such number. */
static inline trp_system_kind_t trp_system_kind_of(uint16_t code)
{
#define TRP_SYSTEM_KIND_OF(number, name)                                                           \
    if (code == (number)) {                                                                        \
        return (name);                                                                             \
    }
    TRP_SYSTEM_CODE_TABLE(TRP_SYSTEM_KIND_OF)
#undef TRP_SYSTEM_KIND_OF
    return (trp_system_kind_t)0;
}

#endif
