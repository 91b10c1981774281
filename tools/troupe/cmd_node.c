/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* Runs a node until it is told to stop.
 *
 * The main thread waits in poll for three things: signals (a signalfd), the node's changes of state
 * (an eventfd that its callback writes) and the end of a stop, which runs on a thread of its own so
 * that a second signal is heard. */

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <troupe/node.h>

#include "base/clock.h"
#include "base/text.h"
#include "client.h"
#include "log_sink.h"
#include "settings.h"
#include "tool.h"

#define NODE_PATH_SIZE 4096
#define NODE_EXIT_AT_ONCE 1

/* What ends one incarnation of the node. */
typedef enum node_end {
    NODE_RUNS = 0,
    NODE_SIGNALLED,
    NODE_HAS_LEFT, /* An operator let it leave. */
    NODE_IS_DOWN,
    NODE_IS_REFUSED,
    NODE_IS_LATE,
} node_end_t;

typedef struct node_program {
    troupe_config_t *config;
    troupe_node_options_t options;
    log_sink_t sink;
    char log_file[NODE_PATH_SIZE];
    char admin_socket[NODE_PATH_SIZE];
    int signal_fd;
    int event_fd; /* Written when `state` has changed, or a stop has ended. */
    troupe_node_t *node;
    uint32_t stop_timeout_ms;
    uint32_t join_timeout_ms;
    bool rejoins;
    bool exits_when_refused;
    _Atomic uint32_t state;
    _Atomic uint32_t reason;
    _Atomic bool was_refused;
    _Atomic bool is_stopped;
    troupe_err_t stop_error;
} node_program_t;

/* ---- records of the program's own ---------------------------------------------------------------- */

static void node_log(node_program_t *program, troupe_log_level_t level, const char *event,
                     const char *key, const char *value)
{
    troupe_log_field_t field = {key, value};
    troupe_log_record_t record = {trp_clock_wall_ms(), level, TROUPE_LOG_NODE, event, &field,
                                  key != NULL ? 1 : 0};
    if (level >= program->options.log_level) {
        log_sink_write(&record, &program->sink);
    }
}

static void node_wake(node_program_t *program)
{
    uint64_t one = 1;
    ssize_t written = write(program->event_fd, &one, sizeof(one));
    (void)written; /* Fails only when it is full, and then it is readable already. */
}

static void node_on_state(troupe_node_t *node, troupe_node_state_t state, troupe_err_t reason,
                          void *user)
{
    node_program_t *program = user;
    (void)node;
    atomic_store(&program->reason, (uint32_t)reason);
    atomic_store(&program->state, (uint32_t)state);
    if (state == TROUPE_NODE_REFUSED) {
        atomic_store(&program->was_refused, true);
    }
    node_wake(program);
}

/* ---- setting up ---------------------------------------------------------------------------------- */

/* The admin socket: as configured, none for `none`, else a path of our own. */
static void node_choose_socket(node_program_t *program)
{
    const char *given = program->options.admin_socket;
    if (given != NULL) {
        program->options.admin_socket = strcmp(given, "none") == 0 ? NULL : given;
        return;
    }
    if (tool_socket_default(program->admin_socket, sizeof(program->admin_socket), true)) {
        program->options.admin_socket = program->admin_socket;
        return;
    }
    node_log(program, TROUPE_LOG_WARN, "admin.no_folder", "path", program->admin_socket);
}

static void node_read_config(node_program_t *program)
{
    program->options = *troupe_config_node_options(program->config);
    program->options.on_state = node_on_state;
    program->options.on_state_user = program;
    program->options.log = log_sink_write;
    program->options.log_user = &program->sink;
    program->stop_timeout_ms = tool_config_number(program->config, "node.stop_timeout_ms");
    program->join_timeout_ms = tool_config_number(program->config, "node.join_timeout_ms");
    program->rejoins = tool_config_is_on(program->config, "node.rejoin");
    program->exits_when_refused = tool_config_is_on(program->config, "node.exit_when_refused");
}

