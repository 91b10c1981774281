/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* Publishes across a link: names that become numbers, routes, tokens, order with tells. */

#include "actor/cell.h"
#include "actor/dispatcher.h"
#include "scene.h"

#define UID_A UINT64_C(0xa1a1a1a1a1)
#define UID_B UINT64_C(0xb2b2b2b2b2)
#define TOPIC_LEN 1000u

/* What the receiving room has seen. */
typedef struct topic_room {
    _Atomic uint64_t defined;
    _Atomic uint64_t undefined;
    _Atomic uint64_t received; /* Envelopes, counted by their first dispatcher. */
    _Atomic uint64_t dropped;
    _Atomic uint64_t disorder;
    _Atomic uint64_t next;
    _Atomic uint64_t bytes;
    _Atomic uint64_t tokens;
    _Atomic uint32_t route;
    _Atomic uint32_t group;
    _Atomic uint32_t dispatcher;
} topic_room_t;

static uint32_t room_define(void *context, uint64_t uid, uint8_t space, trp_view_t name)
{
    topic_room_t *room = context;
    CHECK_EQ_U64(uid, UID_A);
    atomic_fetch_add(&room->defined, 1);
    if (trp_view_equal_string(name, "news")) {
        CHECK_EQ_U64(space, 3);
        return 700;
    }
    return trp_view_equal_string(name, "workers") ? 800 : 0;
}

static void room_undefine(void *context, uint64_t uid, uint32_t id)
{
    (void)uid;
    (void)id;
    topic_room_t *room = context;
    atomic_fetch_add(&room->undefined, 1);
}

static void room_mask(void *context, uint32_t topic, uint32_t group, uint8_t route,
                      uint64_t ret_mask[TRP_LINK_MASK_WORDS])
{
    (void)context;
    (void)group;
    (void)route;
    CHECK_EQ_U64(topic, 700);
    ret_mask[0] = 2;
}

static void room_deliver(void *context, trp_dispatcher_t *d, const trp_link_topic_in_t *in)
{
    topic_room_t *room = context;
    CHECK_EQ_U64(in->uid, UID_A);
    CHECK_EQ_U64(in->topic, 700);
    if (in->is_first) {
        d->user.received++;
        d->user.taken++;
    }
    if (in->is_dropped) {
        atomic_fetch_add(&room->dropped, 1);
        return;
    }
    uint64_t number = trp_load_le64(in->body.data);
    if (number != atomic_load(&room->next)) {
        atomic_fetch_add(&room->disorder, 1);
    }
    atomic_store(&room->next, number + 1);
    atomic_fetch_add(&room->bytes, in->body.size);
    atomic_fetch_add(&room->tokens, in->has_token ? in->token : 0);
    atomic_store(&room->route, in->route);
    atomic_store(&room->group, in->group);
    atomic_store(&room->dispatcher, d->index);
    atomic_fetch_add(&room->received, 1);
}

/* What the sending actor publishes. */
typedef struct topic_plan {
    trp_link_t *link;
    uint64_t first;
    uint64_t len;
    size_t size;
    const char *topic;
    const char *group; /* NULL: none. */
    uint16_t type;
} topic_plan_t;

static troupe_err_t act_publish(troupe_actor_t *self, probe_t *probe, void *argument)
{
    (void)probe;
    const topic_plan_t *plan = argument;
    uint8_t *body = trp_calloc(1, plan->size);
    if (body == NULL) {
        return TROUPE_ENOMEM;
    }
    trp_link_publish_t publish = {
        .topic = {11, 1, 3, trp_view_from_string(plan->topic)},
        .route = 9,
        .has_token = true,
        .token = 2,
        .body = {.sender = troupe_self(self), .data = body, .size = plan->size, .type = plan->type},
    };
    if (plan->group != NULL) {
        publish.group = (trp_link_name_t){12, 1, 2, trp_view_from_string(plan->group)};
    }
    for (uint64_t i = 0; i < plan->len; i++) {
        trp_store_le64(body, plan->first + i);
        trp_remote_verdict_t verdict =
            trp_link_publish(plan->link, self->dispatcher, UID_B, &publish);
        CHECK_TRUE(verdict.is_sent);
        self->dispatcher->user.made++;
    }
    trp_free(body);
    return TROUPE_OK;
}

typedef struct topic_stage {
    scene_t a, b;
    topic_room_t room;
    probe_t publisher;
    troupe_ref_t from;
} topic_stage_t;

