/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* From other nodes: publishes and control messages as the link hands them over. */

#include "pubsub/remote.h"

#include <string.h>

#include "base/bytes.h"
#include "pubsub/answer.h"
#include "pubsub/arrive.h"
#include "pubsub/expand.h"
#include "pubsub/group.h"
#include "pubsub/mediator.h"
#include "pubsub/tasks.h"

/* ---- names of other nodes, on the link thread ------------------------------------------------ */

/* A topic or path is held like an open handle, a group by its name alone. */
static uint32_t remote_define(void *context, uint64_t uid, uint8_t space, trp_view_t name)
{
    trp_pubsub_t *pubsub = context;
    (void)uid;
    if (space == TRP_SPACE_GROUP) {
        const trp_atom_t *atom = NULL;
        troupe_err_t err = trp_atoms_intern(&pubsub->names, TRP_SPACE_GROUP, name, &atom);
        return err == TROUPE_OK ? atom->id : 0;
    }
    if (space != TRP_SPACE_TOPIC && space != TRP_SPACE_PATH) {
        return 0;
    }
    troupe_topic_t handle;
    troupe_err_t err =
        trp_directory_open(&pubsub->directory, (trp_space_t)space, name, NULL, &handle);
    return err == TROUPE_OK ? handle.id : 0;
}

static void remote_undefine(void *context, uint64_t uid, uint32_t id)
{
    trp_pubsub_t *pubsub = context;
    const trp_atom_t *atom = NULL;
    (void)uid;
    if (trp_atoms_get(&pubsub->names, id, 0, &atom) != TROUPE_OK) {
        return;
    }
    if (atom->space == TRP_SPACE_GROUP) {
        const trp_atom_t *defined = atom;
        trp_atoms_unref(&pubsub->names, &defined);
    } else {
        troupe_err_t err = trp_directory_close(&pubsub->directory, trp_replica_handle(atom));
        (void)err;
    }
    trp_atoms_unref(&pubsub->names, &atom);
}

/* The dispatcher that sees to a topic's groups: always the same, so that what comes through it keeps its
 * order, and nobody else's, since all that get a frame look at all of it. Not the system's. */
static uint32_t remote_group_index(const trp_pubsub_t *pubsub, uint32_t topic)
{
    uint32_t len = trp_runtime_system_index(pubsub->runtime);
    return len > 0 ? topic % len : 0;
}

/* Every dispatcher answers a confirmed publish, so that its node's answers can be counted. */
static void remote_mask(void *context, uint32_t topic, uint32_t group, uint8_t route,
                        uint64_t ret_mask[TRP_LINK_MASK_WORDS])
{
    trp_pubsub_t *pubsub = context;
    _Static_assert(TRP_LINK_MASK_WORDS == TRP_REPLICA_WORDS, "a bit for each dispatcher");
    (void)group;
    memset(ret_mask, 0, TRP_LINK_MASK_WORDS * sizeof(*ret_mask));
    if ((route & TRP_ROUTE_GROUP) != 0) {
        uint32_t index = remote_group_index(pubsub, topic);
        ret_mask[index / 64] = UINT64_C(1) << (index % 64);
        return;
    }
    if ((route & TRP_ROUTE_CONFIRM) != 0) {
        for (uint32_t i = 0; i < pubsub->runtime->len; i++) {
            ret_mask[i / 64] |= UINT64_C(1) << (i % 64);
        }
        return;
    }
    trp_mask_t *mask = trp_masks_at(&pubsub->directory.masks, topic);
    for (uint32_t i = 0; mask != NULL && i < TRP_REPLICA_WORDS; i++) {
        ret_mask[i] = atomic_load_explicit(&mask->words[i], memory_order_relaxed);
    }
}

/* ---- in, on each dispatcher that must see it -------------------------------------------------- */

/* Whether this node has nobody at all for a plain publish: only then is it dropped, once. */
static bool remote_is_unwanted(trp_pubsub_t *pubsub, uint32_t topic)
{
    trp_mask_t *mask = trp_masks_at(&pubsub->directory.masks, topic);
    uint64_t any = 0;
    for (uint32_t i = 0; mask != NULL && i < TRP_REPLICA_WORDS; i++) {
        any |= atomic_load_explicit(&mask->words[i], memory_order_relaxed);
    }
    return any == 0;
}

static void remote_refuse(trp_site_t *site, const trp_link_topic_in_t *in, troupe_drop_t reason)
{
    if (in->is_first) {
        site->d->user.received++;
        trp_dispatcher_drop(site->d, reason, troupe_ref_none(), in->sender, in->type, NULL);
    }
}

