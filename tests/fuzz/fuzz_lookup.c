/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* Fuzzes what other members send to the look-up service, and addresses with paths. */

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "node/lookup.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    trp_lookup_message_t message;
    trp_node_address_t address;
    const char *path = NULL;
    char text[TROUPE_ADDRESS_SIZE_MAX + 16];
    if (trp_lookup_read(trp_view_make(data, size), &message) == TROUPE_OK &&
        message.path.size >= TROUPE_PATH_SIZE_MAX) {
        abort();
    }
    size_t kept = size < sizeof(text) ? size : sizeof(text) - 1;
    memcpy(text, data, kept);
    text[kept] = '\0';
    /* The path is a part of the text. */
    if (trp_lookup_parse(text, &address, &path) == TROUPE_OK &&
        (path < text || path >= text + sizeof(text) || path[0] != '/')) {
        abort();
    }
    return 0;
}
