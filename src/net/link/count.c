/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* Counting what is in flight, by walking all places where it can be. */

#include "net/link/loop.h"
#include "net/link/outbox.h"

typedef struct count_flight {
    uint64_t user;
    uint64_t system;
} count_flight_t;

static void count_frames(const trp_stream_t *stream, count_flight_t *flight)
{
    for (const trp_frame_t *frame = stream->first; frame != NULL; frame = frame->next) {
        flight->user += frame->user_len;
        flight->system += frame->system_len;
    }
}

/* What lies in the dispatchers' open frames for a peer. */
static void count_open(trp_peer_t *peer, count_flight_t *flight)
{
    for (uint32_t i = 0; i < TRP_DISPATCHERS_MAX; i++) {
        /* Acquire: pairs with the release in outbox_add. It can't go while the mutex is held. */
        trp_out_t *out = atomic_load_explicit(&peer->outs[i], memory_order_acquire);
        if (out != NULL) {
            flight->user += atomic_load_explicit(&out->open_user, memory_order_relaxed);
            flight->system += atomic_load_explicit(&out->open_system, memory_order_relaxed);
        }
    }
}

static void count_peer(trp_peer_t *peer, void *context)
{
    count_flight_t *flight = context;
    count_frames(&peer->ordinary, flight);
    count_frames(&peer->control, flight);
    count_open(peer, flight);
}

void trp_count_in_flight(trp_link_t *link, uint64_t *ret_user, uint64_t *ret_system)
{
    (void)trp_loop_take(link); /* So that nothing lies between the places that are walked. */
    count_flight_t flight = {0, 0};
    trp_peers_visit(&link->registry, count_peer, &flight);
    *ret_user = flight.user;
    *ret_system = flight.system;
}
