/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* The link room's bounds and tunables in one place, each with its unit and reason. */

#ifndef TROUPE_LINK_LIMITS_H
#define TROUPE_LINK_LIMITS_H

/* ---- what crosses the wire ------------------------------------------------------------------- */

/* The largest body in the ordinary lane; larger ones go through the bulk lane in chunks. */
#define TRP_LINK_ORDINARY_SIZE_MAX (64u * 1024u)
/* Bytes of a batch at which a dispatcher hands it over: measured best between 16 and 64 KiB. */
#define TRP_LINK_BATCH_SIZE (32u * 1024u)
/* A batch that is smaller at the end of a round waits one round more while the link thread is busy. */
#define TRP_LINK_BATCH_SMALL (8u * 1024u)
/* Room of a frame: a batch that is just below its mark and the largest envelope. */
#define TRP_LINK_FRAME_SIZE_MAX (104u * 1024u)
/* One chunk of a bulk body: large enough to cost little, small enough not to delay other lanes. */
#define TRP_LINK_CHUNK_SIZE (64u * 1024u)
/* The largest message of a control service. */
#define TRP_LINK_SERVICE_SIZE_MAX (1024u * 1024u)
/* What a peer may send as one ZeroMQ message (service message, frame or chunk, with headers). */
#define TRP_LINK_MESSAGE_SIZE_MAX (TRP_LINK_SERVICE_SIZE_MAX + 1024u)
/* A handshake with all its sections. */
#define TRP_LINK_HELLO_SIZE_MAX (64u * 1024u)

/* ---- strings --------------------------------------------------------------------------------- */

#define TRP_LINK_CLUSTER_SIZE_MAX 64u
#define TRP_LINK_NAME_SIZE_MAX 255u
#define TRP_LINK_ADDRESS_SIZE_MAX 300u
#define TRP_LINK_TEXT_SIZE_MAX 200u        /* Reason of a refusal. */
#define TRP_LINK_TOPIC_NAME_SIZE_MAX 2048u /* A topic, group or path that gets a number. */
#define TRP_LINK_SECTIONS_MAX 8u
#define TRP_LINK_SECTION_SIZE_MAX (16u * 1024u)
#define TRP_LINK_SERVICES_MAX 64u

/* ---- tables ---------------------------------------------------------------------------------- */

#define TRP_LINK_TYPES_MAX 4096u      /* Type numbers of a peer. */
#define TRP_LINK_NAMES_MAX (1u << 23) /* Topic numbers of a peer. */
#define TRP_LINK_PEERS_MAX 4096u
#define TRP_LINK_DIALS_MAX 4096u
#define TRP_LINK_DEAD_MAX 1024u     /* Uids remembered as gone for good. */
#define TRP_LINK_INBOUND_MAX 16384u /* Connections of peers that are told apart. */
#define TRP_LINK_PENDING_MAX 512u   /* Of these, not yet bound to a session. */

/* ---- credit and queues ----------------------------------------------------------------------- */

/* Bytes of frames that may be at a peer unreleased: enough for 1 ms at 1 GB/s, small enough to stay in
 * a second-level cache. Threads that have to wait for a processor want more, but caches less. */
#define TRP_LINK_WINDOW (2048u * 1024u)
/* Bytes of bulk chunks under way to a peer. */
#define TRP_LINK_BULK_WINDOW (1024u * 1024u)
/* Bytes a stalled peer's queue may hold; more is dropped as "link queue full". */
#define TRP_LINK_QUEUE_SIZE_MAX (16u * 1024u * 1024u)
/* Bulk bodies queued for one peer at which its senders are parked, and at which more is dropped. */
#define TRP_LINK_BULK_QUEUE_MARK (64u * 1024u * 1024u)
#define TRP_LINK_BULK_QUEUE_MAX (512u * 1024u * 1024u)
/* Bulk bodies being put together on a node, and mail held back behind them. */
#define TRP_LINK_REASSEMBLY_SIZE_MAX ((size_t)512 * 1024 * 1024)
#define TRP_LINK_BULK_OPEN_MAX 1024u /* Bulk bodies of one peer being put together. */
/* Service messages waiting for one peer's control lane. */
#define TRP_LINK_CONTROL_QUEUE_MAX (16u * 1024u * 1024u)

/* ---- times ----------------------------------------------------------------------------------- */

#define TRP_LINK_ACK_MS 50u
#define TRP_LINK_STALL_MS 2000u
#define TRP_LINK_HANDSHAKE_MS 3000u
#define TRP_LINK_PING_MS 1000u
#define TRP_LINK_SILENT_MS 20000u /* Nothing from a peer for so long ends the session. */
#define TRP_LINK_BACKOFF_MIN_MS 50u
#define TRP_LINK_BACKOFF_MAX_MS 5000u
#define TRP_LINK_FLUSH_MS 1000u /* Stop waits so long for what is queued. */

#endif
