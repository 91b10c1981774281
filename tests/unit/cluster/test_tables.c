/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* The core's tables: identities, sets of uids, members, tombstones, rumors, outputs. */

#include <string.h>

#include "base/memory.h"
#include "base/random.h"
#include "cluster/members.h"
#include "cluster/output.h"
#include "cluster/rumors.h"
#include "cluster/tombs.h"
#include "cluster/uids.h"
#include "support/check.h"

static trp_identity_view_t view_of(uint64_t uid, const char *address)
{
    trp_identity_view_t view = {.uid = uid, .roles_len = 1};
    view.address = trp_view_from_string(address);
    view.name = trp_view_from_string("name");
    view.roles[0] = trp_view_from_string("role");
    return view;
}

static trp_identity_t *identity_of(uint64_t uid, const char *address)
{
    trp_identity_t *identity = NULL;
    trp_identity_view_t view = view_of(uid, address);
    REQUIRE_OK(trp_identity_create(&view, &identity));
    return identity;
}

/* ---- identities ------------------------------------------------------------------------------- */

static void an_identity_keeps_its_texts(void)
{
    trp_identity_t *identity = identity_of(7, "host:1");
    trp_identity_view_t view;
    trp_identity_view(identity, &view);
    CHECK_EQ_U64(view.uid, 7);
    CHECK(trp_view_equal_string(view.address, "host:1"));
    CHECK(trp_view_equal_string(view.roles[0], "role"));
    CHECK(trp_identity_has_role(identity, "role"));
    CHECK_FALSE(trp_identity_has_role(identity, "rol"));
    trp_identity_t *other = trp_identity_ref(identity);
    trp_identity_unref(&identity);
    CHECK_NULL(identity);
    CHECK_STR(other->address, "host:1");
    trp_identity_unref(&other);
    trp_identity_unref(&other);
}

static void identities_are_ordered_by_address_then_uid(void)
{
    trp_identity_t *a = identity_of(2, "a:1");
    trp_identity_t *b = identity_of(1, "b:1");
    trp_identity_t *c = identity_of(3, "a:1");
    CHECK(trp_identity_compare(a, b) < 0);
    CHECK(trp_identity_compare(b, a) > 0);
    CHECK(trp_identity_compare(a, c) < 0);
    CHECK_EQ_I64(trp_identity_compare(a, a), 0);
    trp_identity_unref(&a);
    trp_identity_unref(&b);
    trp_identity_unref(&c);
}

/* ---- sets of uids ----------------------------------------------------------------------------- */

static void a_set_holds_each_uid_once_in_order(void)
{
    trp_uids_t uids = {0};
    for (uint64_t i = 0; i < 200; i++) {
        CHECK_OK(trp_uids_add(&uids, i * 7919 % 101));
    }
    CHECK_EQ_U64(uids.len, 101);
    for (size_t i = 1; i < uids.len; i++) {
        CHECK_LT_U64(uids.items[i - 1], uids.items[i]);
    }
    trp_uids_remove(&uids, 50);
    trp_uids_remove(&uids, 50);
    CHECK_EQ_U64(uids.len, 100);
    CHECK_FALSE(trp_uids_has(&uids, 50));
    CHECK(trp_uids_has(&uids, 51));
    trp_uids_fini(&uids);
}

static void equal_sets_have_equal_hashes(void)
{
    trp_uids_t a = {0};
    trp_uids_t b = {0};
    uint64_t empty = trp_uids_hash(&a);
    for (uint64_t i = 1; i <= 10; i++) {
        CHECK_OK(trp_uids_add(&a, i));
        CHECK_OK(trp_uids_add(&b, 11 - i));
    }
    CHECK_EQ_U64(trp_uids_hash(&a), trp_uids_hash(&b));
    CHECK_NE_U64(trp_uids_hash(&a), empty);
    trp_uids_remove(&b, 10);
    CHECK_NE_U64(trp_uids_hash(&a), trp_uids_hash(&b));
    CHECK_OK(trp_uids_copy(&b, &a));
    CHECK_EQ_U64(trp_uids_hash(&a), trp_uids_hash(&b));
    trp_uids_clear(&b);
    trp_uids_swap(&a, &b);
    CHECK_EQ_U64(a.len, 0);
    CHECK_EQ_U64(b.len, 10);
    trp_uids_fini(&a);
    trp_uids_fini(&b);
}

/* ---- members ---------------------------------------------------------------------------------- */

static troupe_err_t add(trp_members_t *members, uint64_t uid, const char *address,
                        trp_member_t **ret_member)
{
    trp_identity_t *identity = NULL;
    trp_identity_view_t view = view_of(uid, address);
    troupe_err_t err = trp_identity_create(&view, &identity);
    if (err == TROUPE_OK) {
        err = trp_members_add(members, &identity, ret_member);
    }
    trp_identity_unref(&identity);
    return err;
}

