/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* Who is let in: keys, cluster names, versions, sections; and strangers who only hold connections. */

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "pair.h"
#include "proxy.h"

#define UID_A UINT64_C(0xa1)
#define UID_B UINT64_C(0xb2)

static trp_link_key_t public_keys[3];
static trp_link_key_t secret_keys[3];

static void keys_make(void)
{
    for (uint32_t i = 0; i < 3; i++) {
        REQUIRE_OK(trp_link_keygen(&public_keys[i], &secret_keys[i]));
    }
}

/* An end with key `own` that lets in the keys of the list. */
static void keys_prepare(pair_end_t *end, uint64_t uid, uint32_t own, const trp_link_allow_t *allow,
                         size_t len)
{
    pair_prepare(end, uid);
    end->options.public_key = &public_keys[own];
    end->options.secret_key = &secret_keys[own];
    end->options.allow = allow;
    end->options.allow_len = len;
}

static void nodes_with_each_others_keys_connect(void)
{
    keys_make();
    const trp_link_allow_t of_a[] = {{public_keys[1], NULL}};
    const trp_link_allow_t of_b[] = {{public_keys[0], NULL}};
    pair_end_t a, b;
    keys_prepare(&a, UID_A, 0, of_a, 1);
    keys_prepare(&b, UID_B, 1, of_b, 1);
    REQUIRE_OK(pair_start(&a));
    REQUIRE_OK(pair_start(&b));
    CHECK_OK(trp_link_dial(a.link, trp_link_address(b.link), 0));
    CHECK_EVENTUALLY(pair_is_up(&a, UID_B) && pair_is_up(&b, UID_A), PAIR_WAIT_MS);
    CHECK_OK(pair_send(&a, UID_B, 1));
    CHECK_EVENTUALLY(atomic_load(&b.received) == 1, PAIR_WAIT_MS);
    trp_link_destroy(&a.link);
    trp_link_destroy(&b.link);
}

static void the_right_key_is_found_among_many(void)
{
    keys_make();
    const trp_link_allow_t all[] = {
        {public_keys[0], NULL}, {public_keys[2], NULL}, {public_keys[1], NULL}};
    pair_end_t a, b;
    keys_prepare(&a, UID_A, 0, all, 3);
    keys_prepare(&b, UID_B, 1, all, 3);
    REQUIRE_OK(pair_start(&a));
    REQUIRE_OK(pair_start(&b));
    CHECK_OK(trp_link_dial(a.link, trp_link_address(b.link), 0));
    CHECK_EVENTUALLY(pair_is_up(&a, UID_B) && pair_is_up(&b, UID_A), PAIR_WAIT_MS);
    trp_link_destroy(&a.link);
    trp_link_destroy(&b.link);
}

static void a_key_that_is_not_allowed_is_refused_on_both_sides(void)
{
    keys_make();
    const trp_link_allow_t of_a[] = {{public_keys[1], NULL}};
    const trp_link_allow_t of_b[] = {{public_keys[2], NULL}};
    pair_end_t a, b;
    keys_prepare(&a, UID_A, 0, of_a, 1);
    keys_prepare(&b, UID_B, 1, of_b, 1);
    REQUIRE_OK(pair_start(&a));
    REQUIRE_OK(pair_start(&b));
    CHECK_OK(trp_link_dial(a.link, trp_link_address(b.link), 0));
    CHECK_EVENTUALLY(pair_events(&b, TRP_LINK_EVENT_REFUSED) >= 1, PAIR_WAIT_MS);
    CHECK_EQ_I64(atomic_load(&b.last_reason), TROUPE_EAUTH);
    CHECK_EVENTUALLY(pair_events(&a, TRP_LINK_EVENT_FAILED) >= 1, PAIR_WAIT_MS);
    CHECK_EQ_I64(atomic_load(&a.last_reason), TROUPE_EAUTH);
    CHECK_FALSE(pair_is_up(&a, UID_B));
    trp_link_destroy(&a.link);
    trp_link_destroy(&b.link);
}

