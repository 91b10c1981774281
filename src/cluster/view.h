/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* Changes of the view: every change of a member goes through here, so that each is told to subscribers,
 * passed on as a rumor and counted in the digest.
 *
 * Thread rule: the core's thread. */

#ifndef TROUPE_CLUSTER_VIEW_H
#define TROUPE_CLUSTER_VIEW_H

#include "cluster/state.h"

/* How often a rumor is sent before it is taken for known: grows with the logarithm of the members. */
uint32_t trp_view_rumor_count(const trp_cluster_core_t *core);

/* Members from joining to leaving that aren't known to be unreachable, self among them. */
size_t trp_view_live_len(const trp_cluster_core_t *core);

bool trp_view_is_connected(const trp_cluster_core_t *core, uint64_t uid);

/* Asks the driver to dial; `uid` is who is expected there, or 0. */
void trp_view_connect(trp_cluster_core_t *core, const char *address, uint64_t uid);

/* Asks for a connection to a member that has none, not more often than makes sense. */
void trp_view_reach_out(trp_cluster_core_t *core, trp_member_t *member);

void trp_view_note(trp_cluster_core_t *core, trp_note_t note, uint64_t uid, uint64_t count);

/* Adds a rumor. */
void trp_view_tell(trp_cluster_core_t *core, trp_rumor_kind_t kind, uint64_t uid, uint64_t by,
                   uint32_t incarnation);

/* Passes the member's state and incarnation on. */
void trp_view_tell_status(trp_cluster_core_t *core, const trp_member_t *member);

/* This node is a member now: tells of itself. */
void trp_view_enter(trp_cluster_core_t *core);

/* Adds a joining member from a valid view; NULL when there is no room or no memory. */
trp_member_t *trp_view_add(trp_cluster_core_t *core, const trp_identity_view_t *identity);

/* Moves a member forward; a state that isn't ahead of its own changes nothing. Not to removed. */
void trp_view_set_state(trp_cluster_core_t *core, trp_member_t *member,
                        troupe_member_state_t state);

void trp_view_set_reach(trp_cluster_core_t *core, trp_member_t *member, trp_reach_t reach);

/* A higher incarnation: the member itself has spoken since, so it is alive. */
void trp_view_set_incarnation(trp_cluster_core_t *core, trp_member_t *member, uint32_t incarnation);

/* Says of self that it lives, with an incarnation above `than`. */
void trp_view_refute(trp_cluster_core_t *core, uint32_t than);

void trp_view_set_up_number(trp_cluster_core_t *core, trp_member_t *member, uint64_t up_number);
void trp_view_set_flags(trp_cluster_core_t *core, trp_member_t *member, uint32_t flags);

/* Removes a member for good; it is freed. Not self. */
void trp_view_remove(trp_cluster_core_t *core, trp_member_t *member);

/* Remembers a uid as removed that was never a member here. */
void trp_view_bury(trp_cluster_core_t *core, uint64_t uid);

/* Ends this incarnation: the last thing a core does. */
void trp_view_stop(trp_cluster_core_t *core, trp_stop_reason_t reason);

/* Something that the digest covers has changed. */
void trp_view_changed(trp_cluster_core_t *core);

/* Tells of a new leader or oldest member, if there is one. */
void trp_view_update_roles(trp_cluster_core_t *core);

/* Brings digest and ranges up to date and returns the digest. */
uint64_t trp_view_digest(trp_cluster_core_t *core);

/* The range of the uid space that a uid lies in, and a member's hash as vectors have it. */
size_t trp_view_range(uint64_t uid);
uint64_t trp_view_hash(const trp_member_t *member);

#endif