static bool node_open_log(node_program_t *program)
{
    char format[8];
    tool_config_text(program->config, "log.file", program->log_file, sizeof(program->log_file));
    tool_config_text(program->config, "log.format", format, sizeof(format));
    const char *path = program->log_file[0] != '\0' ? program->log_file : NULL;
    if (!log_sink_open(&program->sink, path, strcmp(format, "json") == 0)) {
        tool_complain("log.file: %s can't be opened: %s", path, trp_text_of_errno(errno));
        return false;
    }
    return true;
}

/* Signals are taken by the signalfd alone: threads made from here on have them blocked. */
static bool node_open_fds(node_program_t *program)
{
    sigset_t signals;
    sigemptyset(&signals);
    sigaddset(&signals, SIGTERM);
    sigaddset(&signals, SIGINT);
    sigaddset(&signals, SIGHUP);
    pthread_sigmask(SIG_BLOCK, &signals, NULL);
    program->signal_fd = signalfd(-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK);
    program->event_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    return program->signal_fd >= 0 && program->event_fd >= 0;
}

/* ---- signals and states --------------------------------------------------------------------------- */

/* Takes the signals that wait. True when one of them asks for the end. */
static bool node_take_signals(node_program_t *program)
{
    struct signalfd_siginfo info;
    bool is_end = false;
    while (read(program->signal_fd, &info, sizeof(info)) == (ssize_t)sizeof(info)) {
        if (info.ssi_signo == SIGHUP) {
            bool is_open = log_sink_reopen(&program->sink);
            node_log(program, is_open ? TROUPE_LOG_INFO : TROUPE_LOG_ERROR, "log.reopened", "ok",
                     is_open ? "yes" : "no");
        } else {
            is_end = true;
        }
    }
    return is_end;
}

static void node_drain_events(node_program_t *program)
{
    uint64_t count = 0;
    ssize_t got = read(program->event_fd, &count, sizeof(count));
    (void)got;
}

static node_end_t node_judge_state(const node_program_t *program)
{
    uint32_t state = atomic_load(&program->state);
    if (atomic_load(&program->was_refused) && program->exits_when_refused) {
        return NODE_IS_REFUSED;
    }
    if (state == TROUPE_NODE_DOWN) {
        return NODE_IS_DOWN;
    }
    return state == TROUPE_NODE_LEFT ? NODE_HAS_LEFT : NODE_RUNS;
}

static int node_poll_ms(uint64_t deadline_ns)
{
    uint64_t now = trp_clock_now();
    if (deadline_ns == TRP_CLOCK_NEVER) {
        return -1;
    }
    return deadline_ns <= now ? 0 : (int)((deadline_ns - now) / TRP_NS_PER_MS) + 1;
}

/* Waits until something ends this incarnation. */
static node_end_t node_wait(node_program_t *program)
{
    uint64_t join_deadline = TRP_CLOCK_NEVER;
    if (program->join_timeout_ms > 0) {
        join_deadline = trp_clock_add(trp_clock_now(), trp_clock_from_ms(program->join_timeout_ms));
    }
    for (;;) {
        node_end_t end = node_judge_state(program);
        bool has_joined = atomic_load(&program->state) == TROUPE_NODE_UP;
        join_deadline = has_joined ? TRP_CLOCK_NEVER : join_deadline;
        if (end != NODE_RUNS) {
            return end;
        }
        if (trp_clock_now() >= join_deadline) {
            return NODE_IS_LATE;
        }
        struct pollfd fds[2] = {{program->signal_fd, POLLIN, 0}, {program->event_fd, POLLIN, 0}};
        int len = poll(fds, 2, node_poll_ms(join_deadline));
        if (len < 0 && errno != EINTR) {
            return NODE_SIGNALLED;
        }
        node_drain_events(program);
        if (node_take_signals(program)) {
            return NODE_SIGNALLED;
        }
    }
}

/* ---- stopping ------------------------------------------------------------------------------------- */

static void *node_stop_main(void *user)
{
    node_program_t *program = user;
    program->stop_error = troupe_node_stop(program->node, program->stop_timeout_ms);
    /* Release: pairs with the acquire of node_stop, which reads stop_error. */
    atomic_store_explicit(&program->is_stopped, true, memory_order_release);
    node_wake(program);
    return NULL;
}