static void a_wrong_server_key_is_told_as_such(void)
{
    keys_make();
    const trp_link_allow_t of_a[] = {{public_keys[2], NULL}}; /* Not that of b. */
    const trp_link_allow_t of_b[] = {{public_keys[0], NULL}};
    pair_end_t a, b;
    keys_prepare(&a, UID_A, 0, of_a, 1);
    keys_prepare(&b, UID_B, 1, of_b, 1);
    REQUIRE_OK(pair_start(&a));
    REQUIRE_OK(pair_start(&b));
    CHECK_OK(trp_link_dial(a.link, trp_link_address(b.link), 0));
    CHECK_EVENTUALLY(pair_events(&a, TRP_LINK_EVENT_FAILED) >= 1, PAIR_WAIT_MS);
    CHECK_EQ_I64(atomic_load(&a.last_reason), TROUPE_EAUTH);
    trp_link_destroy(&a.link);
    trp_link_destroy(&b.link);
}

static void a_node_without_keys_is_not_let_in_where_keys_rule(void)
{
    keys_make();
    const trp_link_allow_t of_b[] = {{public_keys[0], NULL}};
    pair_end_t a, b;
    pair_prepare(&a, UID_A);
    keys_prepare(&b, UID_B, 1, of_b, 1);
    REQUIRE_OK(pair_start(&a));
    REQUIRE_OK(pair_start(&b));
    CHECK_OK(trp_link_dial(a.link, trp_link_address(b.link), 0));
    CHECK_EVENTUALLY(pair_events(&a, TRP_LINK_EVENT_FAILED) >= 1, PAIR_WAIT_MS);
    CHECK_FALSE(pair_is_up(&a, UID_B));
    CHECK_FALSE(pair_is_up(&b, UID_A));
    trp_link_destroy(&a.link);
    trp_link_destroy(&b.link);
}

static void another_cluster_is_refused_with_its_reason_on_both_sides(void)
{
    pair_end_t a, b;
    pair_prepare(&a, UID_A);
    a.options.cluster = "other";
    REQUIRE_OK(pair_start(&a));
    pair_open(&b, UID_B);
    CHECK_OK(trp_link_dial(a.link, trp_link_address(b.link), 0));
    CHECK_EVENTUALLY(pair_events(&a, TRP_LINK_EVENT_REFUSED) >= 1, PAIR_WAIT_MS);
    CHECK_EVENTUALLY(pair_events(&b, TRP_LINK_EVENT_REFUSED) >= 1, PAIR_WAIT_MS);
    CHECK_EQ_I64(atomic_load(&a.last_reason), TROUPE_ECLUSTER);
    CHECK_FALSE(atomic_load(&a.last_by_us));
    CHECK_EQ_I64(atomic_load(&b.last_reason), TROUPE_ECLUSTER);
    CHECK_TRUE(atomic_load(&b.last_by_us));
    trp_link_destroy(&a.link);
    trp_link_destroy(&b.link);
}

static void versions_that_overlap_talk_and_others_are_refused(void)
{
    pair_end_t a, b;
    pair_prepare(&a, UID_A);
    a.options.version = 7;
    a.options.version_min = 1;
    REQUIRE_OK(pair_start(&a));
    pair_open(&b, UID_B);
    CHECK_OK(trp_link_dial(a.link, trp_link_address(b.link), 0));
    CHECK_EVENTUALLY(pair_is_up(&a, UID_B) && pair_is_up(&b, UID_A), PAIR_WAIT_MS);
    trp_link_destroy(&a.link);
    pair_prepare(&a, UID_A + 1);
    a.options.version = 7;
    a.options.version_min = 5;
    REQUIRE_OK(pair_start(&a));
    CHECK_OK(trp_link_dial(a.link, trp_link_address(b.link), 0));
    CHECK_EVENTUALLY(pair_events(&a, TRP_LINK_EVENT_REFUSED) >= 1, PAIR_WAIT_MS);
    CHECK_EQ_I64(atomic_load(&a.last_reason), TROUPE_EVERSION);
    trp_link_destroy(&a.link);
    trp_link_destroy(&b.link);
}

