/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* Bodies: objects that end once, shared and large ones, and those that don't fit. */

#include "actor/body.h"

#include <string.h>

#include "base/memory.h"
#include "support/runtime.h"

#define MIB ((size_t)1024 * 1024)

static stage_t stage;
static probe_t sender;
static probe_t sinks[2];
static troupe_ref_t sender_ref;
static troupe_ref_t sink_refs[2];
static troupe_type_t object_type;
static troupe_type_t bulk_type;

/* ---- objects --------------------------------------------------------------------------------- */

static _Atomic uint64_t objects_made;
static _Atomic uint64_t objects_freed;

typedef struct object {
    uint64_t number;
    uint64_t canary;
} object_t;

#define CANARY UINT64_C(0x0bad1deadead1dea)

static object_t *object_new(uint64_t number)
{
    object_t *object = malloc(sizeof(*object));
    REQUIRE_NOT_NULL(object);
    *object = (object_t){number, CANARY};
    atomic_fetch_add(&objects_made, 1);
    return object;
}

static void object_free(void *argument)
{
    object_t *object = argument;
    CHECK_EQ_U64(object->canary, CANARY);
    object->canary = 0;
    free(object);
    atomic_fetch_add(&objects_freed, 1);
}

static troupe_err_t object_encode(const void *argument, void *out, size_t capacity,
                                  size_t *ret_size)
{
    *ret_size = sizeof(uint64_t);
    if (capacity >= sizeof(uint64_t)) {
        memcpy(out, &((const object_t *)argument)->number, sizeof(uint64_t));
    }
    return TROUPE_OK;
}

static troupe_err_t object_decode(const void *data, size_t size, void **ret_object)
{
    (void)data;
    (void)size;
    (void)ret_object;
    return TROUPE_EBODY;
}

static troupe_err_t take_object(troupe_actor_t *self, probe_t *probe,
                                const troupe_message_t *message)
{
    (void)self;
    if (message->type.id == object_type.id) {
        const object_t *object = message->body;
        CHECK_EQ_U64(object->canary, CANARY);
        CHECK_EQ_U64(message->size, 0);
        atomic_fetch_add(&probe->sum, object->number);
    }
    return TROUPE_OK;
}

static void begin(const trp_runtime_options_t *runtime_options)
{
    troupe_type_options_t options = TROUPE_TYPE_OPTIONS_INIT;
    atomic_store(&objects_made, 0);
    atomic_store(&objects_freed, 0);
    sender = (probe_t){0};
    stage_open(&stage, runtime_options);
    options.name = "test.object";
    options.encode = object_encode;
    options.decode = object_decode;
    options.free_object = object_free;
    REQUIRE_OK(troupe_type_register(&stage.node, &options, &object_type));
    options = (troupe_type_options_t)TROUPE_TYPE_OPTIONS_INIT;
    options.name = "test.bulk";
    options.size_max = TROUPE_BULK_SIZE_MAX;
    REQUIRE_OK(troupe_type_register(&stage.node, &options, &bulk_type));
    sender_ref = stage_puppet_at(&stage, &sender, 0);
    for (uint32_t i = 0; i < 2; i++) {
        sinks[i] = (probe_t){.on_message = take_object};
        sink_refs[i] = stage_puppet_at(&stage, &sinks[i], i);
    }
}

static void end(void)
{
    stage_close(&stage);
    CHECK_EQ_U64(atomic_load(&objects_freed), atomic_load(&objects_made));
}

static troupe_err_t send_objects(troupe_actor_t *self, probe_t *probe, void *argument)
{
    (void)probe;
    for (uint64_t i = 0; i < 100; i++) {
        void *object = object_new(i);
        CHECK_OK(troupe_tell_object(self, *(troupe_ref_t *)argument, object_type, &object));
        CHECK_NULL(object);
    }
    return TROUPE_OK;
}

static void objects_arrive_as_they_are_and_end_once(void)
{
    begin(NULL);
    for (uint32_t i = 0; i < 2; i++) {
        CHECK_OK(stage_do(&stage, sender_ref, send_objects, &sink_refs[i]));
        CHECK_EVENTUALLY(probe_count(&sinks[i], PROBE_MESSAGE) == 100, STAGE_PATIENCE_MS);
        CHECK_EQ_U64(atomic_load(&sinks[i].sum), 99 * 100 / 2);
    }
    end();
}

static void objects_to_the_dead_end_too(void)
{
    begin(NULL);
    for (uint32_t i = 0; i < 2; i++) {
        troupe_port_kill(stage.port, sink_refs[i]);
        CHECK_TRUE(stage_is_gone(&stage, sink_refs[i]));
        CHECK_OK(stage_do(&stage, sender_ref, send_objects, &sink_refs[i]));
    }
    CHECK_EVENTUALLY(atomic_load(&objects_freed) == 200, STAGE_PATIENCE_MS);
    end();
}