/* Waits for the stop; a further signal ends the process at once. */
static void node_stop_wait(node_program_t *program)
{
    while (!atomic_load_explicit(&program->is_stopped, memory_order_acquire)) {
        struct pollfd fds[2] = {{program->signal_fd, POLLIN, 0}, {program->event_fd, POLLIN, 0}};
        poll(fds, 2, -1);
        node_drain_events(program);
        if (node_take_signals(program)) {
            node_log(program, TROUPE_LOG_WARN, "node.ended_at_once", NULL, NULL);
            _exit(NODE_EXIT_AT_ONCE);
        }
    }
}

static troupe_err_t node_stop(node_program_t *program)
{
    pthread_t thread;
    atomic_store(&program->is_stopped, false);
    if (pthread_create(&thread, NULL, node_stop_main, program) != 0) {
        return troupe_node_stop(program->node, program->stop_timeout_ms);
    }
    node_stop_wait(program);
    pthread_join(thread, NULL);
    return program->stop_error;
}

/* ---- one incarnation ------------------------------------------------------------------------------- */

static void node_complain_start(troupe_err_t err, const troupe_node_options_t *options)
{
    if (err == TROUPE_EADDRINUSE) {
        tool_complain("node.bind %s or admin.socket %s is in use by another process",
                      options->bind != NULL ? options->bind : "-",
                      options->admin_socket != NULL ? options->admin_socket : "-");
    } else {
        tool_complain("the node can't be started: %s", troupe_err_text(err));
    }
}

/* Starts, waits and stops. */
static tool_exit_t node_live_once(node_program_t *program, node_end_t *ret_end)
{
    atomic_store(&program->state, TROUPE_NODE_CREATED);
    atomic_store(&program->was_refused, false);
    troupe_err_t err = troupe_node_create(&program->options, &program->node);
    if (err == TROUPE_OK) {
        err = troupe_node_start(program->node);
    }
    if (err != TROUPE_OK) {
        node_complain_start(err, &program->options);
        troupe_node_destroy(&program->node);
        return TOOL_FAILED;
    }
    *ret_end = node_wait(program);
    troupe_err_t reason = (troupe_err_t)atomic_load(&program->reason);
    err = node_stop(program);
    troupe_node_destroy(&program->node);
    switch (*ret_end) {
    case NODE_IS_REFUSED:
        tool_complain("the cluster refused this node: %s", troupe_err_text(reason));
        return TOOL_REFUSED;
    case NODE_IS_LATE:
        tool_complain("not up within node.join_timeout_ms");
        return TOOL_TIMEOUT;
    case NODE_IS_DOWN:
        return TOOL_DOWNED;
    case NODE_RUNS:
    case NODE_SIGNALLED:
    case NODE_HAS_LEFT:
        break;
    }
    return err == TROUPE_OK || err == TROUPE_ETIMEOUT ? TOOL_OK : TOOL_FAILED;
}

/* A node that was downed comes back under a new uid, unless told not to. */
static tool_exit_t node_live(node_program_t *program)
{
    for (;;) {
        node_end_t end = NODE_RUNS;
        tool_exit_t code = node_live_once(program, &end);
        if (end != NODE_IS_DOWN || !program->rejoins) {
            return code;
        }
        node_log(program, TROUPE_LOG_WARN, "node.rejoins", "reason", "downed");
    }
}

tool_exit_t tool_run_node(const tool_args_t *args)
{
    static node_program_t program; /* Large, and there is one. */
    tool_exit_t code = tool_load_config(args, &program.config);
    if (code != TOOL_OK) {
        return code;
    }
    if (tool_flag(args, "check") != NULL) {
        puts("the configuration is good");
        troupe_config_destroy(&program.config);
        return TOOL_OK;
    }
    node_read_config(&program);
    if (!node_open_log(&program)) {
        troupe_config_destroy(&program.config);
        return TOOL_FAILED;
    }
    node_choose_socket(&program);
    code = TOOL_FAILED;
    if (node_open_fds(&program)) {
        code = node_live(&program);
    } else {
        tool_complain("no descriptors: %s", trp_text_of_errno(errno));
    }
    log_sink_close(&program.sink);
    troupe_config_destroy(&program.config);
    return code;
}