static troupe_err_t section_get(void *context, trp_buf_t *out)
{
    return trp_buf_append_string(out, context);
}

static troupe_err_t section_check(void *context, uint64_t uid, trp_view_t section, char *text,
                                  size_t text_size)
{
    (void)uid;
    if (trp_view_equal_string(section, context)) {
        return TROUPE_OK;
    }
    (void)snprintf(text, text_size, "not the same protocols");
    return TROUPE_EVERSION;
}

static void section_start(pair_end_t *end, uint64_t uid, char *text)
{
    pair_prepare(end, uid);
    REQUIRE_OK(trp_link_create(&end->options, &end->link));
    CHECK_OK(trp_link_listen(end->link, TRP_LINK_ON_LINK_THREAD, pair_on_event, end));
    const trp_link_section_t section = {"rpc", section_get, section_check, text};
    CHECK_OK(trp_link_add_section(end->link, &section));
    CHECK_ERR(trp_link_add_section(end->link, &section), TROUPE_EEXIST);
    REQUIRE_OK(trp_link_start(end->link));
}

static void a_section_of_a_room_above_can_refuse(void)
{
    static char one[] = "one";
    static char two[] = "two";
    pair_end_t a, b;
    section_start(&a, UID_A, one);
    section_start(&b, UID_B, one);
    CHECK_OK(trp_link_dial(a.link, trp_link_address(b.link), 0));
    CHECK_EVENTUALLY(pair_is_up(&a, UID_B), PAIR_WAIT_MS);
    trp_link_destroy(&b.link);
    section_start(&b, UID_B + 1, two);
    CHECK_OK(trp_link_dial(a.link, trp_link_address(b.link), 0));
    CHECK_EVENTUALLY(pair_events(&a, TRP_LINK_EVENT_REFUSED) >= 1, PAIR_WAIT_MS);
    CHECK_EQ_I64(atomic_load(&a.last_reason), TROUPE_EVERSION);
    trp_link_destroy(&a.link);
    trp_link_destroy(&b.link);
}

static void listening_beyond_loopback_needs_keys_or_permission(void)
{
    pair_end_t a;
    pair_prepare(&a, UID_A);
    a.options.listen = "0.0.0.0:0";
    CHECK_ERR(pair_start(&a), TROUPE_EPERM);
    trp_link_destroy(&a.link);
    a.options.insecure_ok = true;
    CHECK_OK(pair_start(&a));
    trp_link_destroy(&a.link);
    keys_make();
    keys_prepare(&a, UID_A, 0, NULL, 0);
    a.options.listen = "0.0.0.0:0";
    CHECK_OK(pair_start(&a));
    trp_link_destroy(&a.link);
}

static void an_address_in_use_is_told(void)
{
    pair_end_t a, b;
    pair_open(&a, UID_A);
    pair_prepare(&b, UID_B);
    b.options.listen = trp_link_address(a.link);
    CHECK_ERR(pair_start(&b), TROUPE_EADDRINUSE);
    trp_link_destroy(&b.link);
    b.options.listen = "no-colon";
    CHECK_ERR(pair_start(&b), TROUPE_EINVAL);
    CHECK_ERR(trp_link_dial(a.link, "no-colon", 0), TROUPE_EINVAL);
    CHECK_ERR(trp_link_dial(a.link, "host:notaport", 0), TROUPE_EINVAL);
    trp_link_destroy(&a.link);
}

/* ---- strangers ------------------------------------------------------------------------------- */

static int stranger_connect(const char *address)
{
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
    struct sockaddr_in to = {.sin_family = AF_INET,
                             .sin_port = htons(proxy_port_of(address)),
                             .sin_addr = {htonl(INADDR_LOOPBACK)}};
    if (fd >= 0) {
        (void)!connect(fd, (struct sockaddr *)&to, sizeof(to));
    }
    return fd;
}

