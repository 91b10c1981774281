/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* Simulated processes and links. */

#include "world.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "base/bytes.h"
#include "base/memory.h"
#include "base/view.h"

/* What goes over the simulated wire: a kind, the sender's and the receiver's uid, then bytes. */
enum {
    FRAME_HELLO = 1, /* Who is there? */
    FRAME_HERE = 2,  /* The answer; the session stands. */
    FRAME_DATA = 3,
    FRAME_RESET = 4, /* The session is broken. */
    FRAME_HEAD_SIZE = 17,
};

#define WORLD_RESTART_DELAY (200 * WORLD_MS)

static void world_must(bool held, const char *what)
{
    if (!held) {
        (void)fprintf(stderr, "the simulated world failed: %s\n", what);
        abort();
    }
}

static uint64_t *world_session(world_t *world, size_t from, size_t to)
{
    return &world->sessions[from * world->options.len + to];
}

static void world_frame(world_t *world, size_t from, size_t to, uint8_t kind, uint64_t to_uid,
                        trp_view_t bytes)
{
    uint8_t frame[FRAME_HEAD_SIZE + 8192];
    TRP_ASSERT(bytes.size <= sizeof(frame) - FRAME_HEAD_SIZE);
    frame[0] = kind;
    trp_store_le64(frame + 1, world->processes[from].uid);
    trp_store_le64(frame + 9, to_uid);
    if (bytes.size > 0) {
        memcpy(frame + FRAME_HEAD_SIZE, bytes.data, bytes.size);
    }
    world_must(trp_sim_send(world->sim, from, to, frame, FRAME_HEAD_SIZE + bytes.size) == TROUPE_OK,
               "no memory");
}

static size_t world_index_of_address(const world_t *world, const char *address)
{
    for (size_t i = 0; i < world->options.len; i++) {
        if (strcmp(world->processes[i].address, address) == 0) {
            return i;
        }
    }
    return SIZE_MAX;
}

/* ---- what cores ask for ----------------------------------------------------------------------- */

static void world_send(world_t *world, size_t index, const trp_output_t *output)
{
    for (size_t to = 0; to < world->options.len; to++) {
        if (*world_session(world, index, to) == output->uid) {
            world_frame(world, index, to, FRAME_DATA, output->uid,
                        trp_view_make(output->data, output->size));
            return;
        }
    }
}

static void world_connect(world_t *world, size_t index, const char *address)
{
    size_t to = world_index_of_address(world, address);
    if (to != SIZE_MAX && to != index) {
        world_frame(world, index, to, FRAME_HELLO, 0, trp_view_make(NULL, 0));
    }
}

static size_t world_index_of_uid(const world_t *world, uint64_t uid)
{
    for (size_t i = 0; i < world->options.len; i++) {
        if (world->processes[i].uid == uid || world->processes[i].last_uid == uid) {
            return i;
        }
    }
    return SIZE_MAX;
}

static void world_count_event(world_t *world, const trp_output_t *output)
{
    world_counts_t *counts = &world->counts;
    size_t about = world_index_of_uid(world, output->uid);
    switch (output->event) {
    case TROUPE_MEMBER_EVENT_JOINED:
        counts->joined++;
        break;
    case TROUPE_MEMBER_EVENT_UP:
        counts->up++;
        break;
    case TROUPE_MEMBER_EVENT_UNREACHABLE:
        counts->unreachable++;
        counts->unreachable_mask |= about < 64 ? UINT64_C(1) << about : 0;
        break;
    case TROUPE_MEMBER_EVENT_REACHABLE:
        counts->reachable++;
        break;
    case TROUPE_MEMBER_EVENT_DOWN:
        counts->down++;
        counts->false_downs +=
            about != SIZE_MAX && world->processes[about].uid == output->uid ? 1 : 0;
        break;
    case TROUPE_MEMBER_EVENT_REMOVED:
        counts->removed++;
        break;
    default:
        break;
    }
}

static void world_note(world_t *world, const trp_output_t *output)
{
    size_t about = world_index_of_uid(world, output->uid);
    world->counts.notes[output->note]++;
    if (output->note == TRP_NOTE_SUSPECT && about < 64) {
        world->counts.suspected_mask |= UINT64_C(1) << about;
    }
}

