/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* Plain threads: inboxes, asking from outside, ports. */

#include <troupe/inbox.h>

#include <string.h>
#include <sys/epoll.h>

#include "base/clock.h"
#include "support/runtime.h"

static stage_t stage;
static probe_t probe_;
static troupe_ref_t who;
static troupe_inbox_t *inbox;

static void begin(const troupe_inbox_options_t *options)
{
    probe_ = (probe_t){0};
    stage_open(&stage, NULL);
    who = stage_puppet_at(&stage, &probe_, 0);
    REQUIRE_OK(troupe_inbox_open(&stage.node, options, &inbox));
}

static void end(void)
{
    troupe_inbox_close(&inbox);
    CHECK_NULL(inbox);
    stage_close(&stage);
}

typedef struct batch {
    uint64_t first;
    uint64_t len;
} batch_t;

static troupe_err_t send_batch(troupe_actor_t *self, probe_t *probe, void *argument)
{
    const batch_t *batch = argument;
    (void)probe;
    for (uint64_t i = 0; i < batch->len; i++) {
        CHECK_OK(puppet_tell(self, troupe_inbox_ref(inbox), batch->first + i));
    }
    return TROUPE_OK;
}

static void send_numbers(uint64_t first, uint64_t len)
{
    batch_t batch = {first, len};
    CHECK_OK(stage_do(&stage, who, send_batch, &batch));
}

static uint64_t letter_number(const troupe_letter_t *letter)
{
    uint64_t number = 0;
    const troupe_message_t *message = troupe_letter_message(letter);
    CHECK_EQ_U64(message->size, sizeof(number));
    memcpy(&number, message->body, sizeof(number));
    return number;
}

/* ---- receiving ------------------------------------------------------------------------------- */

static void letters_come_in_order_with_their_sender(void)
{
    begin(NULL);
    send_numbers(0, 100);
    for (uint64_t i = 0; i < 100; i++) {
        troupe_letter_t *letter = NULL;
        REQUIRE_OK(troupe_inbox_receive(inbox, STAGE_PATIENCE_MS, &letter));
        CHECK_EQ_U64(letter_number(letter), i);
        CHECK_TRUE(troupe_ref_equal(troupe_letter_message(letter)->sender, who));
        troupe_letter_free(&letter);
        CHECK_NULL(letter);
        troupe_letter_free(&letter); /* NULL does nothing. */
    }
    end();
}

static void receiving_waits_no_longer_than_its_time(void)
{
    troupe_letter_t *letter = NULL;
    begin(NULL);
    CHECK_ERR(troupe_inbox_receive(inbox, 0, &letter), TROUPE_EAGAIN);
    uint64_t from = trp_clock_now();
    CHECK_ERR(troupe_inbox_receive(inbox, 20, &letter), TROUPE_ETIMEOUT);
    CHECK_GE_U64(trp_clock_now() - from, 20 * TRP_NS_PER_MS);
    CHECK_ERR(troupe_inbox_receive(NULL, 0, &letter), TROUPE_EINVAL);
    CHECK_ERR(troupe_inbox_receive(inbox, 0, NULL), TROUPE_EINVAL);
    CHECK_NULL(letter);
    end();
}

/* Whether the descriptor is readable, as an event loop sees it. */
static bool fd_is_ready(int epoll_fd, int timeout_ms)
{
    struct epoll_event event;
    return epoll_wait(epoll_fd, &event, 1, timeout_ms) == 1;
}

static void the_descriptor_is_readable_while_a_letter_waits(void)
{
    struct epoll_event event = {.events = EPOLLIN};
    troupe_letter_t *letter = NULL;
    begin(NULL);
    int epoll_fd = epoll_create1(EPOLL_CLOEXEC);
    REQUIRE(epoll_ctl(epoll_fd, EPOLL_CTL_ADD, troupe_inbox_fd(inbox), &event) == 0);
    for (int round = 0; round < 100; round++) {
        CHECK_FALSE(fd_is_ready(epoll_fd, 0));
        send_numbers(0, 2);
        CHECK_TRUE(fd_is_ready(epoll_fd, STAGE_PATIENCE_MS));
        REQUIRE_OK(troupe_inbox_receive(inbox, STAGE_PATIENCE_MS, &letter));
        troupe_letter_free(&letter);
        CHECK_TRUE(fd_is_ready(epoll_fd, STAGE_PATIENCE_MS));
        REQUIRE_OK(troupe_inbox_receive(inbox, STAGE_PATIENCE_MS, &letter));
        troupe_letter_free(&letter);
    }
    (void)close(epoll_fd);
    end();
}

