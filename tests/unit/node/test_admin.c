/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* Tests of the admin socket against clients that are silent, greedy, rude or gone. */

#include <troupe/troupe.h>

#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include "base/clock.h"
#include "node/admin_frame.h"
#include "support/check.h"

typedef struct fixture {
    troupe_node_t *node;
    char folder[64];
    char path[96];
    trp_buf_t in;
} fixture_t;

static void fixture_init(fixture_t *f, uint32_t clients_max)
{
    troupe_node_options_t options = TROUPE_NODE_OPTIONS_INIT;
    strcpy(f->folder, "/tmp/troupe-admin-XXXXXX");
    REQUIRE_NOT_NULL(mkdtemp(f->folder));
    snprintf(f->path, sizeof(f->path), "%s/socket", f->folder);
    options.dispatchers = 1;
    options.admin_socket = f->path;
    options.admin_clients_max = clients_max;
    REQUIRE_OK(troupe_node_create(&options, &f->node));
    REQUIRE_OK(troupe_node_start(f->node));
    trp_buf_init(&f->in, TRP_ADMIN_REPLY_SIZE_MAX);
}

static void fixture_fini(fixture_t *f)
{
    char lock[128];
    CHECK_OK(troupe_node_stop(f->node, 5000));
    troupe_node_destroy(&f->node);
    CHECK(access(f->path, F_OK) != 0);
    snprintf(lock, sizeof(lock), "%s.lock", f->path);
    unlink(lock);
    CHECK(rmdir(f->folder) == 0);
    trp_buf_fini(&f->in);
}

static int connect_client(const fixture_t *f)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    snprintf(address.sun_path, sizeof(address.sun_path), "%s", f->path);
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    REQUIRE(fd >= 0);
    REQUIRE(connect(fd, (struct sockaddr *)&address, sizeof(address)) == 0);
    return fd;
}

static uint64_t in_ms(uint64_t ms)
{
    return trp_clock_now() + trp_clock_from_ms(ms * check_slowness());
}

static void send_text(int fd, const char *text)
{
    CHECK_OK(trp_admin_frame_write(fd, -1, in_ms(5000), text, strlen(text)));
}

/* The next reply, zero-terminated; "" when there is none. */
static const char *next_reply(fixture_t *f, int fd)
{
    if (!CHECK_OK(trp_admin_frame_read(fd, -1, in_ms(5000), &f->in)) ||
        !CHECK_OK(trp_buf_append_u8(&f->in, 0))) {
        return "";
    }
    return (const char *)f->in.data;
}

static const char *exchange(fixture_t *f, int fd, const char *text)
{
    send_text(fd, text);
    return next_reply(f, fd);
}

#define CHECK_HAS(text, part)                                                                      \
    do {                                                                                           \
        const char *check_text = (text);                                                           \
        if (strstr(check_text, (part)) == NULL) {                                                  \
            CHECK_FAIL("%s lacks %s", check_text, (part));                                         \
        }                                                                                          \
    } while (0)

/* A client that may be turned away, even before it has spoken. */
static bool is_served(fixture_t *f)
{
    static const char ping[] = "\x0d\0\0\0{\"op\":\"ping\"}";
    int fd = connect_client(f);
    (void)!send(fd, ping, sizeof(ping) - 1, MSG_NOSIGNAL);
    bool is_up = trp_admin_frame_read(fd, -1, in_ms(5000), &f->in) == TROUPE_OK &&
                 memmem(f->in.data, f->in.size, "\"up\"", 4) != NULL;
    close(fd);
    return is_up;
}

/* What every test ends with: a new client is served, as soon as those that went are let go. */
static void check_alive(fixture_t *f)
{
    CHECK_EVENTUALLY(is_served(f), 10000);
}

static bool is_closed(int fd)
{
    char byte = 0;
    struct timeval limit = {(time_t)(5 * check_slowness()), 0};
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
    return recv(fd, &byte, 1, 0) == 0;
}

/* ---- good clients ---------------------------------------------------------------------------------- */

static void the_socket_is_for_its_owner_alone(void)
{
    fixture_t f;
    struct stat about;
    fixture_init(&f, 4);
    CHECK(stat(f.path, &about) == 0);
    CHECK_EQ_U64(about.st_mode & 0777u, 0600);
    check_alive(&f);
    fixture_fini(&f);
}

