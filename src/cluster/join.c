/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* Seeking and forming. */

#include "cluster/join.h"

#include <string.h>

#include "base/assert.h"
#include "base/memory.h"
#include "cluster/heal.h"
#include "cluster/join_admit.h"
#include "cluster/post.h"
#include "cluster/settle.h"
#include "cluster/sync.h"
#include "cluster/view.h"

#define JOIN_FRESH_FACTOR 4    /* A promise counts for so many seek intervals from the question, */
#define JOIN_PROMISE_FACTOR 10 /* and binds the promiser for so many from the answer. */
#define JOIN_WELCOME_WAIT_MS 3000 /* From the welcome until the settled set must be here. */
#define JOIN_NOTE_INTERVAL_MS 10000

/* ---- contacts --------------------------------------------------------------------------------- */

static trp_contact_t *join_find_address(trp_cluster_core_t *core, const char *address)
{
    for (size_t i = 0; i < core->join.contacts_len; i++) {
        if (strcmp(core->join.contacts[i].address, address) == 0) {
            return &core->join.contacts[i];
        }
    }
    return NULL;
}

static trp_contact_t *join_find_uid(trp_cluster_core_t *core, uint64_t uid)
{
    for (size_t i = 0; i < core->join.contacts_len; i++) {
        if (core->join.contacts[i].uid == uid) {
            return &core->join.contacts[i];
        }
    }
    return NULL;
}

troupe_err_t trp_join_add_contact(trp_cluster_core_t *core, const char *address, bool is_seed)
{
    trp_join_t *join = &core->join;
    trp_contact_t *contact = join_find_address(core, address);
    if (contact != NULL) {
        contact->is_seed = contact->is_seed || is_seed;
        return TROUPE_OK;
    }
    if (join->contacts_len == TRP_CONTACTS_MAX || address[0] == '\0') {
        return TROUPE_OK;
    }
    char *copy = trp_strdup(address);
    if (copy == NULL) {
        return TROUPE_ENOMEM;
    }
    contact = &join->contacts[join->contacts_len];
    memset(contact, 0, sizeof(*contact));
    contact->address = copy;
    contact->is_seed = is_seed;
    contact->is_self = strcmp(address, core->self->identity->address) == 0;
    if (join->contacts_len == 0 && is_seed && contact->is_self) {
        join->is_candidate = true;
    }
    join->contacts_len++;
    return TROUPE_OK;
}

void trp_join_fini(trp_cluster_core_t *core)
{
    for (size_t i = 0; i < core->join.contacts_len; i++) {
        trp_free(core->join.contacts[i].address);
    }
    core->join.contacts_len = 0;
}

void trp_join_on_self(trp_cluster_core_t *core, const char *address)
{
    trp_contact_t *contact = join_find_address(core, address);
    if (contact == NULL || contact->is_self) {
        return;
    }
    contact->is_self = true;
    if (contact == &core->join.contacts[0] && contact->is_seed) {
        core->join.is_candidate = true;
    }
    trp_view_note(core, TRP_NOTE_SEED_IS_SELF, core->self->uid, 0);
}

/* ---- promises --------------------------------------------------------------------------------- */

static bool join_is_promised(const trp_cluster_core_t *core)
{
    return core->join.promised_to != 0 && core->time.raw < core->join.promised_until;
}

/* Gives, renews or takes back the promise to a seeker; true when it has it. */
static bool join_promise(trp_cluster_core_t *core, const trp_item_t *seeker, bool wants)
{
    trp_join_t *join = &core->join;
    if (!wants) {
        join->promised_to = join->promised_to == seeker->uid ? 0 : join->promised_to;
        return false;
    }
    trp_view_t own = trp_view_from_string(core->self->identity->address);
    trp_view_t other = seeker->identity.address;
    size_t common = own.size < other.size ? own.size : other.size;
    int order = memcmp(own.data, other.data, common);
    bool is_lower = order != 0 ? order < 0
                               : (own.size != other.size ? own.size < other.size
                                                         : core->self->uid < seeker->uid);
    if (join->is_candidate && is_lower) {
        return false;
    }
    if (join_is_promised(core) && join->promised_to != seeker->uid) {
        return false;
    }
    join->promised_to = seeker->uid;
    join->promised_until = core->time.raw + core->timings.seek_interval * JOIN_PROMISE_FACTOR;
    return true;
}

