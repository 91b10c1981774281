/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* Small files that people write: configuration, keys, seeds.
 *
 * Thread rule: any thread. Blocks on the disk. */

#ifndef TROUPE_NODE_FILE_H
#define TROUPE_NODE_FILE_H

#include <stdbool.h>
#include <stddef.h>

#include <troupe/error.h>

/* Reads at most `size_max` bytes of a file into new memory, for trp_free; a zero follows them.
 * ESYSTEM: errno says why; ENOMEM. */
troupe_err_t trp_file_read(const char *path, size_t size_max, char **ret_text, size_t *ret_size);

/* Reads a file only if nobody but its owner can: EPERM otherwise. */
troupe_err_t trp_file_read_secret(const char *path, size_t size_max, char **ret_text,
                                  size_t *ret_size);

/* Cuts the next line off *text_p, without its end and the blanks around it. Empty lines and those that
 * begin with # and a space are passed over; NULL at the end. Changes the text. */
char *trp_file_next_line(char **text_p);

#endif