static void one_client_may_ask_many_things(void)
{
    fixture_t f;
    fixture_init(&f, 4);
    int fd = connect_client(&f);
    for (int i = 0; i < 200; i++) {
        CHECK_HAS(exchange(&f, fd, "{\"op\":\"info\"}"), "\"version\"");
        CHECK_HAS(exchange(&f, fd, "{\"op\":\"stats\"}"), "\"in_flight\"");
        CHECK_HAS(exchange(&f, fd, "{\"op\":\"pub\",\"topic\":\"t\",\"body\":\"x\"}"), "true");
    }
    CHECK_HAS(exchange(&f, fd, "{\"op\":\"tree\"}"), "/system/lookup");
    close(fd);
    fixture_fini(&f);
}

static void what_is_published_is_passed_on(void)
{
    fixture_t f;
    fixture_init(&f, 4);
    int sub = connect_client(&f);
    int pub = connect_client(&f);
    CHECK_HAS(exchange(&f, sub, "{\"op\":\"sub\",\"topic_hex\":\"00ff\"}"), "\"subscribed\":true");
    for (int i = 0; i < 100; i++) {
        char text[128];
        snprintf(text, sizeof(text),
                 "{\"op\":\"pub\",\"topic_hex\":\"00ff\",\"body\":\"%d\",\"confirm\":true}", i);
        CHECK_HAS(exchange(&f, pub, text), "\"subscribers\":1");
        snprintf(text, sizeof(text), "\"body\":\"%d\"", i);
        const char *reply = next_reply(&f, sub);
        CHECK_HAS(reply, text);
        CHECK_HAS(reply, "\"topic_hex\":\"00ff\"");
    }
    close(sub);
    close(pub);
    fixture_fini(&f);
}

/* ---- others ----------------------------------------------------------------------------------------- */

static void wrong_requests_are_refused_and_the_client_goes_on(void)
{
    static const char *const wrong[] = {"{", "[]", "{\"op\":\"fly\"}", "{\"op\":\"pub\"}", "\x01"};
    fixture_t f;
    fixture_init(&f, 4);
    int fd = connect_client(&f);
    for (size_t i = 0; i < TRP_ARRAY_LEN(wrong); i++) {
        CHECK_HAS(exchange(&f, fd, wrong[i]), "\"ok\":false,\"error\":\"TROUPE_EPROTOCOL\"");
    }
    CHECK_HAS(exchange(&f, fd, "{\"op\":\"ping\"}"), "\"ok\":true");
    close(fd);
    fixture_fini(&f);
}

static void a_frame_beyond_the_limit_ends_the_client(void)
{
    fixture_t f;
    fixture_init(&f, 4);
    int fd = connect_client(&f);
    CHECK_EQ_I64(write(fd, "\xff\xff\xff\xff", 4), 4);
    CHECK_HAS(next_reply(&f, fd), "the request is larger");
    CHECK(is_closed(fd));
    close(fd);
    check_alive(&f);
    fixture_fini(&f);
}

static void clients_beyond_the_bound_are_turned_away(void)
{
    fixture_t f;
    int fds[3];
    fixture_init(&f, 2);
    for (size_t i = 0; i < 2; i++) {
        fds[i] = connect_client(&f);
        CHECK_HAS(exchange(&f, fds[i], "{\"op\":\"ping\"}"), "\"ok\":true");
    }
    fds[2] = connect_client(&f);
    CHECK_HAS(next_reply(&f, fds[2]), "too many clients");
    for (size_t i = 0; i < 3; i++) {
        close(fds[i]);
    }
    /* Their places are free again once they are seen to have gone. */
    CHECK_EVENTUALLY(is_served(&f), 10000);
    fixture_fini(&f);
}

static void clients_that_go_at_any_moment_leave_nothing(void)
{
    static const char sub[] = "\x1c\0\0\0{\"op\":\"sub\",\"topic\":\"tttt\"}";
    fixture_t f;
    fixture_init(&f, 16);
    for (size_t cut = 0; cut <= sizeof(sub) - 1; cut++) {
        int fd = connect_client(&f);
        CHECK_EQ_I64(send(fd, sub, cut, MSG_NOSIGNAL), (int64_t)cut);
        close(fd);
    }
    troupe_stats_t stats = {.size = sizeof(stats)};
    /* Guardians, the look-up and the mediator stay: agents end with their clients. */
    CHECK_EVENTUALLY(troupe_node_stats(f.node, 5000, &stats) == TROUPE_OK && stats.actors <= 6,
                     10000);
    check_alive(&f);
    fixture_fini(&f);
}

