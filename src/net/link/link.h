/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* Links to other nodes: what the rooms above see of them.
 *
 *     dispatchers --batches--> link thread --DEALER, one a lane--> peer's ROUTER
 *     dispatchers <--frames--- link thread <--ROUTER-------------- peer's DEALERs
 *
 * A link has peers by the uid of their incarnation. A peer is *up* while a session with it stands in
 * both directions; when the session is lost the link dials again, and nothing that was sent is lost or
 * doubled by that, as both sides number what they send and keep it until it is acknowledged. Only
 * trp_link_forget, or another incarnation at the peer's address, ends a peer for good: what was not
 * acknowledged by then is counted as lost.
 *
 * Thread rule: each function says so. Hooks run on the dispatcher they were registered for, or on the
 * link's own thread (then `d` is NULL, and they must not block). */

#ifndef TROUPE_LINK_LINK_H
#define TROUPE_LINK_LINK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <troupe/error.h>
#include <troupe/stats.h>

#include "base/buf.h"
#include "base/log.h"
#include "base/view.h"
#include "net/link/event.h"
#include "net/link/key.h"
#include "net/link/topic.h"

typedef struct trp_link trp_link_t;
typedef struct trp_runtime trp_runtime_t;
typedef struct trp_dispatcher trp_dispatcher_t;

/* ---- life ------------------------------------------------------------------------------------ */

/* A peer that may connect. */
typedef struct trp_link_allow {
    trp_link_key_t public_key;
    const char *address; /* Where it listens ("host:port"); NULL: not known beforehand. */
} trp_link_allow_t;

typedef struct trp_link_options {
    size_t size;            /* sizeof(trp_link_options_t) */
    trp_runtime_t *runtime; /* Borrowed. NULL: no actors, only control services. */
    trp_log_t *log;         /* Borrowed; may be NULL. */
    uint64_t uid;           /* This incarnation's; not 0. */
    const char *cluster;    /* Peers of another cluster are refused. */
    const char *name;       /* The node's, for people. */
    const char *listen;     /* "host:port"; port 0: any free one. */
    const char *advertise;  /* Where peers reach it; NULL: `listen` with the port that was bound. */
    const trp_link_key_t *public_key; /* Both, or neither: CURVE is on with them. */
    const trp_link_key_t *secret_key;
    const trp_link_allow_t *allow; /* Whose keys are let in. */
    size_t allow_len;
    bool insecure_ok;         /* Listens beyond loopback without CURVE. */
    uint32_t window;          /* Bytes; 0: TRP_LINK_WINDOW. */
    uint32_t queue_size_max;  /* Bytes; 0: TRP_LINK_QUEUE_SIZE_MAX. */
    uint32_t stall_ms;        /* 0: TRP_LINK_STALL_MS. */
    uint32_t connections_max; /* Inbound; 0: by the descriptor limit. */
    uint32_t version;         /* Protocol version to claim; 0: ours. For tests. */
    uint32_t version_min;     /* Oldest to accept; 0: ours. For tests. */
} trp_link_options_t;

#define TRP_LINK_OPTIONS_INIT                                                                      \
    {                                                                                              \
        .size = sizeof(trp_link_options_t)                                                         \
    }

/* Makes a link that is not yet running and, with a runtime, registers itself as its remote port, so
 * before the dispatchers start. EINVAL, ENOMEM. */
troupe_err_t trp_link_create(const trp_link_options_t *options, trp_link_t **ret_link);

/* Stops it first when it runs. After the dispatchers have ended. NULL is fine. */
void trp_link_destroy(trp_link_t **link_p);

/* Binds and starts the thread. EADDRINUSE; EPERM: beyond loopback without CURVE; EINVAL: no such
 * address; ESYSTEM; ENOMEM. With a runtime: after its dispatchers have started. */
troupe_err_t trp_link_start(trp_link_t *link);

/* Hands out what is queued (bounded in time), says good-bye and joins the thread. While the
 * dispatchers still run; sending afterwards drops as "node unreachable". Any thread but a dispatcher's. */
void trp_link_stop(trp_link_t *link);

/* "host:port" under which peers reach it. After start. Valid as long as the link. */
const char *trp_link_address(const trp_link_t *link);
/* "host:port" at which it listens. After start. Valid as long as the link. */
const char *trp_link_bound(const trp_link_t *link);

/* ---- peers: any thread ----------------------------------------------------------------------- */

/* Keeps a session with whoever listens at "host:port", trying again with jittered back-off. `uid` is
 * the incarnation expected there, and makes it known at once, so that messages to it wait; 0 takes
 * whoever answers. Dialling twice is dialling once. EINVAL, EFULL, ENOMEM. */