static void members_are_found_by_uid_and_address(void)
{
    trp_members_t members;
    trp_member_t *member = NULL;
    trp_members_init(&members, 8);
    CHECK_OK(add(&members, 30, "c:1", &member));
    CHECK_OK(add(&members, 10, "a:1", &member));
    CHECK_OK(add(&members, 20, "b:1", &member));
    CHECK_EQ_U64(member->state, TROUPE_MEMBER_JOINING);
    CHECK_EQ_PTR(trp_members_find(&members, 20), member);
    CHECK_NULL(trp_members_find(&members, 15));
    CHECK_EQ_U64(trp_members_position(&members, 15), 1);
    CHECK_EQ_U64(trp_members_position(&members, 31), 3);
    CHECK_EQ_PTR(trp_members_find_address(&members, "b:1", 0), member);
    CHECK_NULL(trp_members_find_address(&members, "b:1", 20));
    member->state = TROUPE_MEMBER_DOWN;
    CHECK_NULL(trp_members_find_address(&members, "b:1", 0));
    trp_members_remove(&members, member);
    CHECK_EQ_U64(members.len, 2);
    trp_members_fini(&members);
}

static void the_table_has_a_bound(void)
{
    trp_members_t members;
    trp_member_t *member = NULL;
    trp_members_init(&members, 2);
    CHECK_OK(add(&members, 1, "a:1", &member));
    CHECK_OK(add(&members, 2, "b:1", &member));
    CHECK_ERR(add(&members, 3, "c:1", &member), TROUPE_EFULL);
    trp_members_fini(&members);
}

/* ---- tombstones ------------------------------------------------------------------------------- */

static void tombstones_expire_and_are_bounded(void)
{
    trp_tombs_t tombs = {0};
    trp_identity_t *identity = identity_of(1, "a:1");
    CHECK_OK(trp_tombs_add(&tombs, 1, identity, 100));
    CHECK_OK(trp_tombs_add(&tombs, 1, NULL, 900));
    CHECK_EQ_U64(tombs.len, 1);
    CHECK_OK(trp_tombs_add(&tombs, 2, NULL, 200));
    trp_tombs_expire(&tombs, 100);
    CHECK_NULL(trp_tombs_find(&tombs, 1));
    CHECK_NOT_NULL(trp_tombs_find(&tombs, 2));
    for (uint64_t i = 0; i < TRP_TOMBS_MAX; i++) {
        CHECK_OK(trp_tombs_add(&tombs, 1000 + i, identity, 1000 + i));
    }
    CHECK_EQ_U64(tombs.len, TRP_TOMBS_MAX);
    CHECK_NULL(trp_tombs_find(&tombs, 2));
    trp_tombs_fini(&tombs);
    trp_identity_unref(&identity);
}

/* ---- rumors ----------------------------------------------------------------------------------- */

static void the_freshest_rumor_goes_first_and_once_a_round(void)
{
    trp_rumors_t rumors = {0};
    trp_rumors_add(&rumors, TRP_RUMOR_STATUS, 1, 0, 0, 2);
    trp_rumors_add(&rumors, TRP_RUMOR_STATUS, 2, 0, 0, 5);
    trp_rumors_add(&rumors, TRP_RUMOR_STATUS, 1, 0, 0, 3); /* The same again: its full count. */
    CHECK_EQ_U64(rumors.len, 2);
    CHECK(trp_rumors_has(&rumors, TRP_RUMOR_STATUS, 1));
    CHECK_FALSE(trp_rumors_has(&rumors, TRP_RUMOR_MEMBER, 1));
    ptrdiff_t at = trp_rumors_pick(&rumors, 1);
    REQUIRE(at >= 0);
    CHECK_EQ_U64(rumors.items[at].uid, 2);
    rumors.items[at].round = 1;
    trp_rumors_sent(&rumors, (size_t)at);
    at = trp_rumors_pick(&rumors, 1);
    REQUIRE(at >= 0);
    CHECK_EQ_U64(rumors.items[at].uid, 1);
    rumors.items[at].round = 1;
    CHECK_EQ_I64(trp_rumors_pick(&rumors, 1), -1);
    for (size_t i = 0; i < 7; i++) {
        at = trp_rumors_pick(&rumors, 100 + (uint32_t)i);
        REQUIRE(at >= 0);
        trp_rumors_sent(&rumors, (size_t)at);
    }
    CHECK_EQ_U64(rumors.len, 0);
    trp_rumors_add(&rumors, TRP_RUMOR_SUSPECT, 3, 7, 1, 2);
    trp_rumors_add(&rumors, TRP_RUMOR_SUSPECT, 3, 8, 1, 2);
    trp_rumors_add(&rumors, TRP_RUMOR_STATUS, 3, 0, 1, 2);
    trp_rumors_forget(&rumors, TRP_RUMOR_SUSPECT, 3);
    CHECK_EQ_U64(rumors.len, 1);
    trp_rumors_fini(&rumors);
}

static void rumors_beyond_the_bound_are_counted(void)
{
    trp_rumors_t rumors = {0};
    for (uint64_t i = 1; i <= TRP_RUMORS_MAX; i++) {
        trp_rumors_add(&rumors, TRP_RUMOR_STATUS, i, 0, 0, 1);
    }
    trp_rumors_add(&rumors, TRP_RUMOR_STATUS, TRP_RUMORS_MAX + 1, 0, 0, 1);
    CHECK_EQ_U64(rumors.len, TRP_RUMORS_MAX);
    CHECK_EQ_U64(rumors.dropped, 1);
    trp_rumors_fini(&rumors);
}