static void more_letters_than_the_queue_holds_are_dead_letters(void)
{
    troupe_inbox_options_t options = TROUPE_INBOX_OPTIONS_INIT;
    options.queue_len_max = 10;
    options.name = "in box";
    begin(&options);
    send_numbers(0, 25);
    CHECK_EVENTUALLY(stage_stats(&stage).user.dropped[TROUPE_DROP_MAILBOX_FULL] == 15,
                     STAGE_PATIENCE_MS);
    for (uint64_t i = 0; i < 10; i++) {
        troupe_letter_t *letter = NULL;
        REQUIRE_OK(troupe_inbox_receive(inbox, 0, &letter));
        CHECK_EQ_U64(letter_number(letter), i);
        troupe_letter_free(&letter);
    }
    troupe_ref_t found = troupe_ref_none();
    CHECK_OK(troupe_node_lookup(&stage.node, "/user/in%20box", &found));
    CHECK_TRUE(troupe_ref_equal(found, troupe_inbox_ref(inbox)));
    end();
}

static void an_inbox_may_be_closed_while_it_is_full(void)
{
    begin(NULL);
    send_numbers(0, 1000);
    end();
    begin(NULL);
    stage_post(&stage, who, send_batch, &(batch_t){0, 0});
    end();
}

static void a_letter_may_outlive_its_inbox(void)
{
    troupe_letter_t *letter = NULL;
    begin(NULL);
    send_numbers(7, 1);
    REQUIRE_OK(troupe_inbox_receive(inbox, STAGE_PATIENCE_MS, &letter));
    troupe_inbox_close(&inbox);
    CHECK_EQ_U64(letter_number(letter), 7);
    troupe_letter_free(&letter);
    stage_close(&stage);
}

/* What flows into an inbox comes back to the senders: no memory is taken for good. */
static void a_flood_into_an_inbox_takes_no_more_memory(void)
{
    begin(NULL);
    size_t bytes = 0;
    uint64_t rounds = check_count(200, 2000);
    for (uint64_t round = 0; round < rounds; round++) {
        send_numbers(0, 500);
        for (uint64_t i = 0; i < 500; i++) {
            troupe_letter_t *letter = NULL;
            REQUIRE_OK(troupe_inbox_receive(inbox, STAGE_PATIENCE_MS, &letter));
            troupe_letter_free(&letter);
        }
        if (round == 20) {
            bytes = stage.node.runtime->depot.slab_bytes;
        }
    }
    CHECK_LE_U64(stage.node.runtime->depot.slab_bytes, bytes + (size_t)256 * 1024);
    end();
}

/* ---- asking ---------------------------------------------------------------------------------- */

static troupe_err_t answer(troupe_actor_t *self, probe_t *probe, const troupe_message_t *message)
{
    (void)probe;
    return troupe_reply(self, message->type, message->body, message->size);
}

static troupe_err_t ask_number(troupe_ref_t to, uint64_t number, uint32_t timeout_ms)
{
    troupe_letter_t *letter = NULL;
    troupe_err_t err = troupe_inbox_ask(inbox, to, TROUPE_TYPE_BYTES, &number, sizeof(number),
                                        timeout_ms, &letter);
    CHECK_EQ_U64(letter != NULL, err == TROUPE_OK);
    if (err == TROUPE_OK) {
        CHECK_EQ_U64(letter_number(letter), number);
        CHECK_TRUE(troupe_ref_equal(troupe_letter_message(letter)->sender, to));
    }
    troupe_letter_free(&letter);
    return err;
}

static void a_thread_asks_and_gets_the_answer(void)
{
    begin(NULL);
    probe_.on_message = answer;
    for (uint64_t i = 0; i < 200; i++) {
        CHECK_OK(ask_number(who, i, 60000));
    }
    end();
}