/* Whether one contact stands in the way of forming; counts its promise. */
static bool join_contact_agrees(const trp_cluster_core_t *core, const trp_contact_t *contact,
                                uint32_t *promises)
{
    uint64_t fresh = core->timings.seek_interval * JOIN_FRESH_FACTOR;
    if (contact->answered_at != 0 && core->time.raw - contact->asked_raw <= fresh) {
        *promises += contact->promised && contact->is_seed ? 1 : 0;
        return contact->promised;
    }
    uint64_t silent_since =
        core->join.started_at > contact->answered_at ? core->join.started_at : contact->answered_at;
    return core->time.now - silent_since >= core->timings.seed_timeout;
}

static bool join_may_form(const trp_cluster_core_t *core)
{
    const trp_join_t *join = &core->join;
    uint32_t promises = 1;
    if (join->contacts_len == 0) {
        return true; /* Told of nobody: a cluster of its own that others may join. */
    }
    if (!join->is_candidate || join_is_promised(core) ||
        core->time.now - join->started_at < core->timings.form_wait) {
        return false;
    }
    for (size_t i = 0; i < join->contacts_len; i++) {
        const trp_contact_t *contact = &join->contacts[i];
        if (!contact->is_self && !join_contact_agrees(core, contact, &promises)) {
            return false;
        }
    }
    return promises >= core->form_quorum;
}

/* ---- seeking ---------------------------------------------------------------------------------- */

static void join_enter(trp_cluster_core_t *core, uint64_t cluster)
{
    TRP_ASSERT(cluster != 0);
    core->cluster = cluster;
    trp_view_enter(core);
    core->join.dial_at = core->time.now + core->timings.dial_interval;
    core->join.welcome_until = core->time.now + trp_clock_from_ms(JOIN_WELCOME_WAIT_MS);
    core->detector.next_probe_at = core->time.now + core->timings.probe_interval / 2;
}

static void join_form(trp_cluster_core_t *core)
{
    if (trp_settle_form(core) != TROUPE_OK) {
        core->stats.out_of_memory++;
        core->join.seek_at = core->time.now + core->timings.seek_interval;
        return;
    }
    join_enter(core, trp_random_next(&core->random) | 1);
    if (core->members_min <= 1 && (core->self->flags & TRP_FLAG_READY) != 0) {
        trp_view_set_state(core, core->self, TROUPE_MEMBER_UP);
    }
}

static void join_call(trp_cluster_core_t *core, uint64_t uid)
{
    /* The raw time of the question comes back in the answer: its age is measured by one clock. */
    trp_wire_t wire = {.type = TRP_WIRE_SEEK,
                       .seq = core->time.raw,
                       .code = core->join.is_candidate && !join_is_promised(core) ? 1 : 0};
    (void)trp_post_send_self(core, uid, &wire);
}

static void join_note_waiting(trp_cluster_core_t *core)
{
    uint64_t interval = trp_clock_from_ms(JOIN_NOTE_INTERVAL_MS);
    if (!core->join.is_candidate && core->time.now - core->join.noted_at >= interval) {
        core->join.noted_at = core->time.now;
        trp_view_note(core, TRP_NOTE_WAITING_SEED, 0, 0);
    }
}

static void join_seek(trp_cluster_core_t *core)
{
    trp_join_t *join = &core->join;
    if (join_may_form(core)) {
        join_form(core);
        return;
    }
    if (core->time.now < join->seek_at) {
        return;
    }
    uint64_t interval = core->timings.seek_interval;
    join->seek_at =
        core->time.now + interval * 3 / 4 + trp_random_below(&core->random, interval / 2);
    for (size_t i = 0; i < join->contacts_len; i++) {
        const trp_contact_t *contact = &join->contacts[i];
        if (contact->is_self) {
            continue;
        }
        if (contact->uid != 0) {
            join_call(core, contact->uid);
        } else {
            trp_view_connect(core, contact->address, 0);
        }
    }
    join_note_waiting(core);
}

