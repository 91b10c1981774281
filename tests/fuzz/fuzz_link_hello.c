/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* Fuzzes the bodies of handshake frames: what is read can be written, and reads the same again. */

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "net/link/hello.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void fuzz_hello(trp_view_t body)
{
    trp_hello_t hello;
    if (trp_hello_get(body, &hello) != TROUPE_OK) {
        return;
    }
    trp_buf_t buf;
    trp_buf_init(&buf, 1u << 20);
    trp_hello_t again;
    if (trp_hello_put(&hello, &buf) != TROUPE_OK ||
        trp_hello_get(trp_buf_view(&buf), &again) != TROUPE_OK ||
        again.section_len != hello.section_len || !trp_view_equal(again.cluster, hello.cluster) ||
        memcmp(&again.pair, &hello.pair, sizeof(again.pair)) != 0) {
        abort();
    }
    trp_buf_fini(&buf);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    trp_view_t body = trp_view_make(data, size);
    trp_hello_pair_t pair;
    trp_refusal_t refusal;
    fuzz_hello(body);
    if (trp_hello_get_pair(body, &pair) == TROUPE_OK && (pair.nonce == 0 || pair.echo == 0)) {
        abort();
    }
    if (trp_hello_get_refusal(body, &refusal) == TROUPE_OK &&
        refusal.text.size > TRP_LINK_TEXT_SIZE_MAX) {
        abort();
    }
    return 0;
}