static void a_thread_that_asks_is_told_of_failures(void)
{
    char big[TROUPE_BODY_SIZE_MAX + 1] = {0};
    troupe_letter_t *letter = NULL;
    begin(NULL);
    uint64_t from = trp_clock_now();
    CHECK_ERR(ask_number(who, 1, 20), TROUPE_ETIMEOUT);
    CHECK_GE_U64(trp_clock_now() - from, 20 * TRP_NS_PER_MS);
    troupe_port_kill(stage.port, who);
    CHECK_TRUE(stage_is_gone(&stage, who));
    CHECK_ERR(ask_number(who, 1, 3600000), TROUPE_ENOACTOR);
    CHECK_ERR(ask_number((troupe_ref_t){4711, who.id}, 1, 3600000), TROUPE_ENODE);
    CHECK_ERR(ask_number(who, 1, 0), TROUPE_EINVAL);
    CHECK_ERR(ask_number(troupe_ref_none(), 1, 1), TROUPE_EINVAL);
    CHECK_ERR(troupe_inbox_ask(NULL, who, TROUPE_TYPE_BYTES, NULL, 0, 1, &letter), TROUPE_EINVAL);
    CHECK_ERR(troupe_inbox_ask(inbox, who, TROUPE_TYPE_BYTES, NULL, 5, 1, &letter), TROUPE_EINVAL);
    CHECK_ERR(troupe_inbox_ask(inbox, who, TROUPE_TYPE_BYTES, big, sizeof(big), 1, &letter),
              TROUPE_ETOOBIG);
    CHECK_ERR(troupe_inbox_ask(inbox, who, (troupe_type_t){0}, NULL, 0, 1, &letter), TROUPE_ETYPE);
    end();
}

static void a_large_question_and_answer_arrive_whole(void)
{
    static char big[TROUPE_BODY_SIZE_MAX];
    troupe_letter_t *letter = NULL;
    begin(NULL);
    probe_.on_message = answer;
    for (size_t i = 0; i < sizeof(big); i++) {
        big[i] = (char)(i * 31);
    }
    REQUIRE_OK(troupe_inbox_ask(inbox, who, TROUPE_TYPE_BYTES, big, sizeof(big), 60000, &letter));
    const troupe_message_t *message = troupe_letter_message(letter);
    CHECK_EQ_BYTES(message->body, message->size, big, sizeof(big));
    troupe_letter_free(&letter);
    end();
}

static troupe_err_t ask_inside(troupe_actor_t *self, probe_t *probe, void *argument)
{
    troupe_letter_t *letter = NULL;
    troupe_stats_t stats = {.size = sizeof(stats)};
    (void)probe;
    (void)argument;
    CHECK_ERR(troupe_inbox_ask(inbox, troupe_self(self), TROUPE_TYPE_BYTES, NULL, 0, 1, &letter),
              TROUPE_ETHREAD);
    CHECK_ERR(troupe_node_spawn(&stage.node, &puppet_behavior, NULL, NULL), TROUPE_ETHREAD);
    CHECK_ERR(troupe_node_stats(&stage.node, 1, &stats), TROUPE_ETHREAD);
    return TROUPE_OK;
}

static void what_waits_is_refused_on_a_dispatcher(void)
{
    begin(NULL);
    CHECK_OK(stage_do(&stage, who, ask_inside, NULL));
    end();
}

static void the_inbox_is_the_sender_of_what_it_tells(void)
{
    begin(NULL);
    probe_.on_message = answer;
    uint64_t number = 5;
    CHECK_OK(troupe_inbox_tell(inbox, who, TROUPE_TYPE_BYTES, &number, sizeof(number), 0));
    troupe_letter_t *letter = NULL;
    REQUIRE_OK(troupe_inbox_receive(inbox, STAGE_PATIENCE_MS, &letter));
    CHECK_EQ_U64(letter_number(letter), 5);
    troupe_letter_free(&letter);
    CHECK_ERR(troupe_inbox_tell(NULL, who, TROUPE_TYPE_BYTES, NULL, 0, 0), TROUPE_EINVAL);
    end();
}

typedef struct asker {
    uint64_t len;
    _Atomic uint64_t *faults;
    uint64_t index;
} asker_t;

static void *asker_run(void *argument)
{
    asker_t *asker = argument;
    for (uint64_t i = 0; i < asker->len; i++) {
        atomic_fetch_add(asker->faults,
                         ask_number(who, asker->index << 32 | i, 60000) != TROUPE_OK);
    }
    return NULL;
}

static void many_threads_ask_by_one_inbox(void)
{
    enum { ASKERS = 6 };
    pthread_t threads[ASKERS];
    asker_t askers[ASKERS];
    _Atomic uint64_t faults = 0;
    begin(NULL);
    probe_.on_message = answer;
    for (uint64_t i = 0; i < ASKERS; i++) {
        askers[i] = (asker_t){check_count(200, 20000), &faults, i};
        REQUIRE(pthread_create(&threads[i], NULL, asker_run, &askers[i]) == 0);
    }
    for (size_t i = 0; i < ASKERS; i++) {
        (void)pthread_join(threads[i], NULL);
    }
    CHECK_EQ_U64(atomic_load(&faults), 0);
    end();
}

typedef struct reader {
    _Atomic uint64_t *got;
    _Atomic uint64_t *sum;
    uint64_t len;
} reader_t;