static void world_start_again(void *user, uint64_t index)
{
    world_t *world = user;
    if (world->processes[index].core == NULL) {
        world_start(world, index);
    }
}

static void world_keep_peers(world_process_t *process)
{
    process->peers_len = 0;
    for (size_t i = 0; i < trp_cluster_core_len(process->core); i++) {
        const trp_member_t *member = trp_cluster_core_at(process->core, i);
        if (process->peers_len < WORLD_PEERS_MAX && member->uid != process->uid) {
            (void)snprintf(process->peers[process->peers_len], sizeof(process->peers[0]), "%s",
                           member->identity->address);
            process->peers_len++;
        }
    }
}

/* Ends the process. Its connections break: everybody who has a session hears of it, as far as the
 * network carries it. */
static void world_end(world_t *world, size_t index, bool silent)
{
    world_process_t *process = &world->processes[index];
    if (process->core == NULL) {
        return;
    }
    if (world->options.keep_peers) {
        world_keep_peers(process);
    }
    for (size_t i = 0; i < world->options.len; i++) {
        if (!silent && *world_session(world, i, index) == process->uid) {
            world_frame(world, index, i, FRAME_RESET, world->processes[i].uid,
                        trp_view_make(NULL, 0));
        }
        *world_session(world, index, i) = 0;
    }
    trp_cluster_core_destroy(&process->core);
    process->last_uid = process->uid;
    process->uid = 0;
}

static void world_stopped(world_t *world, size_t index, trp_stop_reason_t reason)
{
    world_process_t *process = &world->processes[index];
    world->counts.stops[reason]++;
    world_end(world, index, false);
    trp_sim_kill(world->sim, index);
    process->has_left = reason == TRP_STOP_LEFT;
    if (process->has_left || world->options.no_restart) {
        return;
    }
    process->restarts++;
    world_must(trp_sim_call(world->sim, WORLD_RESTART_DELAY, world_start_again, index) == TROUPE_OK,
               "no memory");
}

static void world_say(const world_t *world, size_t index, const trp_output_t *output)
{
    if (!world->verbose || output->kind == TRP_OUTPUT_SEND || output->kind == TRP_OUTPUT_CONNECT) {
        return;
    }
    size_t about = world_index_of_uid(world, output->uid);
    (void)printf("%10.3f  %3zu: ", (double)trp_sim_now(world->sim) / 1e9 - 3600, index);
    if (output->kind == TRP_OUTPUT_EVENT) {
        (void)printf("%s", troupe_member_event_name(output->event));
    } else if (output->kind == TRP_OUTPUT_NOTE) {
        (void)printf("note %s (%" PRIu64 ")", trp_note_name(output->note), output->count);
    } else if (output->kind == TRP_OUTPUT_STOP_SELF) {
        (void)printf("stops: %s", trp_stop_reason_name(output->stop));
    } else {
        (void)printf("output %d", (int)output->kind);
    }
    (void)printf("  %zd\n", (ssize_t)about);
}

/* Does what the core wants; false when it has ended. */
static bool world_act(world_t *world, size_t index, const trp_output_t *output)
{
    world_process_t *process = &world->processes[index];
    switch (output->kind) {
    case TRP_OUTPUT_SEND:
        world_send(world, index, output);
        break;
    case TRP_OUTPUT_CONNECT:
        world_connect(world, index, output->address);
        break;
    case TRP_OUTPUT_DISCONNECT: {
        for (size_t i = 0; i < world->options.len; i++) {
            if (*world_session(world, index, i) == output->uid) {
                *world_session(world, index, i) = 0;
                trp_cluster_core_peer_disconnected(
                    process->core, trp_sim_node_now(world->sim, index), output->uid);
            }
        }
        break;
    }
    case TRP_OUTPUT_EVENT:
        if (output->uid == process->uid && output->event == TROUPE_MEMBER_EVENT_UP) {
            process->up_at = trp_sim_now(world->sim);
        }
        world_count_event(world, output);
        break;
    case TRP_OUTPUT_DOWNED:
        world->counts.downed++;
        break;
    case TRP_OUTPUT_STOP_SELF:
        world_stopped(world, index, output->stop);
        return false;
    case TRP_OUTPUT_NOTE:
        world_note(world, output);
        break;
    case TRP_OUTPUT_LOST:
        world_must(false, "events were lost");
        break;
    }
    return true;
}

