/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* Percent decoding: whatever is decoded, encoded and decoded again is the same. */

#include <stdint.h>
#include <string.h>

#include "base/assert.h"
#include "base/text.h"

#define DECODED_SIZE_MAX 4096

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static uint8_t decoded[DECODED_SIZE_MAX];
    static char text[TRP_TEXT_PERCENT_SIZE_MAX(DECODED_SIZE_MAX) + 1];
    static uint8_t again[DECODED_SIZE_MAX];
    size_t decoded_size = 0;
    troupe_err_t err =
        trp_text_percent_decode((const char *)data, size, decoded, sizeof(decoded), &decoded_size);
    if (err != TROUPE_OK) {
        return 0;
    }
    size_t text_size = 0;
    err = trp_text_percent_encode(decoded, decoded_size, text, sizeof(text), &text_size);
    TRP_ASSERT(err == TROUPE_OK && text_size == strlen(text));
    size_t again_size = 0;
    err = trp_text_percent_decode(text, text_size, again, sizeof(again), &again_size);
    TRP_ASSERT(err == TROUPE_OK && again_size == decoded_size);
    TRP_ASSERT(memcmp(again, decoded, decoded_size) == 0);
    return 0;
}