static void topic_open(topic_stage_t *stage, bool has_hooks)
{
    memset(stage, 0, sizeof(*stage));
    scene_open(&stage->a, UID_A);
    scene_prepare(&stage->b, UID_B);
    const trp_link_topic_hooks_t hooks = {&stage->room, room_define, room_undefine, room_mask,
                                          room_deliver};
    stage->b.hooks = has_hooks ? &hooks : NULL;
    scene_start(&stage->b);
    scene_connect(&stage->a, &stage->b, NULL);
    stage->from = stage_puppet_at(&stage->a.stage, &stage->publisher, 0);
}

static void topic_close(topic_stage_t *stage)
{
    STAGE_QUIET(&stage->a.stage);
    STAGE_QUIET(&stage->b.stage);
    scene_close(&stage->a);
    scene_close(&stage->b);
}

static void a_topics_name_crosses_once(void)
{
    static topic_stage_t stage;
    topic_open(&stage, true);
    topic_plan_t plan = {stage.a.end.link, 0, TOPIC_LEN, 32, "news", "workers", 1};
    CHECK_OK(stage_do(&stage.a.stage, stage.from, act_publish, &plan));
    CHECK_EVENTUALLY(atomic_load(&stage.room.received) == TOPIC_LEN, PAIR_WAIT_MS);
    CHECK_EQ_U64(atomic_load(&stage.room.defined), 2);
    CHECK_EQ_U64(atomic_load(&stage.room.disorder), 0);
    CHECK_EQ_U64(atomic_load(&stage.room.tokens), 2 * TOPIC_LEN);
    CHECK_EQ_U64(atomic_load(&stage.room.route), 9);
    CHECK_EQ_U64(atomic_load(&stage.room.group), 800);
    CHECK_EQ_U64(atomic_load(&stage.room.dispatcher), 1);
    topic_close(&stage);
    CHECK_EQ_U64(atomic_load(&stage.room.undefined), 2);
}

static void large_publishes_keep_their_place(void)
{
    static topic_stage_t stage;
    topic_open(&stage, true);
    troupe_type_t type = scene_type(&stage.a, "large", 1u << 20);
    (void)scene_type(&stage.b, "large", 1u << 20);
    uint64_t bytes = 0;
    topic_plan_t plans[9];
    for (uint32_t i = 0; i < 9; i++) {
        plans[i] =
            (topic_plan_t){stage.a.end.link, i, 1, i % 3 == 0 ? 300000 : 40, "news", NULL, type.id};
        bytes += plans[i].size;
        CHECK_OK(stage_do(&stage.a.stage, stage.from, act_publish, &plans[i]));
    }
    CHECK_EVENTUALLY(atomic_load(&stage.room.received) == 9, PAIR_WAIT_MS);
    CHECK_EQ_U64(atomic_load(&stage.room.disorder), 0);
    CHECK_EQ_U64(atomic_load(&stage.room.bytes), bytes);
    topic_close(&stage);
}

static void a_publish_nobody_knows_is_counted(void)
{
    static topic_stage_t stage;
    topic_open(&stage, true);
    topic_plan_t unknown = {stage.a.end.link, 0, 3, 32, "other", NULL, 1};
    CHECK_OK(stage_do(&stage.a.stage, stage.from, act_publish, &unknown));
    CHECK_EVENTUALLY(scene_dropped(&stage.b, TROUPE_DROP_NO_SUBSCRIBER) == 3, PAIR_WAIT_MS);
    topic_close(&stage);
}

static void a_node_without_topics_counts_publishes_as_dropped(void)
{
    static topic_stage_t stage;
    topic_open(&stage, false);
    topic_plan_t plan = {stage.a.end.link, 0, 3, 32, "news", NULL, 1};
    CHECK_OK(stage_do(&stage.a.stage, stage.from, act_publish, &plan));
    CHECK_EVENTUALLY(scene_dropped(&stage.b, TROUPE_DROP_NO_SUBSCRIBER) == 3, PAIR_WAIT_MS);
    topic_close(&stage);
}

static void a_publish_of_an_unknown_type_tells_the_room(void)
{
    static topic_stage_t stage;
    topic_open(&stage, true);
    troupe_type_t type = scene_type(&stage.a, "lonely", 1024);
    topic_plan_t plan = {stage.a.end.link, 0, 3, 32, "news", NULL, type.id};
    CHECK_OK(stage_do(&stage.a.stage, stage.from, act_publish, &plan));
    CHECK_EVENTUALLY(atomic_load(&stage.room.dropped) == 3, PAIR_WAIT_MS);
    topic_close(&stage);
}

static const check_case_t cases[] = {
    CHECK_CASE(a_topics_name_crosses_once),
    CHECK_CASE(large_publishes_keep_their_place),
    CHECK_CASE(a_publish_nobody_knows_is_counted),
    CHECK_CASE(a_node_without_topics_counts_publishes_as_dropped),
    CHECK_CASE(a_publish_of_an_unknown_type_tells_the_room),
};

CHECK_MAIN("link.topic", cases)
