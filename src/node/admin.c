/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* Listens on the admin socket and gives each client a thread. */

#include "node/admin.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/assert.h"
#include "base/clock.h"
#include "base/memory.h"
#include "base/text.h"
#include "node/admin_frame.h"
#include "node/admin_session.h"
#include "node/admin_wire.h"
#include "node/node_private.h"

#define ADMIN_BACKLOG 16
#define ADMIN_STACK_SIZE ((size_t)512 * 1024)
#define ADMIN_BUSY_MS 1000u /* Time to tell a client that there are too many. */

/* A place for a client; its thread lives until somebody joins it. */
typedef struct admin_seat {
    trp_admin_t *admin;
    pthread_t thread;
    int fd;
    bool is_taken;         /* The thread was started and not yet joined. The accepting thread's. */
    _Atomic bool is_ended; /* The thread has nothing more to do. */
} admin_seat_t;

struct trp_admin {
    trp_node_t *node;
    troupe_type_t type;
    int listen_fd;
    int lock_fd;
    int stop_fd;
    pthread_t thread;
    bool has_thread;
    struct sockaddr_un address;
    uint32_t seats_len;
    admin_seat_t *seats;
};

/* ---- clients ------------------------------------------------------------------------------------- */

static void *admin_seat_main(void *user)
{
    admin_seat_t *seat = user;
    trp_admin_session_run(seat->admin->node, seat->admin->type, seat->fd, seat->admin->stop_fd);
    /* Release: pairs with the acquire of whoever joins. */
    atomic_store_explicit(&seat->is_ended, true, memory_order_release);
    shutdown(seat->fd, SHUT_RDWR);
    return NULL;
}

static void admin_seat_join(admin_seat_t *seat)
{
    if (seat->is_taken) {
        pthread_join(seat->thread, NULL);
        close(seat->fd);
        seat->is_taken = false;
    }
}

/* A free seat, after those were cleared whose clients have gone; NULL when all are taken. */
static admin_seat_t *admin_find_seat(trp_admin_t *admin)
{
    for (uint32_t i = 0; i < admin->seats_len; i++) {
        admin_seat_t *seat = &admin->seats[i];
        if (atomic_load_explicit(&seat->is_ended, memory_order_acquire)) {
            admin_seat_join(seat);
            atomic_store_explicit(&seat->is_ended, false, memory_order_relaxed);
        }
        if (!seat->is_taken) {
            return seat;
        }
    }
    return NULL;
}

/* Threads of a library take no signals of the program. */
static int admin_start_thread(pthread_t *thread, void *(*main)(void *), void *user)
{
    sigset_t all;
    sigset_t old;
    pthread_attr_t attributes;
    int result = pthread_attr_init(&attributes);
    if (result != 0) {
        return result;
    }
    sigfillset(&all);
    pthread_attr_setstacksize(&attributes, ADMIN_STACK_SIZE);
    pthread_sigmask(SIG_SETMASK, &all, &old);
    result = pthread_create(thread, &attributes, main, user);
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    pthread_attr_destroy(&attributes);
    return result;
}

static void admin_turn_away(int fd)
{
    static const char text[] = "{\"ok\":false,\"error\":\"TROUPE_EFULL\",\"text\":\"too many "
                               "clients at the admin socket\"}";
    uint64_t deadline = trp_clock_add(trp_clock_now(), trp_clock_from_ms(ADMIN_BUSY_MS));
    (void)!trp_admin_frame_write(fd, -1, deadline, text, sizeof(text) - 1);
    close(fd);
}

static void admin_seat_client(trp_admin_t *admin, int fd)
{
    admin_seat_t *seat = admin_find_seat(admin);
    if (seat == NULL) {
        admin_turn_away(fd);
        return;
    }
    seat->admin = admin;
    seat->fd = fd;
    seat->is_taken = admin_start_thread(&seat->thread, admin_seat_main, seat) == 0;
    if (!seat->is_taken) {
        admin_turn_away(fd);
    }
}

