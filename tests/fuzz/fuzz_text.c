/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* Reading of bytes and text that come from elsewhere: views, varints, numbers, references, escaping. */

#include <stdint.h>
#include <string.h>

#include <troupe/ref.h>

#include "base/assert.h"
#include "base/text.h"
#include "base/view.h"

#define TEXT_SIZE_MAX 1024
#define BLOCK_SIZE_MAX 64

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* What a view gives away lies inside of it, and it always ends. */
static void read_blocks(const uint8_t *data, size_t size)
{
    trp_view_t view = trp_view_make(data, size);
    trp_view_t block = {NULL, 0};
    while (trp_view_take_block(&view, BLOCK_SIZE_MAX, &block) == TROUPE_OK) {
        TRP_ASSERT(block.size <= BLOCK_SIZE_MAX);
        TRP_ASSERT(block.data >= data && block.data + block.size <= data + size);
    }
    uint64_t number = 0;
    while (trp_view_take_varint(&view, &number) == TROUPE_OK) {
        uint8_t bytes[TRP_VARINT_SIZE_MAX];
        size_t written = trp_varint_put(bytes, sizeof(bytes), number);
        TRP_ASSERT(memcmp(bytes, view.data - written, written) == 0);
    }
}

static void read_text(const char *text)
{
    uint64_t number = 0;
    if (trp_text_parse_u64(text, UINT64_MAX, &number) == TROUPE_OK) {
        TRP_ASSERT(strspn(text, "0123456789") == strlen(text));
    }
    troupe_ref_t ref = troupe_ref_none();
    if (troupe_ref_parse(text, &ref) == TROUPE_OK) {
        char again[TROUPE_REF_TEXT_SIZE];
        TRP_ASSERT(strcmp(troupe_ref_format(ref, again), text) == 0);
    }
    static const char *const words[] = {"listen", "seeds", "roles"};
    (void)trp_text_suggest(text, words, 3);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size >= TEXT_SIZE_MAX) {
        return 0;
    }
    char text[TEXT_SIZE_MAX];
    memcpy(text, data, size);
    text[size] = '\0';
    read_blocks(data, size);
    read_text(text);
    char escaped[100];
    (void)trp_text_escape(escaped, sizeof(escaped), data, size);
    TRP_ASSERT(trp_text_is_utf8(escaped, strlen(escaped)));
    (void)trp_text_is_utf8(data, size);
    return 0;
}
