/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* Starting workers and talking to them. */

#include "worker.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "clock.h"
#include "say.h"

#define WORKER_FD 3 /* Where a worker finds its orders. */
#define WORKER_STOP_NS (10 * BENCH_NS_PER_S)
#define WORKER_POLL_NS (2 * BENCH_NS_PER_MS)

typedef struct worker_record {
    uint32_t tag;
    uint32_t size;
    unsigned char body[BENCH_WORKER_RECORD_MAX];
} worker_record_t;

#define WORKER_RECORD_HEAD offsetof(worker_record_t, body)

/* The child's side after the fork: only calls that are safe there. */
static void worker_exec(const char *kind, int fd, pid_t parent)
{
    char program[] = "troupe-bench";
    char command[] = BENCH_WORKER_COMMAND;
    char name[64];
    char *arguments[] = {program, command, name, NULL};
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
    (void)strncpy(name, kind, sizeof(name) - 1);
    name[sizeof(name) - 1] = '\0';
    if (getppid() != parent || dup2(fd, WORKER_FD) < 0) {
        _exit(127);
    }
    if (fd == WORKER_FD) {
        (void)fcntl(fd, F_SETFD, 0); /* dup2 onto itself leaves close-on-exec set. */
    }
    (void)execv("/proc/self/exe", arguments);
    _exit(127);
}

bool bench_worker_start(const char *kind, bench_worker_t *ret_worker)
{
    const pid_t parent = getpid();
    int pair[2];
    pid_t pid;
    (void)fflush(NULL);
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) != 0) {
        bench_complain("no socket for a worker: %s", strerror(errno));
        return false;
    }
    pid = fork();
    if (pid == 0) {
        worker_exec(kind, pair[1], parent);
    }
    (void)close(pair[1]);
    if (pid < 0) {
        bench_complain("no process for a worker: %s", strerror(errno));
        (void)close(pair[0]);
        return false;
    }
    ret_worker->pid = pid;
    ret_worker->fd = pair[0];
    return true;
}

void bench_worker_stop(bench_worker_t *worker)
{
    const struct timespec pause = {0, (long)WORKER_POLL_NS};
    const uint64_t deadline = bench_clock_now() + WORKER_STOP_NS;
    if (worker->pid <= 0) {
        return;
    }
    (void)close(worker->fd);
    while (waitpid(worker->pid, NULL, WNOHANG) == 0) {
        if (bench_clock_now() > deadline) {
            bench_complain("worker %d did not end by itself: killed", (int)worker->pid);
            (void)kill(worker->pid, SIGKILL);
            (void)waitpid(worker->pid, NULL, 0);
            break;
        }
        (void)nanosleep(&pause, NULL);
    }
    worker->pid = 0;
}

uint64_t bench_worker_cpu(const bench_worker_t *worker)
{
    struct timespec used;
    clockid_t clock;
    if (clock_getcpuclockid(worker->pid, &clock) != 0 || clock_gettime(clock, &used) != 0) {
        return 0;
    }
    return (uint64_t)used.tv_sec * BENCH_NS_PER_S + (uint64_t)used.tv_nsec;
}

bool bench_worker_send(int fd, uint32_t tag, const void *body, size_t size)
{
    worker_record_t record;
    if (size > sizeof(record.body)) {
        bench_complain("a record of %zu bytes is too large for a worker", size);
        return false;
    }
    record.tag = tag;
    record.size = (uint32_t)size;
    if (size > 0) {
        memcpy(record.body, body, size);
    }
    if (send(fd, &record, WORKER_RECORD_HEAD + size, MSG_NOSIGNAL) < 0) {
        bench_complain("the other process can't be reached: %s", strerror(errno));
        return false;
    }
    return true;
}

bool bench_worker_receive_any(int fd, uint32_t *ret_tag, void *ret_body, size_t capacity,
                              size_t *ret_size)
{
    worker_record_t record;
    ssize_t got;
    do {
        got = recv(fd, &record, sizeof(record), 0);
    } while (got < 0 && errno == EINTR);
    if (got < (ssize_t)WORKER_RECORD_HEAD) {
        return false; /* Closed. */
    }
    if ((size_t)got != WORKER_RECORD_HEAD + record.size || record.size > capacity) {
        bench_complain("a record between processes has %zd bytes, %zu fit", got, capacity);
        return false;
    }
    if (record.size > 0) {
        memcpy(ret_body, record.body, record.size);
    }
    *ret_tag = record.tag;
    *ret_size = record.size;
    return true;
}

bool bench_worker_receive(int fd, uint32_t tag, void *ret_body, size_t size)
{
    uint32_t got_tag = 0;
    size_t got_size = 0;
    if (!bench_worker_receive_any(fd, &got_tag, ret_body, size, &got_size)) {
        return false;
    }
    if (got_tag != tag || got_size != size) {
        bench_complain("expected record %" PRIu32 " of %zu bytes between processes, got %" PRIu32
                       " of %zu",
                       tag, size, got_tag, got_size);
        return false;
    }
    return true;
}

bool bench_worker_await(const bench_worker_t *worker, uint32_t tag, void *ret_answer,
                        size_t answer_size)
{
    struct pollfd wait = {worker->fd, POLLIN, 0};
    if (poll(&wait, 1, BENCH_WORKER_TIMEOUT_MS) != 1) {
        bench_complain("a worker gave no answer to order %" PRIu32 " within %d s", tag,
                       BENCH_WORKER_TIMEOUT_MS / 1000);
        return false;
    }
    if (!bench_worker_receive(worker->fd, tag, ret_answer, answer_size)) {
        bench_complain("a worker ended early or answered order %" PRIu32 " wrongly", tag);
        return false;
    }
    return true;
}

bool bench_worker_ask(const bench_worker_t *worker, uint32_t tag, const void *order,
                      size_t order_size, void *ret_answer, size_t answer_size)
{
    return bench_worker_send(worker->fd, tag, order, order_size) &&
           bench_worker_await(worker, tag, ret_answer, answer_size);
}
