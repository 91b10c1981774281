/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* Text into values: what the kinds of options accept.
 *
 * Thread rule: pure functions over the caller's memory. */

#ifndef TROUPE_NODE_OPTION_VALUE_H
#define TROUPE_NODE_OPTION_VALUE_H

#include <stdint.h>

#include "node/option.h"

/* Writes the choice of that number, counted from 1; "" when there is none. */
void trp_option_choice(const trp_option_t *option, uint32_t number,
                       char ret_text[TRP_OPTION_KEY_SIZE_MAX]);

#endif