static void silent_strangers_do_not_keep_a_node_out(void)
{
    pair_end_t a, b;
    pair_open(&a, UID_A);
    pair_open(&b, UID_B);
    int fds[200];
    for (uint32_t i = 0; i < TRP_ARRAY_LEN(fds); i++) {
        fds[i] = stranger_connect(trp_link_address(b.link));
    }
    CHECK_OK(trp_link_dial(a.link, trp_link_address(b.link), 0));
    CHECK_EVENTUALLY(pair_is_up(&a, UID_B) && pair_is_up(&b, UID_A), PAIR_WAIT_MS);
    for (uint32_t i = 0; i < TRP_ARRAY_LEN(fds); i++) {
        (void)close(fds[i]);
    }
    trp_link_destroy(&a.link);
    trp_link_destroy(&b.link);
}

static void a_flood_of_connections_is_refused_and_peers_stay(void)
{
    pair_end_t a, b;
    pair_open(&a, UID_A);
    pair_prepare(&b, UID_B);
    b.options.connections_max = 16;
    REQUIRE_OK(pair_start(&b));
    CHECK_OK(trp_link_dial(a.link, trp_link_address(b.link), 0));
    CHECK_EVENTUALLY(pair_is_up(&a, UID_B) && pair_is_up(&b, UID_A), PAIR_WAIT_MS);
    int fds[200];
    for (uint32_t i = 0; i < TRP_ARRAY_LEN(fds); i++) {
        fds[i] = stranger_connect(trp_link_address(b.link));
    }
    for (uint64_t i = 1; i <= 20; i++) {
        CHECK_OK(pair_send(&a, UID_B, 1));
        CHECK_EVENTUALLY(atomic_load(&b.received) == i, PAIR_WAIT_MS);
    }
    for (uint32_t i = 0; i < TRP_ARRAY_LEN(fds); i++) {
        (void)close(fds[i]);
    }
    /* And once they are gone, newcomers are let in again. */
    pair_end_t c;
    pair_open(&c, UID_B + 1);
    CHECK_OK(trp_link_dial(c.link, trp_link_address(b.link), 0));
    CHECK_EVENTUALLY(pair_is_up(&c, UID_B), PAIR_WAIT_MS);
    CHECK_EQ_U64(pair_events(&a, TRP_LINK_EVENT_LOST), 0);
    trp_link_destroy(&a.link);
    trp_link_destroy(&b.link);
    trp_link_destroy(&c.link);
}

static void running_out_of_descriptors_is_survived(void)
{
    pair_end_t a, b;
    pair_open(&a, UID_A);
    pair_open(&b, UID_B);
    CHECK_OK(trp_link_dial(a.link, trp_link_address(b.link), 0));
    CHECK_EVENTUALLY(pair_is_up(&a, UID_B) && pair_is_up(&b, UID_A), PAIR_WAIT_MS);
    struct rlimit before;
    REQUIRE(getrlimit(RLIMIT_NOFILE, &before) == 0);
    int probe = dup(0);
    struct rlimit tight = {(rlim_t)probe + 20, before.rlim_max};
    (void)close(probe);
    REQUIRE(setrlimit(RLIMIT_NOFILE, &tight) == 0);
    /* The clients' half lies in a child with a limit of its own. */
    pid_t child = fork();
    if (child == 0) {
        (void)setrlimit(RLIMIT_NOFILE, &before);
        for (uint32_t i = 0; i < 200; i++) {
            (void)!stranger_connect(trp_link_address(b.link));
        }
        (void)usleep(500000);
        _exit(0);
    }
    for (uint64_t i = 1; i <= 20; i++) {
        CHECK_OK(pair_send(&a, UID_B, 1));
        CHECK_EVENTUALLY(atomic_load(&b.received) == i, PAIR_WAIT_MS);
        (void)CHECK_WAIT(false, 20);
    }
    (void)setrlimit(RLIMIT_NOFILE, &before);
    CHECK_TRUE(pair_is_up(&a, UID_B));
    trp_link_destroy(&a.link);
    trp_link_destroy(&b.link);
}