static void world_drain(world_t *world, size_t index)
{
    world_process_t *process = &world->processes[index];
    trp_output_t output;
    while (process->core != NULL && trp_cluster_core_next(process->core, &output)) {
        world_say(world, index, &output);
        (void)world_act(world, index, &output);
        trp_output_fini(&output);
    }
    if (process->core != NULL) {
        world_must(trp_sim_wake(world->sim, index, trp_cluster_core_wakeup(process->core)) ==
                       TROUPE_OK,
                   "no memory");
    }
}

/* ---- what the network brings ------------------------------------------------------------------ */

static void world_on_here(world_t *world, size_t index, uint64_t now, size_t from,
                          uint64_t from_uid)
{
    world_process_t *process = &world->processes[index];
    uint64_t *session = world_session(world, index, from);
    if (*session == from_uid) {
        return;
    }
    if (*session != 0) {
        trp_cluster_core_peer_disconnected(process->core, now, *session);
    }
    *session = from_uid;
    trp_cluster_core_peer_connected(process->core, now, from_uid, world->processes[from].address);
}

static void world_on_reset(world_t *world, size_t index, uint64_t now, size_t from,
                           uint64_t from_uid)
{
    uint64_t *session = world_session(world, index, from);
    if (*session == from_uid) {
        *session = 0;
        trp_cluster_core_peer_disconnected(world->processes[index].core, now, from_uid);
    }
}

static void world_on_message(void *user, size_t index, uint64_t now, size_t from, const void *data,
                             size_t size)
{
    world_t *world = user;
    world_process_t *process = &world->processes[index];
    const uint8_t *bytes = data;
    uint64_t from_uid = trp_load_le64(bytes + 1);
    uint64_t to_uid = trp_load_le64(bytes + 9);
    if (process->core == NULL || (to_uid != 0 && to_uid != process->uid)) {
        return;
    }
    switch (bytes[0]) {
    case FRAME_HELLO:
        world_frame(world, index, from, FRAME_HERE, from_uid, trp_view_make(NULL, 0));
        if (*world_session(world, index, from) != from_uid) { /* Links stand both ways. */
            world_frame(world, index, from, FRAME_HELLO, 0, trp_view_make(NULL, 0));
        }
        break;
    case FRAME_HERE:
        world_on_here(world, index, now, from, from_uid);
        break;
    case FRAME_DATA:
        trp_cluster_core_message(process->core, now, from_uid, bytes + FRAME_HEAD_SIZE,
                                 size - FRAME_HEAD_SIZE);
        break;
    default:
        world_on_reset(world, index, now, from, from_uid);
        break;
    }
    world_drain(world, index);
}

static void world_on_wake(void *user, size_t index, uint64_t now)
{
    world_t *world = user;
    if (world->processes[index].core != NULL) {
        trp_cluster_core_tick(world->processes[index].core, now);
        world_drain(world, index);
    }
}

/* ---- life ------------------------------------------------------------------------------------- */

void world_init(world_t *world, const world_options_t *options)
{
    memset(world, 0, sizeof(*world));
    world->options = *options;
    world->verbose = getenv("TROUPE_SIM_VERBOSE") != NULL;
    trp_sim_options_t sim_options = {.seed = options->seed,
                                     .nodes_len = options->len,
                                     .network = options->network,
                                     .user = world,
                                     .on_message = world_on_message,
                                     .on_wake = world_on_wake};
    if (sim_options.network.delay_max == 0) {
        sim_options.network.delay_min = WORLD_MS / 5;
        sim_options.network.delay_max = 2 * WORLD_MS;
    }
    world->options.network = sim_options.network;
    world_must(trp_sim_create(&sim_options, &world->sim) == TROUPE_OK, "no memory");
    world->processes = trp_calloc(options->len, sizeof(*world->processes));
    world->sessions = trp_calloc(options->len * options->len, sizeof(*world->sessions));
    world_must(world->processes != NULL && world->sessions != NULL, "no memory");
    for (size_t i = 0; i < options->len; i++) {
        world_process_t *process = &world->processes[i];
        (void)snprintf(process->address, sizeof(process->address), "node-%04zu:7000", i);
        for (size_t s = 0; s < options->seeds_len && s < options->len; s++) {
            process->seeds[s] = world->processes[s].address;
        }
        process->seeds_len = options->seeds_len < options->len ? options->seeds_len : options->len;
    }
}