/* ---- outputs ---------------------------------------------------------------------------------- */

static void push(trp_outputs_t *outputs, trp_output_kind_t kind, uint64_t uid)
{
    trp_output_t output = {.kind = kind, .uid = uid};
    trp_outputs_push(outputs, &output);
}

static void outputs_come_out_in_order(void)
{
    trp_outputs_t outputs = {0};
    trp_output_t output;
    uint64_t next = 0;
    for (uint64_t i = 0; i < 1000; i++) {
        push(&outputs, TRP_OUTPUT_EVENT, i);
        if (i % 3 == 0) {
            REQUIRE(trp_outputs_pop(&outputs, &output));
            CHECK_EQ_U64(output.uid, next);
            next++;
        }
    }
    while (trp_outputs_pop(&outputs, &output)) {
        CHECK_EQ_U64(output.uid, next);
        next++;
    }
    CHECK_EQ_U64(next, 1000);
    trp_outputs_fini(&outputs);
}

static void sends_give_way_to_events(void)
{
    trp_outputs_t outputs = {0};
    trp_output_t output;
    for (uint64_t i = 0; i < TRP_OUTPUTS_MAX; i++) {
        push(&outputs, TRP_OUTPUT_SEND, i);
    }
    CHECK_EQ_U64(outputs.len, TRP_OUTPUTS_MAX / 2);
    CHECK_EQ_U64(outputs.dropped_sends, TRP_OUTPUTS_MAX / 2);
    for (uint64_t i = 0; i <= TRP_OUTPUTS_MAX / 2; i++) {
        push(&outputs, TRP_OUTPUT_EVENT, i);
    }
    CHECK_EQ_U64(outputs.len, TRP_OUTPUTS_MAX);
    uint64_t lost = 0;
    while (trp_outputs_pop(&outputs, &output)) {
        lost += output.kind == TRP_OUTPUT_LOST ? 1 : 0;
    }
    CHECK_EQ_U64(lost, 1);
    trp_outputs_fini(&outputs);
}

static void notes_and_reasons_have_names(void)
{
    CHECK_STR(trp_note_name(TRP_NOTE_FULL), "member_table_full");
    CHECK_STR(trp_note_name((trp_note_t)99), "unknown");
    CHECK_STR(trp_stop_reason_name(TRP_STOP_YIELDED), "yielded");
    CHECK_STR(trp_stop_reason_name((trp_stop_reason_t)99), "unknown");
    CHECK_STR(troupe_member_state_name(TROUPE_MEMBER_WEAKLY_UP), "weakly_up");
    CHECK_STR(troupe_member_state_name((troupe_member_state_t)99), "unknown");
    CHECK_STR(troupe_member_event_name(TROUPE_MEMBER_EVENT_SELF_REMOVED), "self_removed");
    CHECK_STR(troupe_member_event_name((troupe_member_event_kind_t)99), "unknown");
}

/* ---- memory ----------------------------------------------------------------------------------- */

static troupe_err_t fill_tables(void *user)
{
    trp_members_t members;
    trp_uids_t uids = {0};
    trp_tombs_t tombs = {0};
    trp_member_t *member = NULL;
    (void)user;
    trp_members_init(&members, 100);
    troupe_err_t err = TROUPE_OK;
    for (uint64_t i = 1; i <= 20 && err == TROUPE_OK; i++) {
        err = add(&members, i, "a:1", &member);
        if (err == TROUPE_OK) {
            err = trp_uids_add(&uids, i);
        }
        if (err == TROUPE_OK) {
            err = trp_tombs_add(&tombs, i, member->identity, i);
        }
    }
    trp_members_fini(&members);
    trp_uids_fini(&uids);
    trp_tombs_fini(&tombs);
    return err;
}

static void tables_survive_want_of_memory(void)
{
    CHECK_ALLOCATIONS(fill_tables, NULL);
}

static const check_case_t cases[] = {
    CHECK_CASE(an_identity_keeps_its_texts),
    CHECK_CASE(identities_are_ordered_by_address_then_uid),
    CHECK_CASE(a_set_holds_each_uid_once_in_order),
    CHECK_CASE(equal_sets_have_equal_hashes),
    CHECK_CASE(members_are_found_by_uid_and_address),
    CHECK_CASE(the_table_has_a_bound),
    CHECK_CASE(tombstones_expire_and_are_bounded),
    CHECK_CASE(the_freshest_rumor_goes_first_and_once_a_round),
    CHECK_CASE(rumors_beyond_the_bound_are_counted),
    CHECK_CASE(outputs_come_out_in_order),
    CHECK_CASE(sends_give_way_to_events),
    CHECK_CASE(notes_and_reasons_have_names),
    CHECK_CASE(tables_survive_want_of_memory),
};

CHECK_MAIN("cluster.tables", cases)