/* Only its own user and root may ask; the mode of the socket says so too. */
static bool admin_is_allowed(int fd)
{
    struct ucred peer;
    socklen_t size = sizeof(peer);
    return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 &&
           (peer.uid == geteuid() || peer.uid == 0);
}

static void *admin_main(void *user)
{
    trp_admin_t *admin = user;
    /* When descriptors have run out accept fails at once, again and again: then it rests. */
    uint64_t rest_ns = 0;
    for (;;) {
        bool is_resting = rest_ns > trp_clock_now();
        troupe_err_t err = trp_admin_wait(is_resting ? -1 : admin->listen_fd, POLLIN,
                                          admin->stop_fd, is_resting ? rest_ns : TRP_CLOCK_NEVER);
        if (err == TROUPE_ETIMEOUT) {
            continue;
        }
        if (err != TROUPE_OK) {
            return NULL;
        }
        int fd = accept4(admin->listen_fd, NULL, NULL, SOCK_CLOEXEC);
        if (fd >= 0 && admin_is_allowed(fd)) {
            admin_seat_client(admin, fd);
        } else if (fd >= 0) {
            close(fd);
        } else {
            rest_ns = trp_clock_now() + trp_clock_from_ms(ADMIN_BUSY_MS);
        }
    }
}

/* ---- the socket ------------------------------------------------------------------------------------ */

/* Locks the name, so that what lies there can only be left over from a node that has ended. */
static troupe_err_t admin_lock(trp_admin_t *admin)
{
    char path[sizeof(admin->address.sun_path) + 8];
    snprintf(path, sizeof(path), "%s.lock", admin->address.sun_path);
    admin->lock_fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (admin->lock_fd < 0) {
        bool is_theirs = errno == ENOENT || errno == EACCES || errno == EROFS || errno == ENOTDIR ||
                         errno == ELOOP || errno == EPERM;
        return is_theirs ? TROUPE_ECONFIG : TROUPE_ESYSTEM;
    }
    if (flock(admin->lock_fd, LOCK_EX | LOCK_NB) != 0) {
        return errno == EWOULDBLOCK ? TROUPE_EADDRINUSE : TROUPE_ESYSTEM;
    }
    return TROUPE_OK;
}

/* Clears what a killed node left; anything but a socket is none of ours. */
static troupe_err_t admin_clear(const trp_admin_t *admin)
{
    struct stat about;
    if (lstat(admin->address.sun_path, &about) != 0) {
        return errno == ENOENT ? TROUPE_OK : TROUPE_ECONFIG;
    }
    if (!S_ISSOCK(about.st_mode)) {
        return TROUPE_ECONFIG;
    }
    return unlink(admin->address.sun_path) == 0 ? TROUPE_OK : TROUPE_ECONFIG;
}

static troupe_err_t admin_bind(trp_admin_t *admin)
{
    admin->listen_fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (admin->listen_fd < 0) {
        return TROUPE_ESYSTEM;
    }
    /* The file takes the mode of the socket: so it is never open to others, not for a moment. */
    if (fchmod(admin->listen_fd, S_IRUSR | S_IWUSR) != 0 ||
        bind(admin->listen_fd, (const struct sockaddr *)&admin->address, sizeof(admin->address)) !=
            0) {
        return errno == EADDRINUSE ? TROUPE_EADDRINUSE : TROUPE_ECONFIG;
    }
    if (chmod(admin->address.sun_path, S_IRUSR | S_IWUSR) != 0 ||
        listen(admin->listen_fd, ADMIN_BACKLOG) != 0) {
        return TROUPE_ESYSTEM;
    }
    return TROUPE_OK;
}