static void objects_in_flight_as_the_node_ends_end_too(void)
{
    for (int i = 0; i < 10; i++) {
        begin(NULL);
        CHECK_OK(stage_do(&stage, sender_ref, send_objects, &sink_refs[i % 2]));
        stage_close_hard(&stage);
        CHECK_EQ_U64(atomic_load(&objects_freed), 100);
    }
}

static troupe_err_t send_bad_objects(troupe_actor_t *self, probe_t *probe, void *argument)
{
    void *object = argument;
    void *none = NULL;
    (void)probe;
    CHECK_ERR(troupe_tell_object(self, sink_refs[0], (troupe_type_t){999}, &object), TROUPE_ETYPE);
    CHECK_ERR(troupe_tell_object(self, sink_refs[0], TROUPE_TYPE_BYTES, &object), TROUPE_EINVAL);
    CHECK_ERR(troupe_tell_object(self, sink_refs[0], object_type, NULL), TROUPE_EINVAL);
    CHECK_ERR(troupe_tell_object(self, sink_refs[0], object_type, &none), TROUPE_EINVAL);
    CHECK_ERR(troupe_tell(self, sink_refs[0], object_type, object, sizeof(object_t)),
              TROUPE_EINVAL);
    CHECK_EQ_PTR(object, argument);
    return TROUPE_OK;
}

static void an_object_that_is_refused_stays_the_sender_s(void)
{
    begin(NULL);
    object_t *object = object_new(1);
    CHECK_OK(stage_do(&stage, sender_ref, send_bad_objects, object));
    CHECK_EQ_U64(atomic_load(&objects_freed), 0);
    object_free(object);
    end();
}

static troupe_err_t stash_object(troupe_actor_t *self, probe_t *probe,
                                 const troupe_message_t *message)
{
    CHECK_OK(troupe_stash(self));
    return take_object(self, probe, message);
}

static void a_stashed_object_lives_on(void)
{
    begin(NULL);
    sinks[1].on_message = stash_object;
    CHECK_OK(stage_do(&stage, sender_ref, send_objects, &sink_refs[1]));
    CHECK_EVENTUALLY(probe_count(&sinks[1], PROBE_MESSAGE) == 100, STAGE_PATIENCE_MS);
    CHECK_EQ_U64(atomic_load(&objects_freed), 0);
    end();
}

/* ---- shared bodies --------------------------------------------------------------------------- */

static troupe_err_t send_shared(troupe_actor_t *self, probe_t *probe, void *argument)
{
    size_t size = *(size_t *)argument;
    troupe_body_t *body = NULL;
    char *data = malloc(size);
    (void)probe;
    REQUIRE_NOT_NULL(data);
    memset(data, 7, size);
    CHECK_OK(troupe_body_create(self, bulk_type, data, size, &body));
    free(data);
    for (int i = 0; i < 50; i++) {
        CHECK_OK(troupe_tell_shared(self, sink_refs[i % 2], body));
    }
    troupe_body_t *second = troupe_body_ref(body);
    troupe_body_unref(&second);
    CHECK_NULL(second);
    troupe_body_unref(&body);
    troupe_body_unref(&body);
    CHECK_ERR(troupe_tell_shared(self, sink_refs[0], NULL), TROUPE_EINVAL);
    return TROUPE_OK;
}

static void one_body_is_shared_by_many_receivers(void)
{
    begin(NULL);
    for (size_t size = 8; size <= 4 * MIB; size *= 8) {
        size_t used = stage_stats(&stage).pool_bytes;
        uint64_t before = probe_count(&sinks[0], PROBE_MESSAGE);
        CHECK_OK(stage_do(&stage, sender_ref, send_shared, &size));
        CHECK_EVENTUALLY(probe_count(&sinks[0], PROBE_MESSAGE) == before + 25, STAGE_PATIENCE_MS);
        CHECK_EVENTUALLY(probe_count(&sinks[1], PROBE_MESSAGE) == before + 25, STAGE_PATIENCE_MS);
        CHECK_EQ_U64(probe_at(&sinks[0], PROBE_MESSAGE, (uint32_t)before).size, size);
        STAGE_QUIET(&stage);
        CHECK_LE_U64(stage_stats(&stage).pool_bytes, used + 64 * 1024); /* Given back. */
    }
    end();
}

/* ---- sizes ----------------------------------------------------------------------------------- */

static troupe_err_t check_pattern(troupe_actor_t *self, probe_t *probe,
                                  const troupe_message_t *message)
{
    const unsigned char *bytes = message->body;
    (void)self;
    for (size_t i = 0; i < message->size; i++) {
        if (bytes[i] != (unsigned char)(i * 13 + message->size)) {
            atomic_fetch_add(&probe->number, 1);
            break;
        }
    }
    return TROUPE_OK;
}