/* The body as it came, or in a shared one when it is too large for cells; one reference then. */
static troupe_err_t remote_body(trp_site_t *site, const trp_link_topic_in_t *in,
                                trp_publication_t *ret_what)
{
    ret_what->data = in->body.data;
    ret_what->shared = in->shared != NULL ? trp_body_ref(in->shared) : NULL;
    ret_what->size = (uint32_t)(in->shared != NULL ? in->shared->size : in->body.size);
    if (in->shared != NULL || in->body.size <= TRP_PUBLISH_INLINE_MAX) {
        return TROUPE_OK;
    }
    trp_body_t *body = trp_body_new(&site->d->endpoint.runtime->depot, in->body.size, false);
    if (body == NULL) {
        return TROUPE_EOVERLOAD;
    }
    body->type = in->type;
    memcpy(body->data, in->body.data, in->body.size);
    ret_what->shared = body;
    return TROUPE_OK;
}

static void remote_expand_plain(trp_site_t *site, const trp_link_topic_in_t *in,
                                trp_replica_topic_t *topic, const trp_publication_t *what)
{
    uint32_t taken = trp_expand_plain(site, topic, what);
    if (taken == 0 && in->is_first && remote_is_unwanted(site->pubsub, in->topic)) {
        trp_publish_drop(site, topic->name, what, TROUPE_DROP_NO_SUBSCRIBER);
    }
}

static void remote_expand(trp_site_t *site, const trp_link_topic_in_t *in,
                          const trp_publication_t *what)
{
    trp_replica_topic_t *topic = NULL;
    trp_routing_words_t words = {.group = in->group, .route = in->route, .origin = in->uid};
    words.token = in->has_token ? in->token : 0;
    bool is_group = (in->route & TRP_ROUTE_GROUP) != 0;
    if (is_group && site->d->index != remote_group_index(site->pubsub, in->topic)) {
        return;
    }
    if (trp_replica_resolve_any(&site->replica, in->topic, &topic) != TROUPE_OK) {
        return;
    }
    if (is_group) {
        trp_group_here(site, topic, what, &words);
    } else if (in->route == TRP_ROUTE_PLAIN) {
        remote_expand_plain(site, in, topic, what);
    } else {
        trp_arrive(site, topic, what, &words);
    }
}

static void remote_deliver(void *context, trp_dispatcher_t *d, const trp_link_topic_in_t *in)
{
    (void)context;
    trp_site_t *site = trp_site_of(d);
    trp_publication_t what = {.sender = in->sender.id, .type = in->type};
    if (site == NULL) {
        return;
    }
    if (in->is_dropped || in->topic == 0) {
        remote_refuse(site, in, in->is_dropped ? in->reason : TROUPE_DROP_NO_SUBSCRIBER);
        return;
    }
    what.sender_node = in->sender.node != d->uid ? in->sender.node : 0;
    if (remote_body(site, in, &what) != TROUPE_OK) {
        remote_refuse(site, in, TROUPE_DROP_OVERLOAD);
        return;
    }
    if (in->is_first) {
        d->user.received++;
        d->user.taken++;
    }
    remote_expand(site, in, &what);
    if (what.shared != NULL) {
        trp_body_unref(what.shared);
    }
}

/* ---- control --------------------------------------------------------------------------------- */

static void remote_on_answer(trp_pubsub_t *pubsub, trp_dispatcher_t *d, uint64_t uid,
                             trp_view_t bytes)
{
    trp_confirm_answer_t answer = {.node = uid};
    answer.key = trp_load_le32(bytes.data + 1);
    answer.taken = trp_load_le32(bytes.data + 5);
    answer.parts = trp_load_le32(bytes.data + 9);
    uint32_t index = answer.key >> 24;
    if (index >= pubsub->runtime->len || answer.parts == 0 || answer.parts > TRP_DISPATCHERS_MAX) {
        return;
    }
    troupe_err_t err = trp_dispatcher_post(d, index, trp_confirm_answered, &answer, sizeof(answer));
    (void)err;
}

static void remote_on_control(void *context, trp_dispatcher_t *d, uint64_t uid, trp_view_t data)
{
    trp_pubsub_t *pubsub = context;
    if (data.size > 0 && data.data[0] == TRP_ANSWER_MARK) {
        if (data.size == TRP_ANSWER_SIZE) {
            remote_on_answer(pubsub, d, uid, data);
        }
        return;
    }
    trp_mediator_receive(pubsub->mediator, uid, data);
}

troupe_err_t trp_remote_register(trp_pubsub_t *pubsub)
{
    trp_link_topic_hooks_t hooks = {pubsub, remote_define, remote_undefine, remote_mask,
                                    remote_deliver};
    if (pubsub->link == NULL) {
        return TROUPE_OK;
    }
    trp_link_set_topic_hooks(pubsub->link, &hooks);
    return trp_link_service_register(pubsub->link, TRP_SERVICE_PUBSUB,
                                     trp_runtime_system_index(pubsub->runtime), remote_on_control,
                                     pubsub);
}