static troupe_err_t admin_open_socket(trp_admin_t *admin)
{
    const char *path = admin->node->settings.values.node.admin_socket;
    admin->address.sun_family = AF_UNIX;
    size_t size = strlen(path);
    if (size >= sizeof(admin->address.sun_path)) {
        return TROUPE_ECONFIG;
    }
    memcpy(admin->address.sun_path, path, size + 1);
    troupe_err_t err = admin_lock(admin);
    if (err == TROUPE_OK) {
        err = admin_clear(admin);
    }
    return err == TROUPE_OK ? admin_bind(admin) : err;
}

/* ---- life -------------------------------------------------------------------------------------------- */

static troupe_err_t admin_register_type(trp_admin_t *admin)
{
    troupe_type_options_t options = TROUPE_TYPE_OPTIONS_INIT;
    options.name = TRP_ADMIN_TYPE_NAME;
    options.size_max = TRP_ADMIN_ORDER_SIZE_MAX;
    return troupe_type_register(&admin->node->base, &options, &admin->type);
}

static troupe_err_t admin_start(trp_admin_t *admin)
{
    admin->seats_len = admin->node->settings.values.node.admin_clients_max;
    admin->seats = trp_calloc(admin->seats_len, sizeof(*admin->seats));
    admin->stop_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (admin->seats == NULL) {
        return TROUPE_ENOMEM;
    }
    troupe_err_t err = admin->stop_fd >= 0 ? admin_register_type(admin) : TROUPE_ESYSTEM;
    if (err == TROUPE_OK) {
        err = admin_open_socket(admin);
    }
    if (err != TROUPE_OK) {
        return err;
    }
    admin->has_thread = admin_start_thread(&admin->thread, admin_main, admin) == 0;
    return admin->has_thread ? TROUPE_OK : TROUPE_ESYSTEM;
}

troupe_err_t trp_admin_open(trp_node_t *node, trp_admin_t **ret_admin)
{
    TRP_ASSERT(node != NULL);
    TRP_ASSERT(node->settings.values.node.admin_socket != NULL);
    trp_admin_t *admin = trp_calloc(1, sizeof(*admin));
    if (admin == NULL) {
        return TROUPE_ENOMEM;
    }
    admin->node = node;
    admin->listen_fd = -1;
    admin->lock_fd = -1;
    admin->stop_fd = -1;
    troupe_err_t err = admin_start(admin);
    if (err != TROUPE_OK) {
        TRP_LOG(&node->log, TROUPE_LOG_NODE, TROUPE_LOG_ERROR, "admin.not_open",
                "path=%s error=%s system=%s", node->settings.values.node.admin_socket,
                troupe_err_name(err), trp_text_of_errno(errno));
        trp_admin_close(&admin);
        return err;
    }
    *ret_admin = admin;
    return TROUPE_OK;
}

static void admin_stop_threads(trp_admin_t *admin)
{
    uint64_t one = 1;
    ssize_t written = admin->stop_fd >= 0 ? write(admin->stop_fd, &one, sizeof(one)) : 0;
    (void)written; /* The counter can't be full: it is written once. */
    if (admin->has_thread) {
        pthread_join(admin->thread, NULL);
    }
    for (uint32_t i = 0; admin->seats != NULL && i < admin->seats_len; i++) {
        admin_seat_join(&admin->seats[i]);
    }
}

static void admin_close_fd(int fd)
{
    if (fd >= 0) {
        close(fd);
    }
}

void trp_admin_close(trp_admin_t **admin_p)
{
    if (*admin_p == NULL) {
        return;
    }
    trp_admin_t *admin = *admin_p;
    int saved = errno;
    admin_stop_threads(admin);
    /* Under the lock: no other node has made a socket of that name meanwhile. The lock's file stays,
     * for removing it would let two nodes lock different files of one name. */
    if (admin->listen_fd >= 0) {
        unlink(admin->address.sun_path);
    }
    admin_close_fd(admin->listen_fd);
    admin_close_fd(admin->lock_fd);
    admin_close_fd(admin->stop_fd);
    trp_free(admin->seats);
    trp_free(admin);
    *admin_p = NULL;
    errno = saved;
}