static troupe_err_t send_pattern(troupe_actor_t *self, probe_t *probe, void *argument)
{
    size_t size = *(size_t *)argument;
    unsigned char *data = malloc(size + 1);
    (void)probe;
    REQUIRE_NOT_NULL(data);
    for (size_t i = 0; i < size; i++) {
        data[i] = (unsigned char)(i * 13 + size);
    }
    for (int i = 0; i < 2; i++) {
        CHECK_OK(troupe_tell(self, sink_refs[i], bulk_type, data, size));
    }
    free(data);
    return TROUPE_OK;
}

static void bodies_of_every_size_arrive_whole(void)
{
    static const size_t sizes[] = {0,     1,     31,     32,    33,      63,     64,
                                   65,    96,    97,     4095,  4096,    32768,  65400,
                                   65487, 65488, 65489,  65503, 65504,   65505,  65535,
                                   65536, 65537, 100000, MIB,   MIB + 1, 8 * MIB};
    begin(NULL);
    for (size_t i = 0; i < 2; i++) {
        sinks[i].on_message = check_pattern;
    }
    for (uint32_t i = 0; i < TRP_ARRAY_LEN(sizes); i++) {
        size_t size = sizes[i];
        CHECK_OK(stage_do(&stage, sender_ref, send_pattern, &size));
        for (size_t k = 0; k < 2; k++) {
            CHECK_EVENTUALLY(probe_count(&sinks[k], PROBE_MESSAGE) == i + 1, STAGE_PATIENCE_MS);
            CHECK_EQ_U64(probe_at(&sinks[k], PROBE_MESSAGE, i).size, size);
            CHECK_EQ_U64(atomic_load(&sinks[k].number), 0);
        }
    }
    end();
}

static troupe_err_t send_misfits(troupe_actor_t *self, probe_t *probe, void *argument)
{
    static char big[TROUPE_BODY_SIZE_MAX + 1];
    troupe_body_t *body = NULL;
    (void)probe;
    (void)argument;
    CHECK_ERR(troupe_tell(self, sink_refs[1], TROUPE_TYPE_BYTES, big, sizeof(big)), TROUPE_ETOOBIG);
    CHECK_ERR(troupe_tell(self, sink_refs[1], (troupe_type_t){999}, big, 1), TROUPE_ETYPE);
    CHECK_ERR(troupe_tell(self, sink_refs[1], TROUPE_TYPE_EVENT, big, 1), TROUPE_EINVAL);
    CHECK_ERR(troupe_body_create(self, TROUPE_TYPE_BYTES, big, sizeof(big), &body), TROUPE_ETOOBIG);
    CHECK_NULL(body);
    return TROUPE_OK;
}

static void what_does_not_fit_is_refused_with_a_typed_error_and_counted(void)
{
    begin(NULL);
    CHECK_OK(stage_do(&stage, sender_ref, send_misfits, NULL));
    troupe_stats_t stats = stage_stats(&stage);
    CHECK_EQ_U64(stats.user.dropped[TROUPE_DROP_OVERSIZE], 1);
    CHECK_EQ_U64(stats.user.dropped[TROUPE_DROP_UNKNOWN_TYPE], 1);
    CHECK_EQ_U64(stats.user.dropped[TROUPE_DROP_BAD_BODY], 1);
    CHECK_EQ_U64(probe_count(&sinks[1], PROBE_MESSAGE), 0);
    end();
}

static troupe_err_t flood_large(troupe_actor_t *self, probe_t *probe, void *argument)
{
    troupe_err_t err = TROUPE_OK;
    char *data = calloc(1, MIB);
    (void)probe;
    REQUIRE_NOT_NULL(data);
    for (int i = 0; i < 100 && err == TROUPE_OK; i++) {
        err = troupe_tell(self, troupe_self(self), bulk_type, data, MIB);
        *(uint64_t *)argument += err == TROUPE_OK;
    }
    CHECK_ERR(err, TROUPE_EOVERLOAD);
    free(data);
    return TROUPE_OK;
}

static void large_bodies_are_charged_to_the_ceiling(void)
{
    trp_runtime_options_t options = {.ceiling = 32 * MIB};
    begin(&options);
    for (int round = 0; round < 3; round++) {
        uint64_t sent = 0;
        CHECK_OK(stage_do(&stage, sender_ref, flood_large, &sent));
        CHECK_GE_U64(sent, 24);
        CHECK_LE_U64(sent, 31);
        STAGE_QUIET(&stage);
    }
    end();
}

static const check_case_t cases[] = {
    CHECK_CASE(objects_arrive_as_they_are_and_end_once),
    CHECK_CASE(objects_to_the_dead_end_too),
    CHECK_CASE(objects_in_flight_as_the_node_ends_end_too),
    CHECK_CASE(an_object_that_is_refused_stays_the_sender_s),
    CHECK_CASE(a_stashed_object_lives_on),
    CHECK_CASE(one_body_is_shared_by_many_receivers),
    CHECK_CASE(bodies_of_every_size_arrive_whole),
    CHECK_CASE(what_does_not_fit_is_refused_with_a_typed_error_and_counted),
    CHECK_CASE(large_bodies_are_charged_to_the_ceiling),
};

CHECK_MAIN("actor.body", cases)