void world_fini(world_t *world)
{
    for (size_t i = 0; i < world->options.len; i++) {
        trp_cluster_core_destroy(&world->processes[i].core);
    }
    trp_free(world->processes);
    trp_free(world->sessions);
    trp_sim_destroy(&world->sim);
}

void world_set_seeds(world_t *world, size_t index, const size_t *seeds, size_t len)
{
    world_process_t *process = &world->processes[index];
    TRP_ASSERT(len <= WORLD_SEEDS_MAX);
    for (size_t i = 0; i < len; i++) {
        process->seeds[i] = world->processes[seeds[i]].address;
    }
    process->seeds_len = len;
}

void world_start(world_t *world, size_t index)
{
    world_process_t *process = &world->processes[index];
    const char *peers[WORLD_PEERS_MAX];
    TRP_ASSERT(process->core == NULL);
    for (size_t i = 0; i < process->peers_len; i++) {
        peers[i] = process->peers[i];
    }
    process->uid = trp_random_next(trp_sim_random(world->sim)) | 1;
    process->started_at = trp_sim_now(world->sim);
    process->up_at = 0;
    process->has_left = false;
    trp_cluster_options_t options = {
        .uid = process->uid,
        .random_seed = trp_random_next(trp_sim_random(world->sim)),
        .address = process->address,
        .name = process->address,
        .seeds = process->seeds,
        .seeds_len = process->seeds_len,
        .peers = peers,
        .peers_len = world->options.keep_peers ? process->peers_len : 0,
        .strategy = world->options.strategy,
        .quorum_len = world->options.quorum_len,
        .members_min = world->options.members_min,
        .timings = world->options.timings,
    };
    trp_sim_start(world->sim, index);
    world_must(trp_cluster_core_create(&options, trp_sim_node_now(world->sim, index),
                                       &process->core) == TROUPE_OK,
               "can't create a core");
    world_on_wake(world, index, trp_sim_node_now(world->sim, index));
}

void world_start_all(world_t *world)
{
    for (size_t i = 0; i < world->options.len; i++) {
        world_start(world, i);
    }
}

void world_kill(world_t *world, size_t index, bool silent)
{
    world_end(world, index, silent);
    trp_sim_kill(world->sim, index);
}

void world_leave(world_t *world, size_t index)
{
    world_process_t *process = &world->processes[index];
    TRP_ASSERT(process->core != NULL);
    trp_cluster_core_leave(process->core, trp_sim_node_now(world->sim, index));
    world_drain(world, index);
}

void world_run(world_t *world, uint64_t duration)
{
    world_must(trp_sim_run(world->sim, duration) == TROUPE_OK, "no memory");
}

/* ---- questions -------------------------------------------------------------------------------- */

static bool world_sees_all_up(const world_process_t *process)
{
    for (size_t i = 0; i < trp_cluster_core_len(process->core); i++) {
        const trp_member_t *member = trp_cluster_core_at(process->core, i);
        if (member->state != TROUPE_MEMBER_UP || member->reach != TRP_REACHABLE ||
            !trp_cluster_core_is_settled(process->core, member->uid)) {
            return false;
        }
    }
    return true;
}

bool world_is_whole(void *user)
{
    world_t *world = user;
    const world_process_t *first = NULL;
    size_t running = 0;
    for (size_t i = 0; i < world->options.len; i++) {
        world_process_t *process = &world->processes[i];
        if (process->core == NULL) {
            continue;
        }
        running++;
        if (!trp_cluster_core_is_member(process->core) ||
            trp_cluster_core_len(process->core) != world->expected || !world_sees_all_up(process)) {
            return false;
        }
        first = first == NULL ? process : first;
        if (trp_cluster_core_cluster(process->core) != trp_cluster_core_cluster(first->core) ||
            trp_cluster_core_digest(process->core) != trp_cluster_core_digest(first->core) ||
            trp_cluster_core_leader(process->core) != trp_cluster_core_leader(first->core) ||
            trp_cluster_core_oldest(process->core) != trp_cluster_core_oldest(first->core)) {
            return false;
        }
    }
    return running == world->expected;
}

