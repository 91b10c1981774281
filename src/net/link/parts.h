/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* The parts that a link is made of: its sockets and connections, frames that have come, and what other
 * threads ask of it. Private to the room.
 *
 * Thread rule: the link thread, unless a field says otherwise. */

#ifndef TROUPE_LINK_PARTS_H
#define TROUPE_LINK_PARTS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include <zmq.h>

#include "net/link/handover.h"
#include "net/link/key.h"
#include "net/link/link.h"
#include "net/link/peer.h"

/* ---- sockets --------------------------------------------------------------------------------- */

/* What the link thread waits for. */
typedef enum trp_watch_kind {
    TRP_WATCH_WAKER,
    TRP_WATCH_ROUTER,
    TRP_WATCH_LISTENER, /* The ROUTER's monitor. */
    TRP_WATCH_ZAP,
    TRP_WATCH_MONITOR, /* A DEALER's monitor. */
    TRP_WATCH_REPLY,   /* A DEALER on which a refusal may come. */
} trp_watch_kind_t;

typedef struct trp_socket trp_socket_t;

typedef struct trp_watch {
    trp_watch_kind_t kind;
    trp_socket_t *socket;
} trp_watch_t;

/* A DEALER to one lane of a peer, with its monitor. */
struct trp_socket {
    void *dealer; /* NULL: not open. */
    void *monitor;
    trp_conn_t *conn; /* Whose it is. */
    trp_watch_t monitor_watch;
    trp_watch_t reply_watch;
    uint8_t lane;
};

/* The connections that this node has made to a peer, a DEALER a lane. The control lane's comes first and
 * does the handshake; the others follow when they are needed. */
struct trp_conn {
    trp_node_link_t link; /* In conns or in graveyard. */
    trp_socket_t lanes[TRP_LANE_LEN];
    char address[TRP_LINK_ADDRESS_SIZE_MAX + 1];
    uint64_t nonce;
    uint64_t expect;
    uint64_t answered;         /* The peer's nonce that was echoed on it; 0: none yet. */
    uint64_t generation;       /* As it was said with the echo. */
    trp_peer_t *peer;          /* NULL until it is known. Reference. */
    trp_dial_t *dial;          /* Whose attempt it is; NULL: it answers the peer's. */
    trp_link_key_t server_key; /* With CURVE: the key expected there. */
    trp_timer_t deadline;
    bool is_session; /* The present session stands on it. */
    bool is_closed;
};

/* A connection that a peer has made to this node, by the routing id that the ROUTER gave it. */
#define TRP_ROUTING_ID_SIZE_MAX 16u
typedef struct trp_in {
    trp_table_entry_t entry; /* By routing id. */
    trp_node_link_t link;    /* In the order they came. */
    uint8_t routing_id[TRP_ROUTING_ID_SIZE_MAX];
    uint8_t routing_id_size;
    uint8_t lane;
    trp_peer_t *peer; /* Reference. */
    uint64_t nonce;   /* Of the peer's control connection that it belongs to. */
    uint64_t session; /* Id of its session; 0: not proved yet. */
    uint64_t since_ns;
    char user_id[TRP_LINK_KEY_SIZE + 1]; /* The peer's public key, with CURVE. */
} trp_in_t;

/* ---- received frames ------------------------------------------------------------------------- */

/* A frame that dispatchers share. The last to drop it gives it back to the link thread. */
typedef struct trp_received {
    trp_item_t item;
    _Atomic uint32_t refs;
    trp_link_t *link;
    trp_peer_t *peer;    /* Reference. */
    uint64_t session_id; /* On which credit for it is given. */
    uint32_t size;
    uint32_t first; /* The dispatcher that counts what is nobody's. */
    uint8_t *data;
    zmq_msg_t message;
    struct trp_received *next_free;
} trp_received_t;

/* ---- other threads' wishes ------------------------------------------------------------------- */

typedef enum trp_command_kind {
    TRP_COMMAND_DIAL,
    TRP_COMMAND_HANGUP,
    TRP_COMMAND_FORGET,
    TRP_COMMAND_COUNT, /* In flight; the caller waits. */
} trp_command_kind_t;

typedef struct trp_command {
    trp_item_t item;
    trp_command_kind_t kind;
    uint64_t uid;
    char address[TRP_LINK_ADDRESS_SIZE_MAX + 1];
    uint64_t user; /* Answer of COUNT. */
    uint64_t system;
    bool is_done;      /* Under the link's wait_mutex. */
    bool is_abandoned; /* The caller waits no longer: the link thread frees it. */
} trp_command_t;

typedef struct trp_service_out {
    trp_item_t item;
    trp_peer_t *peer; /* Reference. */
    uint32_t size;    /* Of the data, which is a whole frame. */
    uint8_t data[];
} trp_service_out_t;

#endif
