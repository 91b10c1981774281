/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* Links for tests: with a record of their events and of what a test service has received. */

#ifndef TROUPE_TESTS_LINK_PAIR_H
#define TROUPE_TESTS_LINK_PAIR_H

#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "net/link/link.h"
#include "support/check.h"

#define PAIR_WAIT_MS 10000u

typedef struct pair_end {
    trp_link_t *link;
    trp_link_options_t options;
    _Atomic uint32_t events[TRP_LINK_EVENT_DIALLED + 1]; /* Counts by kind. */
    _Atomic uint64_t last_uid;                           /* Of the last UP. */
    _Atomic int last_reason;                             /* Of the last REFUSED or FAILED. */
    _Atomic bool last_by_us;
    _Atomic uint64_t received; /* Messages of the test service. */
    _Atomic uint64_t received_uid;
    _Atomic uint64_t received_sum; /* Of the first words. */
} pair_end_t;

static void pair_on_event(void *context, trp_dispatcher_t *d, const trp_link_event_t *event)
{
    (void)d;
    pair_end_t *end = context;
    if (event->kind == TRP_LINK_EVENT_UP) {
        atomic_store(&end->last_uid, event->uid);
    }
    if (event->kind == TRP_LINK_EVENT_REFUSED || event->kind == TRP_LINK_EVENT_FAILED) {
        atomic_store(&end->last_reason, (int)event->reason);
        atomic_store(&end->last_by_us, event->by_us);
    }
    if (getenv("TROUPE_TEST_VERBOSE") != NULL) {
        printf("  event %d uid=%llx reason=%s address=%s text=%s by_us=%d\n", (int)event->kind,
               (unsigned long long)event->uid, troupe_err_name(event->reason), event->address,
               event->text, event->by_us);
    }
    atomic_fetch_add(&end->events[event->kind], 1);
}

static void pair_on_service(void *context, trp_dispatcher_t *d, uint64_t uid, trp_view_t data)
{
    (void)d;
    pair_end_t *end = context;
    if (data.size >= sizeof(uint64_t)) {
        atomic_fetch_add(&end->received_sum, trp_load_le64(data.data));
    }
    atomic_store(&end->received_uid, uid);
    atomic_fetch_add(&end->received, 1);
}

/* Options of an end that listens on a free port. */
static void pair_prepare(pair_end_t *end, uint64_t uid)
{
    memset(end, 0, sizeof(*end));
    end->options = (trp_link_options_t)TRP_LINK_OPTIONS_INIT;
    end->options.uid = uid;
    end->options.cluster = "test";
    end->options.name = "node";
    end->options.listen = "127.0.0.1:0";
}

static troupe_err_t pair_start(pair_end_t *end)
{
    troupe_err_t err = trp_link_create(&end->options, &end->link);
    if (err != TROUPE_OK) {
        return err;
    }
    CHECK_OK(trp_link_listen(end->link, TRP_LINK_ON_LINK_THREAD, pair_on_event, end));
    CHECK_OK(trp_link_service_register(end->link, TRP_SERVICE_TEST, TRP_LINK_ON_LINK_THREAD,
                                       pair_on_service, end));
    return trp_link_start(end->link);
}

static inline void pair_open(pair_end_t *end, uint64_t uid)
{
    pair_prepare(end, uid);
    REQUIRE_OK(pair_start(end));
}

static inline uint32_t pair_events(pair_end_t *end, trp_link_event_kind_t kind)
{
    return atomic_load(&end->events[kind]);
}

static inline trp_link_state_t pair_state(pair_end_t *end, uint64_t uid)
{
    trp_link_peer_info_t info;
    return trp_link_peer(end->link, uid, &info) == TROUPE_OK ? info.state : (trp_link_state_t)0;
}

static inline bool pair_is_up(pair_end_t *end, uint64_t uid)
{
    return pair_state(end, uid) == TRP_LINK_UP;
}

static inline troupe_err_t pair_send(pair_end_t *end, uint64_t uid, uint64_t value)
{
    uint8_t bytes[8];
    trp_store_le64(bytes, value);
    return trp_link_control_send(end->link, uid, TRP_SERVICE_TEST, bytes, sizeof(bytes));
}

#endif