static void *reader_run(void *argument)
{
    reader_t *reader = argument;
    while (atomic_load(reader->got) < reader->len) {
        troupe_letter_t *letter = NULL;
        if (troupe_inbox_receive(inbox, 5, &letter) == TROUPE_OK) {
            atomic_fetch_add(reader->sum, letter_number(letter));
            troupe_letter_free(&letter);
            atomic_fetch_add(reader->got, 1);
        }
    }
    return NULL;
}

static void many_threads_read_one_inbox_and_each_letter_goes_to_one(void)
{
    enum { READERS = 4 };
    pthread_t threads[READERS];
    _Atomic uint64_t got = 0;
    _Atomic uint64_t sum = 0;
    begin(NULL);
    reader_t reader = {&got, &sum, check_count(5000, 300000)};
    for (size_t i = 0; i < READERS; i++) {
        REQUIRE(pthread_create(&threads[i], NULL, reader_run, &reader) == 0);
    }
    for (uint64_t i = 0; i < reader.len; i += 100) {
        send_numbers(i, 100);
    }
    for (size_t i = 0; i < READERS; i++) {
        (void)pthread_join(threads[i], NULL);
    }
    CHECK_EQ_U64(atomic_load(&sum), reader.len * (reader.len - 1) / 2);
    end();
}

/* ---- the end --------------------------------------------------------------------------------- */

static void *wait_run(void *argument)
{
    troupe_letter_t *letter = NULL;
    *(troupe_err_t *)argument = troupe_inbox_receive(inbox, 600000, &letter);
    return NULL;
}

static void a_thread_that_waits_as_the_users_stop_is_told(void)
{
    pthread_t thread;
    troupe_err_t err = TROUPE_OK;
    begin(NULL);
    REQUIRE(pthread_create(&thread, NULL, wait_run, &err) == 0);
    CHECK_OK(trp_runtime_stop_users(stage.node.runtime, UINT64_MAX / 2));
    (void)pthread_join(thread, NULL);
    CHECK_ERR(err, TROUPE_ESTOPPED);
    troupe_letter_t *letter = NULL;
    CHECK_ERR(troupe_inbox_receive(inbox, 0, &letter), TROUPE_ESTOPPED);
    CHECK_ERR(ask_number(who, 1, 1000), TROUPE_ESTOPPED);
    troupe_inbox_t *another = NULL;
    CHECK_ERR(troupe_inbox_open(&stage.node, NULL, &another), TROUPE_ESTOPPED);
    end();
}

static void options_that_make_no_sense_are_refused(void)
{
    troupe_inbox_options_t options = TROUPE_INBOX_OPTIONS_INIT;
    troupe_inbox_t *another = NULL;
    begin(NULL);
    CHECK_ERR(troupe_inbox_open(NULL, NULL, &another), TROUPE_EINVAL);
    CHECK_ERR(troupe_inbox_open(&stage.node, NULL, NULL), TROUPE_EINVAL);
    options.name = "$";
    CHECK_ERR(troupe_inbox_open(&stage.node, &options, &another), TROUPE_EINVAL);
    options.name = NULL;
    options.size--;
    CHECK_ERR(troupe_inbox_open(&stage.node, &options, &another), TROUPE_EINVAL);
    CHECK_NULL(another);
    troupe_inbox_close(&another);
    troupe_inbox_close(NULL);
    end();
}

static const check_case_t cases[] = {
    CHECK_CASE(letters_come_in_order_with_their_sender),
    CHECK_CASE(receiving_waits_no_longer_than_its_time),
    CHECK_CASE(the_descriptor_is_readable_while_a_letter_waits),
    CHECK_CASE(more_letters_than_the_queue_holds_are_dead_letters),
    CHECK_CASE(an_inbox_may_be_closed_while_it_is_full),
    CHECK_CASE(a_letter_may_outlive_its_inbox),
    CHECK_CASE(a_flood_into_an_inbox_takes_no_more_memory),
    CHECK_CASE(a_thread_asks_and_gets_the_answer),
    CHECK_CASE(a_thread_that_asks_is_told_of_failures),
    CHECK_CASE(a_large_question_and_answer_arrive_whole),
    CHECK_CASE(what_waits_is_refused_on_a_dispatcher),
    CHECK_CASE(the_inbox_is_the_sender_of_what_it_tells),
    CHECK_CASE(many_threads_ask_by_one_inbox),
    CHECK_CASE(many_threads_read_one_inbox_and_each_letter_goes_to_one),
    CHECK_CASE(a_thread_that_waits_as_the_users_stop_is_told),
    CHECK_CASE(options_that_make_no_sense_are_refused),
};

CHECK_MAIN("actor.inbox", cases)
