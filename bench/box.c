/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* Measuring the box. */

#include "box.h"

#include <math.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "clock.h"
#include "say.h"

/* The reference machine: two cores of a 2-GHz-class x86-64 server, quiet. */
#define BOX_MALLOC_NS 35.0
#define BOX_HOP_NS 94.0
#define BOX_WAKE_NS 6500.0
#define BOX_SCALE_MIN 0.5

#define BOX_PART_NS (200u * BENCH_NS_PER_MS) /* Time given to each of the three. */
#define BOX_WINDOW 4096                      /* Blocks alive at a time. */
#define BOX_BLOCK_SIZE 32                    /* The smallest block. */
#define BOX_HOPS 20000                       /* Round trips between two looks at the clock. */
#define BOX_WAKES 200
#define BOX_LINE 64

typedef struct box_pair {
    _Alignas(BOX_LINE) atomic_uint_fast64_t turn; /* Odd: the partner's turn. */
    _Alignas(BOX_LINE) atomic_bool stop;
    int there, back; /* Eventfds. */
} box_pair_t;

static void box_pin(unsigned core)
{
    cpu_set_t set;
    const long cores = sysconf(_SC_NPROCESSORS_ONLN);
    CPU_ZERO(&set);
    CPU_SET(core % (unsigned)(cores > 0 ? cores : 1), &set);
    (void)pthread_setaffinity_np(pthread_self(), sizeof(set), &set);
}

/* Blocks of mixed sizes, freed in random order out of some thousands: the way of messages that
 * several actors hold. A pair in immediate succession would only ever see the allocator's small
 * per-thread cache. */
static double box_malloc(void)
{
    static void *blocks[BOX_WINDOW];
    const uint64_t start = bench_clock_now();
    uint64_t pairs = 0, now;
    uint32_t random = 1;
    do {
        for (size_t i = 0; i < BOX_WINDOW; i++) {
            random = random * 1664525u + 1013904223u; /* Numerical Recipes' generator. */
            void **block = &blocks[(random >> 16) % BOX_WINDOW];
            free(*block);
            *block = malloc(BOX_BLOCK_SIZE + (random >> 28) * 16);
        }
        pairs += BOX_WINDOW;
        now = bench_clock_now();
    } while (now - start < BOX_PART_NS);
    for (size_t i = 0; i < BOX_WINDOW; i++) {
        free(blocks[i]);
        blocks[i] = NULL;
    }
    return (double)(now - start) / (double)pairs;
}

static void *box_hop_partner(void *context)
{
    box_pair_t *pair = context;
    box_pin(1);
    while (!atomic_load_explicit(&pair->stop, memory_order_acquire)) {
        const uint64_t turn = atomic_load_explicit(&pair->turn, memory_order_acquire);
        if ((turn & 1u) != 0) {
            atomic_store_explicit(&pair->turn, turn + 1, memory_order_release);
        }
    }
    return NULL;
}

static double box_hop(box_pair_t *pair)
{
    const uint64_t start = bench_clock_now();
    uint64_t turn = 0, now;
    do {
        for (unsigned i = 0; i < BOX_HOPS; i++) {
            atomic_store_explicit(&pair->turn, turn + 1, memory_order_release);
            turn += 2;
            while (atomic_load_explicit(&pair->turn, memory_order_acquire) != turn) {
            }
        }
        now = bench_clock_now();
    } while (now - start < BOX_PART_NS);
    return (double)(now - start) / (double)turn; /* Two hops a round trip, and two steps of turn. */
}

static void *box_wake_partner(void *context)
{
    box_pair_t *pair = context;
    uint64_t value = 0;
    box_pin(1);
    while (read(pair->there, &value, sizeof(value)) == (ssize_t)sizeof(value) &&
           !atomic_load_explicit(&pair->stop, memory_order_acquire)) {
        value = 1;
        (void)!write(pair->back, &value, sizeof(value));
    }
    return NULL;
}

static double box_wake(box_pair_t *pair)
{
    const uint64_t start = bench_clock_now();
    uint64_t wakes = 0, now, value;
    do {
        for (unsigned i = 0; i < BOX_WAKES; i++) {
            value = 1;
            (void)!write(pair->there, &value, sizeof(value));
            (void)!read(pair->back, &value, sizeof(value));
        }
        wakes += 2 * BOX_WAKES;
        now = bench_clock_now();
    } while (now - start < BOX_PART_NS);
    return (double)(now - start) / (double)wakes;
}

/* Runs `measure` with its partner on the other core; 0 when there is no thread to be had. */
static double box_with_partner(box_pair_t *pair, void *(*partner)(void *),
                               double (*measure)(box_pair_t *))
{
    const uint64_t one = 1;
    cpu_set_t before;
    pthread_t thread;
    double cost;
    atomic_store(&pair->stop, false);
    (void)pthread_getaffinity_np(pthread_self(), sizeof(before), &before);
    if (pthread_create(&thread, NULL, partner, pair) != 0) {
        return 0.0;
    }
    box_pin(0);
    cost = measure(pair);
    atomic_store(&pair->stop, true);
    (void)!write(pair->there, &one, sizeof(one));
    (void)pthread_join(thread, NULL);
    (void)pthread_setaffinity_np(pthread_self(), sizeof(before), &before);
    return cost;
}

/* A cost better than the reference doesn't make up for one that is worse. */
static double box_speed(double reference, double cost)
{
    return fmin(reference / cost, 1.0);
}

static double box_scale(const bench_box_t *box)
{
    const double speed =
        cbrt(box_speed(BOX_MALLOC_NS, box->malloc_ns) * box_speed(BOX_HOP_NS, box->hop_ns) *
             box_speed(BOX_WAKE_NS, box->wake_ns));
    return fmax(BOX_SCALE_MIN, speed);
}

bool bench_box_measure(bench_box_t *ret_box)
{
    bench_box_t box = {0};
    box_pair_t pair;
    memset(&pair, 0, sizeof(pair));
    pair.there = eventfd(0, EFD_CLOEXEC);
    pair.back = eventfd(0, EFD_CLOEXEC);
    if (pair.there >= 0 && pair.back >= 0) {
        bench_progress("measuring the box");
        box.hop_ns = box_with_partner(&pair, box_hop_partner, box_hop);
        box.wake_ns = box_with_partner(&pair, box_wake_partner, box_wake);
        box.malloc_ns = box_malloc();
    }
    (void)close(pair.there);
    (void)close(pair.back);
    if (box.hop_ns <= 0.0 || box.wake_ns <= 0.0) {
        bench_complain("the box could not be measured: no thread or descriptor to be had");
        return false;
    }
    box.scale = box_scale(&box);
    *ret_box = box;
    return true;
}

static void box_report_cost(bench_report_t *report, const char *name, double cost, double reference)
{
    bench_sample_t sample = {0};
    bench_row_t *row = bench_report_add(report, "box", name, "ns");
    if (row == NULL) {
        return;
    }
    bench_sample_set(&sample, cost);
    sample.baseline = reference;
    bench_runs_add(&row->runs, &sample);
    bench_report_show(report, row);
}

bool bench_box_report(bench_report_t *report)
{
    bench_box_t box;
    if (!bench_box_measure(&box)) {
        return false;
    }
    box_report_cost(report, "malloc-free-pair", box.malloc_ns, BOX_MALLOC_NS);
    box_report_cost(report, "cache-line-hop", box.hop_ns, BOX_HOP_NS);
    box_report_cost(report, "eventfd-hop", box.wake_ns, BOX_WAKE_NS);
    bench_report_value(report, "box", "scale", "of reference", NULL, box.scale);
    return true;
}
