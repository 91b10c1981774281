/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* A service with an event loop of its own that takes a node in. The loop waits for a timer of its own
 * and for an inbox, whose descriptor is readable while messages wait; nothing of the service's
 * structure has to change. */

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <troupe/troupe.h>

#define TICKS 5

static void must(troupe_err_t err, const char *what)
{
    if (err != TROUPE_OK) {
        fprintf(stderr, "%s: %s\n", what, troupe_err_text(err));
        exit(EXIT_FAILURE);
    }
}

static void must_sys(int result, const char *what)
{
    if (result < 0) {
        perror(what);
        exit(EXIT_FAILURE);
    }
}

/* ---- an actor that sends to the inbox every 10 ms --------------------------------------------------- */

typedef struct ticker {
    troupe_ref_t inbox;
} ticker_t;

static troupe_err_t ticker_init(troupe_actor_t *self, void *state, const void *args)
{
    ticker_t *ticker = state;
    ticker->inbox = *(const troupe_ref_t *)args;
    return troupe_timer_every(self, 1, 10, TROUPE_TYPE_BYTES, NULL, 0);
}

static troupe_err_t ticker_receive(troupe_actor_t *self, void *state,
                                   const troupe_message_t *message)
{
    ticker_t *ticker = state;
    (void)message; /* Only the timer sends. */
    return troupe_tell(self, ticker->inbox, TROUPE_TYPE_TEXT, "tick", 4);
}

static const troupe_behavior_t ticker_behavior = {
    .size = sizeof(troupe_behavior_t),
    .name = "ticker",
    .state_size = sizeof(ticker_t),
    .init = ticker_init,
    .receive = ticker_receive,
};

/* ---- the service's loop ------------------------------------------------------------------------------ */

typedef struct service {
    int epoll_fd;
    int timer_fd;
    troupe_inbox_t *inbox;
    unsigned timer_ticks;
    unsigned actor_ticks;
} service_t;

static void service_watch(service_t *service, int fd)
{
    struct epoll_event event = {.events = EPOLLIN, .data.fd = fd};
    must_sys(epoll_ctl(service->epoll_fd, EPOLL_CTL_ADD, fd, &event), "epoll_ctl");
}

static void service_open(service_t *service, troupe_node_t *node)
{
    struct itimerspec every_7_ms = {{0, 7000000}, {0, 7000000}};
    service->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
    service->timer_fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
    must_sys(service->epoll_fd, "epoll_create1");
    must_sys(service->timer_fd, "timerfd_create");
    must_sys(timerfd_settime(service->timer_fd, 0, &every_7_ms, NULL), "timerfd_settime");
    must(troupe_inbox_open(node, NULL, &service->inbox), "inbox");
    service_watch(service, service->timer_fd);
    service_watch(service, troupe_inbox_fd(service->inbox));
}

static void service_on_timer(service_t *service)
{
    uint64_t expirations = 0;
    if (read(service->timer_fd, &expirations, sizeof(expirations)) == sizeof(expirations) &&
        service->timer_ticks < TICKS) {
        service->timer_ticks += 1;
    }
}

/* Takes all that waits: with a time-out of 0 the inbox never blocks. */
static void service_on_inbox(service_t *service)
{
    troupe_letter_t *letter = NULL;
    while (troupe_inbox_receive(service->inbox, 0, &letter) == TROUPE_OK) {
        service->actor_ticks += service->actor_ticks < TICKS ? 1 : 0;
        troupe_letter_free(&letter);
    }
}

static void service_run(service_t *service)
{
    while (service->timer_ticks < TICKS || service->actor_ticks < TICKS) {
        struct epoll_event events[8];
        int len = epoll_wait(service->epoll_fd, events, 8, 10000);
        must_sys(len, "epoll_wait");
        if (len == 0) {
            fprintf(stderr, "nothing happens\n");
            exit(EXIT_FAILURE);
        }
        for (int i = 0; i < len; i++) {
            if (events[i].data.fd == service->timer_fd) {
                service_on_timer(service);
            } else {
                service_on_inbox(service);
            }
        }
    }
}

int main(void)
{
    service_t service = {0};
    troupe_node_options_t options = TROUPE_NODE_OPTIONS_INIT;
    troupe_spawn_options_t spawn = TROUPE_SPAWN_OPTIONS_INIT;
    troupe_node_t *node = NULL;
    troupe_ref_t ticker = troupe_ref_none();
    must(troupe_node_create(&options, &node), "create");
    must(troupe_node_start(node), "start");
    service_open(&service, node);
    troupe_ref_t inbox = troupe_inbox_ref(service.inbox);
    spawn.args = &inbox;
    spawn.args_size = sizeof(inbox);
    must(troupe_node_spawn(node, &ticker_behavior, &spawn, &ticker), "spawn");

    service_run(&service);
    printf("%u ticks of the timer, %u of the actor\n", service.timer_ticks, service.actor_ticks);

    troupe_inbox_close(&service.inbox);
    close(service.timer_fd);
    close(service.epoll_fd);
    must(troupe_node_stop(node, 5000), "stop");
    troupe_node_destroy(&node);
    return EXIT_SUCCESS;
}
