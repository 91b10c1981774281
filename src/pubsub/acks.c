/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* Wishes to be told when a change is in effect. */

#include "pubsub/acks.h"

#include <string.h>

#include "base/assert.h"
#include "base/memory.h"

typedef struct acks_entry {
    trp_node_link_t link;
    uint64_t sequence; /* Given out last when the wish was entered. */
    trp_ack_wish_t wish;
} acks_entry_t;

void trp_acks_init(trp_acks_t *acks, const trp_acks_sink_t *sink)
{
    memset(acks, 0, sizeof(*acks));
    acks->sink = *sink;
    trp_list_init(&acks->near);
    trp_list_init(&acks->cluster);
}

static acks_entry_t *acks_entry(trp_node_link_t *link)
{
    return link != NULL ? TRP_CONTAINER_OF(link, acks_entry_t, link) : NULL;
}

static void acks_free_all(trp_list_t *list)
{
    acks_entry_t *entry = NULL;
    while ((entry = acks_entry(trp_list_pop_front(list))) != NULL) {
        trp_free(entry);
    }
}

void trp_acks_fini(trp_acks_t *acks)
{
    acks_free_all(&acks->near);
    acks_free_all(&acks->cluster);
    acks->len = 0;
}

/* The number up to which no dispatcher owes an answer. */
static uint64_t acks_settled(const trp_acks_t *acks)
{
    uint64_t settled = acks->sequence;
    for (uint32_t i = 0; i < TRP_REPLICAS_MAX; i++) {
        if (acks->applied[i] >= acks->told[i]) {
            continue;
        }
        uint64_t has = acks->owed[i] - 1 > acks->applied[i] ? acks->owed[i] - 1 : acks->applied[i];
        settled = has < settled ? has : settled;
    }
    return settled;
}

static void acks_done(trp_acks_t *acks, const trp_ack_wish_t *wish)
{
    trp_ack_t ack;
    memset(&ack, 0, sizeof(ack));
    ack.wish = *wish;
    acks->sink.done(acks->sink.context, &ack);
}

/* Ends a cluster-wide wish when all have it or its time is over. */
static bool acks_try_cluster(trp_acks_t *acks, const trp_ack_wish_t *wish, uint64_t now)
{
    trp_ack_t ack;
    memset(&ack, 0, sizeof(ack));
    ack.wish = *wish;
    ack.nodes = acks->sink.count(acks->sink.context, wish->version, ack.missing,
                                 TROUPE_PUBSUB_MISSING_MAX, &ack.missing_len);
    if (ack.missing_len > 0 && now < wish->deadline) {
        return false;
    }
    if (ack.missing_len > 0) {
        ack.wish.error = TROUPE_ETIMEOUT;
    }
    acks->sink.done(acks->sink.context, &ack);
    return true;
}

/* This node has it. */
static void acks_near_done(trp_acks_t *acks, acks_entry_t *entry)
{
    if (entry->wish.kind == TRP_ACK_CLUSTER && !acks_try_cluster(acks, &entry->wish, 0)) {
        trp_list_push_back(&acks->cluster, &entry->link);
        return;
    }
    if (entry->wish.kind != TRP_ACK_CLUSTER) {
        acks_done(acks, &entry->wish);
    }
    acks->len--;
    trp_free(entry);
}

static void acks_settle(trp_acks_t *acks)
{
    uint64_t settled = acks_settled(acks);
    acks_entry_t *entry = acks_entry(trp_list_first(&acks->near));
    while (entry != NULL && entry->sequence <= settled) {
        trp_list_remove(&entry->link);
        acks_near_done(acks, entry);
        entry = acks_entry(trp_list_first(&acks->near));
    }
}

void trp_acks_applied(trp_acks_t *acks, uint32_t replica, uint64_t sequence)
{
    TRP_ASSERT(replica < TRP_REPLICAS_MAX);
    TRP_ASSERT(sequence <= acks->sequence);
    if (sequence > acks->applied[replica]) {
        acks->applied[replica] = sequence;
        acks_settle(acks);
    }
}

void trp_acks_add(trp_acks_t *acks, const trp_ack_wish_t *wish)
{
    acks_entry_t *entry = wish->error == TROUPE_OK ? trp_alloc(sizeof(*entry)) : NULL;
    if (entry == NULL) {
        trp_ack_wish_t failed = *wish;
        failed.error = wish->error == TROUPE_OK ? TROUPE_ENOMEM : wish->error;
        if (wish->kind != TRP_ACK_PEER) {
            acks_done(acks, &failed);
        }
        return;
    }
    trp_list_link_init(&entry->link);
    entry->sequence = acks->sequence;
    entry->wish = *wish;
    trp_list_push_back(&acks->near, &entry->link);
    acks->len++;
    acks_settle(acks);
}

void trp_acks_check(trp_acks_t *acks, uint64_t now)
{
    TRP_LIST_FOREACH_SAFE (link, &acks->cluster) {
        acks_entry_t *entry = acks_entry(link);
        if (acks_try_cluster(acks, &entry->wish, now)) {
            trp_list_remove(&entry->link);
            acks->len--;
            trp_free(entry);
        }
    }
}
