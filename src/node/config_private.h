/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* What the sources of a configuration share. */

#ifndef TROUPE_NODE_CONFIG_PRIVATE_H
#define TROUPE_NODE_CONFIG_PRIVATE_H

#include <stddef.h>
#include <stdint.h>

#include <troupe/config.h>

#include "base/attr.h"
#include "base/buf.h"
#include "node/option.h"
#include "node/store.h"

#define TRP_CONFIG_PROBLEMS_MAX 32 /* Lines of errors that are gathered; then it's enough. */
#define TRP_CONFIG_PROBLEMS_SIZE_MAX 65536

/* Where an option's value in force comes from. */
typedef struct trp_config_mark {
    troupe_config_source_t source;
    uint32_t line;    /* Of a file; 0 otherwise. */
    uint32_t reading; /* The file load it was set in, to find keys given twice. */
} trp_config_mark_t;

struct troupe_config {
    trp_option_values_t values;
    trp_store_t store;
    trp_config_mark_t *marks; /* One an option, in the table's order. In the store. */
    uint32_t reading;         /* File loads so far. */
    size_t problems_len;
    trp_buf_t errors; /* Zero-terminated lines, or empty. */
    trp_buf_t warnings;
};

/* The place in a source that is being looked at. */
typedef struct trp_config_place {
    troupe_config_source_t source;
    const char *origin; /* File, "environment" or "command line". */
    uint32_t line;      /* 0: has no lines. */
} trp_config_place_t;

/* Forgets the errors and warnings of the call before. */
void trp_config_begin(troupe_config_t *config);

/* Adds a line "origin:line: ...". Returns TROUPE_ECONFIG. */
troupe_err_t trp_config_complain(troupe_config_t *config, const trp_config_place_t *place,
                                 const char *format, ...) TRP_PRINTF(3, 4);

/* Adds a line to the warnings. */
void trp_config_warn(troupe_config_t *config, const trp_config_place_t *place, const char *format,
                     ...) TRP_PRINTF(3, 4);

/* Complains about a key that is none, with a suggestion. Returns TROUPE_ECONFIG. */
troupe_err_t trp_config_complain_key(troupe_config_t *config, const trp_config_place_t *place,
                                     const char *key);

/* Sets an option from its elements, unless a stronger source has set it. Complains. */
troupe_err_t trp_config_assign(troupe_config_t *config, const trp_config_place_t *place,
                               const trp_option_t *option, const char *const *items, size_t len);

/* Splits at commas and assigns. */
troupe_err_t trp_config_assign_text(troupe_config_t *config, const trp_config_place_t *place,
                                    const trp_option_t *option, const char *text);

/* OK when no error has been gathered, else ECONFIG. */
troupe_err_t trp_config_verdict(const troupe_config_t *config);

#endif