bool world_settle(world_t *world, size_t expected, uint64_t limit)
{
    world->expected = expected;
    bool is_whole = trp_sim_run_until(world->sim, limit, 20 * WORLD_MS, world_is_whole);
    if (!is_whole) {
        (void)printf("\nnot whole: seed %" PRIu64 ", %zu expected, at %.3f s\n",
                     world->options.seed, expected, (double)trp_sim_now(world->sim) / 1e9 - 3600);
        world_print(world);
    }
    return is_whole;
}

size_t world_running(const world_t *world)
{
    size_t len = 0;
    for (size_t i = 0; i < world->options.len; i++) {
        len += world->processes[i].core != NULL ? 1 : 0;
    }
    return len;
}

size_t world_clusters(const world_t *world)
{
    uint64_t seen[64];
    size_t len = 0;
    for (size_t i = 0; i < world->options.len; i++) {
        const world_process_t *process = &world->processes[i];
        /* Who was welcomed but has no settled set yet is waiting, not a cluster. */
        if (process->core == NULL || !trp_cluster_core_is_member(process->core) ||
            trp_cluster_core_epoch(process->core) == 0) {
            continue;
        }
        uint64_t cluster = trp_cluster_core_cluster(process->core);
        size_t at = 0;
        while (at < len && seen[at] != cluster) {
            at++;
        }
        if (at == len && len < TRP_ARRAY_LEN(seen)) {
            seen[len] = cluster;
            len++;
        }
    }
    return len;
}

size_t world_up_in(const world_t *world, size_t first, size_t len)
{
    size_t up = 0;
    for (size_t i = first; i < first + len; i++) {
        const world_process_t *process = &world->processes[i];
        if (process->core == NULL || !trp_cluster_core_is_member(process->core)) {
            continue;
        }
        const trp_member_t *self = trp_cluster_core_find(process->core, process->uid);
        up += self != NULL && self->state == TROUPE_MEMBER_UP ? 1 : 0;
    }
    return up;
}

const trp_member_t *world_member(const world_t *world, size_t viewer, size_t about)
{
    const world_process_t *process = &world->processes[viewer];
    if (process->core == NULL) {
        return NULL;
    }
    uint64_t uid = world->processes[about].uid;
    return trp_cluster_core_find(process->core, uid == 0 ? world->processes[about].last_uid : uid);
}

void world_print(const world_t *world)
{
    for (size_t i = 0; i < world->options.len; i++) {
        const world_process_t *process = &world->processes[i];
        if (process->core == NULL) {
            (void)printf("  %3zu: off%s\n", i, process->has_left ? " (left)" : "");
            continue;
        }
        const trp_member_t *self = trp_cluster_core_find(process->core, process->uid);
        (void)printf(
            "  %3zu: cluster %016" PRIx64 " %s, %zu members, epoch %" PRIu64
            " of %zu, digest %016" PRIx64 " health %" PRIu32 ":",
            i, trp_cluster_core_cluster(process->core), troupe_member_state_name(self->state),
            trp_cluster_core_len(process->core), trp_cluster_core_epoch(process->core),
            trp_cluster_core_settled_len(process->core), trp_cluster_core_digest(process->core),
            trp_cluster_core_health(process->core));
        for (size_t m = 0; m < trp_cluster_core_len(process->core) && i < 12; m++) {
            const trp_member_t *member = trp_cluster_core_at(process->core, m);
            if (member->state != TROUPE_MEMBER_UP || member->reach != TRP_REACHABLE) {
                (void)printf(" %.9s=%s%s", member->identity->address,
                             troupe_member_state_name(member->state),
                             member->reach == TRP_REACHABLE
                                 ? ""
                                 : (member->reach == TRP_SUSPECT ? "?" : "!"));
            }
        }
        (void)printf("\n");
    }
}