/* ---- lost seeds ------------------------------------------------------------------------------- */

static bool join_is_lost(const trp_cluster_core_t *core, const trp_contact_t *contact)
{
    if (!contact->is_seed || contact->is_self ||
        trp_members_find_address(&core->members, contact->address, 0) != NULL) {
        return false;
    }
    /* Under another name, perhaps. */
    const trp_member_t *member = trp_members_find(&core->members, contact->alias_of);
    return member == NULL || member->state >= TROUPE_MEMBER_DOWN;
}

/* A seed that no member is at may have been started anew, and must not form another cluster. */
static void join_look_for_seeds(trp_cluster_core_t *core)
{
    trp_join_t *join = &core->join;
    join->dial_at = core->time.now + core->timings.dial_interval;
    for (size_t i = 0; i < join->contacts_len; i++) {
        const trp_contact_t *contact = &join->contacts[i];
        if (!join_is_lost(core, contact)) {
            continue;
        }
        if (contact->uid != 0 && trp_members_find(&core->members, contact->uid) == NULL) {
            trp_heal_announce(core, contact->uid);
        } else {
            trp_view_connect(core, contact->address, 0);
        }
    }
}

void trp_join_tick(trp_cluster_core_t *core)
{
    if (core->phase == TRP_PHASE_SEEKING) {
        join_seek(core);
        return;
    }
    if (core->settle.epoch == 0 && core->time.now >= core->join.welcome_until) {
        trp_post_stop(core, TRP_STOP_JOIN_LOST);
        return;
    }
    if (core->time.now >= core->join.dial_at) {
        join_look_for_seeds(core);
    }
}

static bool join_has_lost(const trp_cluster_core_t *core)
{
    for (size_t i = 0; i < core->join.contacts_len; i++) {
        if (join_is_lost(core, &core->join.contacts[i])) {
            return true;
        }
    }
    return false;
}

uint64_t trp_join_wakeup(const trp_cluster_core_t *core)
{
    if (core->phase == TRP_PHASE_SEEKING) {
        return core->join.seek_at;
    }
    uint64_t next = join_has_lost(core) ? core->join.dial_at : TRP_CLOCK_NEVER;
    if (core->settle.epoch == 0 && core->join.welcome_until < next) {
        next = core->join.welcome_until;
    }
    return next;
}

/* ---- inputs ----------------------------------------------------------------------------------- */

/* The contact through which a node was found; one more for a node that found us, since it must be asked
 * before a cluster is formed. NULL: no room. */
static trp_contact_t *join_contact_of(trp_cluster_core_t *core, uint64_t uid, const char *address)
{
    trp_contact_t *contact = join_find_address(core, address);
    for (size_t i = 0; i < core->join.contacts_len; i++) {
        if (core->join.contacts[i].alias_of == uid) {
            core->join.contacts[i].uid = uid;
            contact = contact == NULL ? &core->join.contacts[i] : contact;
        }
    }
    if (contact == NULL && core->phase == TRP_PHASE_SEEKING) {
        if (trp_join_add_contact(core, address, false) != TROUPE_OK) {
            core->stats.out_of_memory++;
        }
        contact = join_find_address(core, address);
    }
    return contact;
}

void trp_join_on_connected(trp_cluster_core_t *core, uint64_t uid, const char *address)
{
    trp_contact_t *contact = join_contact_of(core, uid, address);
    if (contact != NULL) {
        contact->uid = uid;
    }
    if (core->phase == TRP_PHASE_SEEKING) {
        join_call(core, uid);
    } else if (trp_members_find(&core->members, uid) == NULL) {
        trp_heal_announce(core, uid);
    } else {
        trp_join_welcome_late(core, uid);
    }
}

void trp_join_on_alias(trp_cluster_core_t *core, uint64_t uid, const char *address)
{
    trp_contact_t *contact = join_find_address(core, address);
    if (contact == NULL) {
        return;
    }
    contact->alias_of = uid;
    if (trp_view_is_connected(core, uid)) {
        contact->uid = uid;
    }
}

