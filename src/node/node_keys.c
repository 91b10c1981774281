/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* Keys for everybody: what the link room makes, under a public name. */

#include <string.h>

#include <troupe/node.h>

#include "net/link/link.h"

_Static_assert(TROUPE_KEY_SIZE == TRP_LINK_KEY_SIZE + 1, "one size of key");

troupe_err_t troupe_key_generate(char ret_public[TROUPE_KEY_SIZE], char ret_secret[TROUPE_KEY_SIZE])
{
    trp_link_key_t public_key;
    trp_link_key_t secret_key;
    if (ret_public == NULL || ret_secret == NULL) {
        return TROUPE_EINVAL;
    }
    troupe_err_t err = trp_link_keygen(&public_key, &secret_key);
    if (err != TROUPE_OK) {
        return err;
    }
    memcpy(ret_public, public_key.text, TROUPE_KEY_SIZE);
    memcpy(ret_secret, secret_key.text, TROUPE_KEY_SIZE);
    explicit_bzero(&secret_key, sizeof(secret_key));
    return TROUPE_OK;
}