troupe_err_t trp_link_dial(trp_link_t *link, const char *address, uint64_t uid);

/* Stops dialling that address. A session that stands is kept. */
void trp_link_hangup(trp_link_t *link, const char *address);

/* Ends an incarnation for good: its session is closed, it is not let in again, and what waits for it
 * is dropped as `node unreachable`. */
void trp_link_forget(trp_link_t *link, uint64_t uid);

typedef enum trp_link_state {
    TRP_LINK_CONNECTING = 1, /* Known, never was up. */
    TRP_LINK_UP,
    TRP_LINK_LOST, /* Was up; being dialled again. */
    TRP_LINK_DEAD, /* Gone for good. */
} trp_link_state_t;

typedef struct trp_link_peer_info {
    uint64_t uid;
    trp_link_state_t state;
    char name[256];
    char address[304];
    bool is_stalled;
    uint64_t bytes_out, frames_out, messages_out;
    uint64_t bytes_in, frames_in, messages_in;
    uint64_t queue_bytes;   /* Accepted and not yet released by the peer. */
    uint64_t credit_bytes;  /* What may be sent before the peer must release something. */
    uint64_t rtt_ns;        /* Of the last ping; 0 before the first. */
    uint64_t sessions;      /* That were up, ever. */
    uint64_t unknown_types; /* Messages refused because their type isn't known here. */
    uint64_t queue_full;    /* Messages dropped for want of room. */
    uint64_t protocol_errors;
} trp_link_peer_info_t;

/* Copies up to `capacity` peers; returns how many there are. */
size_t trp_link_peers(trp_link_t *link, trp_link_peer_info_t *ret_infos, size_t capacity);
/* ENODE when the uid isn't known. */
troupe_err_t trp_link_peer(trp_link_t *link, uint64_t uid, trp_link_peer_info_t *ret_info);

/* ---- events ---------------------------------------------------------------------------------- */

#define TRP_LINK_ON_LINK_THREAD UINT32_MAX

/* Adds a listener for events; before start. EFULL past 8. */
troupe_err_t trp_link_listen(trp_link_t *link, uint32_t dispatcher_index, trp_link_event_fn fn,
                             void *context);

/* ---- handshake sections ---------------------------------------------------------------------- */

/* Writes this node's part of the handshake (msgpack by custom; nothing written: left out). Runs on the
 * link thread. */
typedef troupe_err_t (*trp_link_section_get_fn)(void *context, trp_buf_t *out);
/* Judges the peer's part, empty when it has none. An error refuses the peer with that reason and the
 * text (zero-terminated). Runs on the link thread. */
typedef troupe_err_t (*trp_link_section_check_fn)(void *context, uint64_t uid, trp_view_t section,
                                                  char *text, size_t text_size);

typedef struct trp_link_section {
    const char *name; /* Static. */
    trp_link_section_get_fn get;
    trp_link_section_check_fn check; /* May be NULL. */
    void *context;
} trp_link_section_t;

/* Before start. EFULL, EEXIST. */
troupe_err_t trp_link_add_section(trp_link_t *link, const trp_link_section_t *section);

/* ---- control services ------------------------------------------------------------------------ */

/* A message of a service has come; `uid` is who sent it, proved by the link. Data is borrowed. */
typedef void (*trp_link_service_fn)(void *context, trp_dispatcher_t *d, uint64_t uid,
                                    trp_view_t data);

/* Numbers of services, one place for all rooms. */
enum {
    TRP_SERVICE_CLUSTER = 1,
    TRP_SERVICE_PUBSUB = 2,
    TRP_SERVICE_LOOKUP = 3,
    TRP_SERVICE_NODE = 4,
    TRP_SERVICE_TEST = 63, /* Below TRP_LINK_SERVICES_MAX. */
};

/* Takes messages of a service; before start. EEXIST; EINVAL. */
troupe_err_t trp_link_service_register(trp_link_t *link, uint32_t service,
                                       uint32_t dispatcher_index, trp_link_service_fn fn,
                                       void *context);

/* Sends a message of a service on the peer's control lane; neither parks nor blocks. What is sent
 * arrives in order, unless the session is lost: then what was under way may be lost. Any thread. ENODE;
 * EUNREACHABLE: no session; ETOOBIG: above TRP_LINK_SERVICE_SIZE_MAX; EFULL; ENOMEM. */
troupe_err_t trp_link_control_send(trp_link_t *link, uint64_t uid, uint32_t service,
                                   const void *data, size_t size);

/* ---- counters -------------------------------------------------------------------------------- */

/* Adds what the link's own thread has counted (handed over, dropped) to the two flows. Any thread. */
void trp_link_count(trp_link_t *link, troupe_flow_t *user, troupe_flow_t *system);

#endif
