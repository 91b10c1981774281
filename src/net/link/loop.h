/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* The link thread. */

#ifndef TROUPE_LINK_LOOP_H
#define TROUPE_LINK_LOOP_H

#include "net/link/state.h"

/* The thread's main function; the argument is the link. */
void *trp_loop_main(void *argument);

/* Takes what other threads have handed over. True when there was something. The link thread, or whoever
 * ends the link after it. */
bool trp_loop_take(trp_link_t *link);

/* Lets go of all that is left, after the thread and the dispatchers have ended. */
void trp_link_end(trp_link_t *link);

/* In flight, from any thread: waits for the link thread's count. */
void trp_link_in_flight(trp_link_t *link, uint64_t *ret_user, uint64_t *ret_system);

/* Counts what waits for peers, in all places. The link thread, or while there is none. */
void trp_count_in_flight(trp_link_t *link, uint64_t *ret_user, uint64_t *ret_system);

#endif
