/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* CURVE keys of nodes, and their files. Thread rule: any thread. */

#ifndef TROUPE_LINK_KEY_H
#define TROUPE_LINK_KEY_H

#include <stdbool.h>

#include <troupe/error.h>

#define TRP_LINK_KEY_SIZE 40u /* A CURVE key in Z85 text, without the zero. */

typedef struct trp_link_key {
    char text[TRP_LINK_KEY_SIZE + 1];
} trp_link_key_t;

/* Makes a CURVE key pair. */
troupe_err_t trp_link_keygen(trp_link_key_t *ret_public, trp_link_key_t *ret_secret);
/* The public key that belongs to a secret one. EINVAL when the text is no key. */
troupe_err_t trp_link_key_public(const trp_link_key_t *secret, trp_link_key_t *ret_public);
/* Writes a key as a file of mode 0600, which must not exist (EEXIST). ESYSTEM. */
troupe_err_t trp_link_key_save(const char *path, const trp_link_key_t *key);
/* Reads one. ENOENT, EINVAL (no key in it), EPERM (a secret that others may read). */
troupe_err_t trp_link_key_load(const char *path, bool is_secret, trp_link_key_t *ret_key);

#endif
