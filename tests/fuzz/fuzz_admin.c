/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* Fuzzes requests of the admin socket. */

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "node/admin_request.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    trp_store_t store;
    trp_admin_request_t request;
    char problem[TRP_ADMIN_PROBLEM_SIZE];
    trp_store_init(&store);
    troupe_err_t err = trp_admin_request_parse(data, size, &store, &request, problem);
    /* A refusal says why, and only a refusal does. */
    if ((err == TROUPE_EPROTOCOL) != (problem[0] != '\0')) {
        abort();
    }
    if (err == TROUPE_OK && trp_admin_op_name(request.op) == NULL) {
        abort();
    }
    trp_store_fini(&store);
    return 0;
}