void trp_join_on_disconnected(trp_cluster_core_t *core, uint64_t uid)
{
    trp_contact_t *contact = join_find_uid(core, uid);
    while (contact != NULL) {
        contact->uid = 0;
        contact = join_find_uid(core, uid);
    }
}

void trp_join_on_seek(trp_cluster_core_t *core, uint64_t from, const trp_wire_t *wire,
                      trp_view_t items)
{
    trp_item_t seeker;
    if (trp_wire_next(&items, &seeker) != TROUPE_OK || seeker.kind != TRP_ITEM_MEMBER) {
        core->stats.malformed++;
        return;
    }
    if (seeker.uid != from) {
        core->stats.spoofed++;
        trp_view_note(core, TRP_NOTE_SPOOFED, from, seeker.uid);
        return;
    }
    if (core->phase == TRP_PHASE_MEMBER) {
        if (core->self->state < TROUPE_MEMBER_LEAVING && trp_settle_leader(core) != NULL) {
            trp_join_admit(core, &seeker);
        }
        return;
    }
    trp_wire_t answer = {.type = TRP_WIRE_ANSWER,
                         .seq = wire->seq,
                         .code = join_promise(core, &seeker, wire->code == 1) ? 1 : 0};
    if (!trp_post_send(core, from, &answer, NULL)) {
        char address[TROUPE_MEMBER_ADDRESS_SIZE];
        trp_item_copy_address(&seeker, address);
        trp_view_connect(core, address, 0); /* The answer goes out when it calls again. */
    }
}

void trp_join_on_answer(trp_cluster_core_t *core, uint64_t from, const trp_wire_t *wire)
{
    if (core->phase != TRP_PHASE_SEEKING || wire->seq > core->time.raw) {
        return;
    }
    /* One node may be several contacts, under different names. */
    for (size_t i = 0; i < core->join.contacts_len; i++) {
        trp_contact_t *contact = &core->join.contacts[i];
        if (contact->uid == from && wire->seq >= contact->asked_raw) {
            contact->answered_at = core->time.now;
            contact->asked_raw = wire->seq;
            contact->promised = wire->code == 1;
        }
    }
}

void trp_join_on_announce(trp_cluster_core_t *core, uint64_t from, trp_view_t items)
{
    trp_item_t item;
    char address[TROUPE_MEMBER_ADDRESS_SIZE];
    if (core->phase != TRP_PHASE_SEEKING) {
        return;
    }
    if (trp_wire_next(&items, &item) != TROUPE_OK || item.kind != TRP_ITEM_MEMBER ||
        item.uid != from) {
        core->stats.malformed++;
        return;
    }
    if (trp_view_is_connected(core, from)) {
        join_call(core, from);
        return;
    }
    trp_item_copy_address(&item, address);
    if (trp_join_add_contact(core, address, false) != TROUPE_OK) {
        core->stats.out_of_memory++;
    }
    trp_view_connect(core, address, 0);
}

void trp_join_on_welcome(trp_cluster_core_t *core, uint64_t from, const trp_wire_t *wire,
                         trp_view_t items)
{
    trp_item_t item;
    if (core->phase != TRP_PHASE_SEEKING || wire->cluster == 0) {
        return;
    }
    if (trp_wire_next(&items, &item) != TROUPE_OK || item.kind != TRP_ITEM_MEMBER ||
        item.uid != from) {
        core->stats.malformed++;
        return;
    }
    trp_member_t *member = trp_view_add(core, &item.identity);
    if (member == NULL) {
        return;
    }
    join_enter(core, wire->cluster);
    trp_view_set_up_number(core, member, item.up_number);
    trp_view_set_flags(core, member, item.flags);
    trp_view_set_incarnation(core, member, item.incarnation);
    if (item.state < TROUPE_MEMBER_REMOVED) {
        trp_view_set_state(core, member, (troupe_member_state_t)item.state);
    }
    trp_sync_begin(core, from);
}