static void a_subscriber_that_does_not_read_is_cut_off(void)
{
    fixture_t f;
    fixture_init(&f, 4);
    int sub = connect_client(&f);
    int pub = connect_client(&f);
    static char text[60000];
    CHECK_HAS(exchange(&f, sub, "{\"op\":\"sub\",\"topic\":\"t\"}"), "\"subscribed\":true");
    int used = snprintf(text, sizeof(text), "{\"op\":\"pub\",\"topic\":\"t\",\"body\":\"");
    memset(text + used, 'x', 50000);
    strcpy(text + used + 50000, "\"}");
    for (int i = 0; i < 300; i++) {
        CHECK_HAS(exchange(&f, pub, text), "\"ok\":true");
    }
    CHECK_HAS(exchange(&f, pub, "{\"op\":\"ping\"}"), "\"up\"");
    close(pub);
    fixture_fini(&f); /* Doesn't wait for the one that doesn't read. */
    close(sub);
}

static void silent_clients_do_not_hold_up_the_stop(void)
{
    fixture_t f;
    int fds[4];
    fixture_init(&f, 8);
    for (size_t i = 0; i < 4; i++) {
        fds[i] = connect_client(&f);
    }
    CHECK_HAS(exchange(&f, fds[0], "{\"op\":\"sub\",\"topic\":\"t\"}"), "\"subscribed\":true");
    send_text(fds[1], "{\"op\":\"ask\",\"target\":\"/system/lookup\",\"timeout_ms\":600000}");
    uint64_t begin = check_now_ms();
    fixture_fini(&f);
    CHECK_LT_U64(check_now_ms() - begin, 3000 * check_slowness());
    for (size_t i = 0; i < 4; i++) {
        close(fds[i]);
    }
}

/* ---- the socket's name -------------------------------------------------------------------------------- */

static void two_nodes_do_not_share_a_socket(void)
{
    fixture_t f;
    troupe_node_t *second = NULL;
    troupe_node_options_t options = TROUPE_NODE_OPTIONS_INIT;
    fixture_init(&f, 4);
    options.admin_socket = f.path;
    REQUIRE_OK(troupe_node_create(&options, &second));
    CHECK_ERR(troupe_node_start(second), TROUPE_EADDRINUSE);
    troupe_node_destroy(&second);
    check_alive(&f);
    fixture_fini(&f);
}

static void paths_that_can_not_be_are_refused(void)
{
    char long_path[200];
    troupe_node_options_t options = TROUPE_NODE_OPTIONS_INIT;
    memset(long_path, 'x', sizeof(long_path) - 1);
    long_path[0] = '/';
    long_path[sizeof(long_path) - 1] = '\0';
    const char *const paths[] = {long_path, "/nowhere/at/all"};
    for (size_t i = 0; i < TRP_ARRAY_LEN(paths); i++) {
        troupe_node_t *node = NULL;
        options.admin_socket = paths[i];
        REQUIRE_OK(troupe_node_create(&options, &node));
        CHECK_ERR(troupe_node_start(node), TROUPE_ECONFIG);
        troupe_node_destroy(&node);
    }
}

static const check_case_t cases[] = {
    CHECK_CASE(the_socket_is_for_its_owner_alone),
    CHECK_CASE(one_client_may_ask_many_things),
    CHECK_CASE(what_is_published_is_passed_on),
    CHECK_CASE(wrong_requests_are_refused_and_the_client_goes_on),
    CHECK_CASE(a_frame_beyond_the_limit_ends_the_client),
    CHECK_CASE(clients_beyond_the_bound_are_turned_away),
    CHECK_CASE(clients_that_go_at_any_moment_leave_nothing),
    CHECK_CASE(a_subscriber_that_does_not_read_is_cut_off),
    CHECK_CASE(silent_clients_do_not_hold_up_the_stop),
    CHECK_CASE(two_nodes_do_not_share_a_socket),
    CHECK_CASE(paths_that_can_not_be_are_refused),
};
CHECK_MAIN("node.admin", cases)
