/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* Tests of the frames of the admin socket: whole ones, cut ones, late ones, hostile ones. */

#include "node/admin_frame.h"

#include <pthread.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>

#include "base/clock.h"
#include "support/check.h"

typedef struct fixture {
    int fds[2];
    trp_buf_t in;
} fixture_t;

static void fixture_init(fixture_t *f)
{
    REQUIRE(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, f->fds) == 0);
    trp_buf_init(&f->in, 1024);
}

static void fixture_fini(fixture_t *f)
{
    trp_buf_fini(&f->in);
    close(f->fds[0]);
    close(f->fds[1]);
}

static uint64_t in_ms(uint64_t ms)
{
    return trp_clock_now() + trp_clock_from_ms(ms);
}

static void a_frame_comes_back_whole(void)
{
    fixture_t f;
    fixture_init(&f);
    CHECK_OK(trp_admin_frame_write(f.fds[0], -1, in_ms(5000), "hello", 5));
    CHECK_OK(trp_admin_frame_write(f.fds[0], -1, in_ms(5000), "x", 1));
    CHECK_OK(trp_admin_frame_read(f.fds[1], -1, in_ms(5000), &f.in));
    CHECK_EQ_BYTES(f.in.data, f.in.size, "hello", 5);
    CHECK_OK(trp_admin_frame_read(f.fds[1], -1, in_ms(5000), &f.in));
    CHECK_EQ_BYTES(f.in.data, f.in.size, "x", 1);
    fixture_fini(&f);
}

static void sizes_beyond_the_limit_take_no_memory(void)
{
    static const uint8_t heads[][4] = {{0, 0, 0, 0}, {1, 4, 0, 0}, {255, 255, 255, 255}};
    for (size_t i = 0; i < TRP_ARRAY_LEN(heads); i++) {
        fixture_t f;
        fixture_init(&f);
        CHECK_EQ_I64(write(f.fds[0], heads[i], 4), 4);
        CHECK_ERR(trp_admin_frame_read(f.fds[1], -1, in_ms(5000), &f.in), TROUPE_EPROTOCOL);
        CHECK_EQ_U64(f.in.capacity, 0);
        fixture_fini(&f);
    }
}

static void half_a_frame_times_out(void)
{
    fixture_t f;
    fixture_init(&f);
    CHECK_EQ_I64(write(f.fds[0], "\x05\0\0\0he", 6), 6);
    CHECK_ERR(trp_admin_frame_read(f.fds[1], -1, in_ms(20), &f.in), TROUPE_ETIMEOUT);
    fixture_fini(&f);
}

static void the_end_in_the_middle_is_told(void)
{
    fixture_t f;
    fixture_init(&f);
    CHECK_EQ_I64(write(f.fds[0], "\x05\0\0\0he", 6), 6);
    REQUIRE(shutdown(f.fds[0], SHUT_WR) == 0);
    CHECK_ERR(trp_admin_frame_read(f.fds[1], -1, in_ms(5000), &f.in), TROUPE_ESTOPPED);
    fixture_fini(&f);
}

static void a_stop_ends_the_wait(void)
{
    fixture_t f;
    fixture_init(&f);
    int stop_fd = eventfd(1, EFD_CLOEXEC);
    REQUIRE(stop_fd >= 0);
    CHECK_ERR(trp_admin_frame_read(f.fds[1], stop_fd, TRP_CLOCK_NEVER, &f.in), TROUPE_ECANCELED);
    close(stop_fd);
    fixture_fini(&f);
}

static void a_reader_that_does_not_read_times_out_the_writer(void)
{
    fixture_t f;
    fixture_init(&f);
    static char data[8 * 1024 * 1024];
    memset(data, 'x', sizeof(data));
    CHECK_ERR(trp_admin_frame_write(f.fds[0], -1, in_ms(20), data, sizeof(data)), TROUPE_ETIMEOUT);
    fixture_fini(&f);
}

static void a_reader_that_has_gone_raises_no_signal(void)
{
    fixture_t f;
    fixture_init(&f);
    close(f.fds[1]);
    CHECK_ERR(trp_admin_frame_write(f.fds[0], -1, in_ms(5000), "x", 1), TROUPE_ESTOPPED);
    f.fds[1] = f.fds[0];
    trp_buf_fini(&f.in);
    close(f.fds[0]);
}

static void *write_large(void *user)
{
    fixture_t *f = user;
    static char data[1000000];
    memset(data, 'y', sizeof(data));
    CHECK_OK(trp_admin_frame_write(f->fds[0], -1, in_ms(20000), data, sizeof(data)));
    return NULL;
}

static void a_large_frame_crosses_in_pieces(void)
{
    fixture_t f;
    pthread_t thread;
    fixture_init(&f);
    f.in.limit = TRP_ADMIN_REPLY_SIZE_MAX;
    REQUIRE(pthread_create(&thread, NULL, write_large, &f) == 0);
    CHECK_OK(trp_admin_frame_read(f.fds[1], -1, in_ms(20000), &f.in));
    CHECK_EQ_U64(f.in.size, 1000000);
    pthread_join(thread, NULL);
    fixture_fini(&f);
}

static const check_case_t cases[] = {
    CHECK_CASE(a_frame_comes_back_whole),
    CHECK_CASE(sizes_beyond_the_limit_take_no_memory),
    CHECK_CASE(half_a_frame_times_out),
    CHECK_CASE(the_end_in_the_middle_is_told),
    CHECK_CASE(a_stop_ends_the_wait),
    CHECK_CASE(a_reader_that_does_not_read_times_out_the_writer),
    CHECK_CASE(a_reader_that_has_gone_raises_no_signal),
    CHECK_CASE(a_large_frame_crosses_in_pieces),
};
CHECK_MAIN("node.admin_frame", cases)