static void bytes_of_no_protocol_are_ignored(void)
{
    pair_end_t a, b;
    pair_open(&a, UID_A);
    pair_open(&b, UID_B);
    int fd = stranger_connect(trp_link_address(b.link));
    (void)CHECK_WAIT(false, 50);
    char junk[4096];
    memset(junk, 0x5a, sizeof(junk));
    (void)!send(fd, junk, sizeof(junk), MSG_NOSIGNAL);
    CHECK_OK(trp_link_dial(a.link, trp_link_address(b.link), 0));
    CHECK_EVENTUALLY(pair_is_up(&a, UID_B) && pair_is_up(&b, UID_A), PAIR_WAIT_MS);
    (void)close(fd);
    trp_link_destroy(&a.link);
    trp_link_destroy(&b.link);
}

/* ---- key files ------------------------------------------------------------------------------- */

static void a_key_file_keeps_its_key_and_is_private(void)
{
    keys_make();
    char path[64] = "/tmp/troupe-key-XXXXXX";
    int fd = mkstemp(path);
    REQUIRE(fd >= 0);
    (void)close(fd);
    CHECK_ERR(trp_link_key_save(path, &secret_keys[0]), TROUPE_EEXIST);
    (void)unlink(path);
    trp_link_key_t key;
    CHECK_ERR(trp_link_key_load(path, true, &key), TROUPE_ENOENT);
    CHECK_OK(trp_link_key_save(path, &secret_keys[0]));
    struct stat status;
    CHECK_EQ_I64(stat(path, &status), 0);
    CHECK_EQ_U64(status.st_mode & 0777u, 0600);
    CHECK_OK(trp_link_key_load(path, true, &key));
    CHECK_STR(key.text, secret_keys[0].text);
    trp_link_key_t public_key;
    CHECK_OK(trp_link_key_public(&key, &public_key));
    CHECK_STR(public_key.text, public_keys[0].text);
    CHECK_EQ_I64(chmod(path, 0644), 0);
    CHECK_ERR(trp_link_key_load(path, true, &key), TROUPE_EPERM);
    CHECK_OK(trp_link_key_load(path, false, &key));
    fd = open(path, O_WRONLY | O_TRUNC);
    CHECK_EQ_I64(write(fd, "short\n", 6), 6);
    (void)close(fd);
    CHECK_ERR(trp_link_key_load(path, false, &key), TROUPE_EINVAL);
    (void)unlink(path);
}

static const check_case_t cases[] = {
    CHECK_CASE(nodes_with_each_others_keys_connect),
    CHECK_CASE(the_right_key_is_found_among_many),
    CHECK_CASE(a_key_that_is_not_allowed_is_refused_on_both_sides),
    CHECK_CASE(a_wrong_server_key_is_told_as_such),
    CHECK_CASE(a_node_without_keys_is_not_let_in_where_keys_rule),
    CHECK_CASE(another_cluster_is_refused_with_its_reason_on_both_sides),
    CHECK_CASE(versions_that_overlap_talk_and_others_are_refused),
    CHECK_CASE(a_section_of_a_room_above_can_refuse),
    CHECK_CASE(listening_beyond_loopback_needs_keys_or_permission),
    CHECK_CASE(an_address_in_use_is_told),
    CHECK_CASE(silent_strangers_do_not_keep_a_node_out),
    CHECK_CASE(a_flood_of_connections_is_refused_and_peers_stay),
    CHECK_CASE(running_out_of_descriptors_is_survived),
    CHECK_CASE(bytes_of_no_protocol_are_ignored),
    CHECK_CASE(a_key_file_keeps_its_key_and_is_private),
};

CHECK_MAIN("link.security", cases)
