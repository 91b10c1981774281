/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* The multi-client stress as tables: one for each shape, load, way of naming and placement. */

#include <stdio.h>
#include <string.h>

#include "clock.h"
#include "measure.h"
#include "options.h"
#include "pubsub_cases.h"
#include "pubsub_stage.h"
#include "raw_zmq.h"
#include "say.h"
#include "settings.h"

#define CLIENTS_PUBLISHED_PINGPONG 100000 /* Publishes a client. */
#define CLIENTS_PUBLISHED_ONEWAY 200000
#define CLIENTS_PROBES 2000                      /* Latency messages of a row, all clients. */
#define CLIENTS_PROBE_NS (200 * BENCH_NS_PER_US) /* A modest rate: 5,000 a second in all. */
#define CLIENTS_MESSAGES_START 2000

static const bench_list_t clients_default = {{1, 5, 10, 15, 20, 25, 30}, 7};
/* The tables that are shown beside the main ones. */
static const bench_list_t clients_beside = {{1, 10, 30}, 3};

typedef struct table {
    uint32_t shape, load, by, placement;
} table_t;

static void table_params(const table_t *table, const bench_place_setup_t *setup, uint64_t messages,
                         bench_params_t *params)
{
    bench_params_text(params, "shape", bench_shape_name(table->shape));
    bench_params_text(params, "load", bench_load_name(table->load));
    bench_params_text(params, "by", bench_by_name(table->by));
    bench_params_text(params, "placement", bench_placement_name(table->placement));
    bench_params_count(params, "clients", setup->clients);
    bench_params_count(params, "nodes", setup->nodes);
    bench_params_count(params, "messages_per_client", messages);
}

/* What each client published in the last run; counted are deliveries, or publishes and answers. */
static uint64_t table_published(const table_t *table, const bench_place_setup_t *setup,
                                const bench_row_t *row)
{
    const uint64_t per_client = row->runs.messages / setup->clients;
    if (table->load == BENCH_LOAD_PINGPONG) {
        return per_client / 2;
    }
    return table->shape == BENCH_SHAPE_BROADCAST ? per_client / setup->nodes : per_client;
}

static uint64_t table_actors(const table_t *table, const bench_place_setup_t *setup)
{
    return table->shape == BENCH_SHAPE_BROADCAST ? setup->clients * (1 + setup->nodes)
                                                 : setup->clients * 2;
}

static void table_show_head(const bench_context_t *context, const table_t *table, uint64_t nodes)
{
    if (context->report->json) {
        return;
    }
    bench_progress_clear();
    (void)printf("\npubsub %s, shape %s (%llu node%s), by %s, placement %s, 32 B a message\n",
                 bench_load_name(table->load), bench_shape_name(table->shape),
                 (unsigned long long)nodes, nodes == 1 ? "" : "s", bench_by_name(table->by),
                 bench_placement_name(table->placement));
    (void)printf("%7s %7s %12s %12s %12s %12s %12s %11s %8s %8s %9s %9s %9s %10s %9s %5s\n",
                 "clients", "actors", "msgs/client", "total [msg]", "msgs/s", "min", "max",
                 "total [ms]", "threads", "threads", "p50 [us]", "p99 [us]", "max [us]",
                 "allocs/msg", "mem [MiB]", "lost");
    (void)printf("%7s %7s %12s %12s %12s %12s %12s %11s %8s %8s\n", "", "", "", "", "", "", "", "",
                 "at start", "at end");
}

static void table_show_row(const bench_context_t *context, const table_t *table,
                           const bench_stage_t *stage, const bench_row_t *row,
                           const bench_histogram_t *latency)
{
    const bench_spread_t spread = bench_runs_values(&row->runs);
    const uint64_t total = row->runs.messages;
    const uint64_t per_client = table_published(table, &stage->setup, row);
    char allocs[24] = "-";
    if (context->report->json) {
        return;
    }
    if (row->runs.has_allocs) {
        (void)snprintf(allocs, sizeof(allocs), "%.6f",
                       (double)row->runs.allocs / (double)row->runs.counted);
    }
    bench_progress_clear();
    (void)printf("%7llu %7llu %12llu %12llu %12.0f %12.0f %12.0f %11.2f %8llu %8llu",
                 (unsigned long long)stage->setup.clients,
                 (unsigned long long)table_actors(table, &stage->setup),
                 (unsigned long long)per_client, (unsigned long long)total, spread.median,
                 spread.min, spread.max, (double)total / spread.median * 1e3,
                 (unsigned long long)stage->threads_start, (unsigned long long)stage->threads_end);
    (void)printf(
        " %9.1f %9.1f %9.1f %10s %9.1f %5llu", (double)bench_histogram_quantile(latency, 0.5) / 1e3,
        (double)bench_histogram_quantile(latency, 0.99) / 1e3, (double)latency->max / 1e3, allocs,
        (double)stage->memory_size / 1048576.0, (unsigned long long)row->runs.lost);
    if (row->runs.has_baseline) {
        (void)printf("  %.2f x raw ZeroMQ", bench_runs_ratio(&row->runs));
    }
    (void)putchar('\n');
    (void)fflush(stdout);
}

/* The row's companions in the JSON: latencies, memory, threads. */
static void table_add_companions(const bench_context_t *context, const bench_stage_t *stage,
                                 const bench_row_t *row, const bench_histogram_t *latency)
{
    const struct {
        const char *name;
        const char *unit;
        double value;
    } values[] = {
        {"latency-p50", "ns", (double)bench_histogram_quantile(latency, 0.5)},
        {"latency-p99", "ns", (double)bench_histogram_quantile(latency, 0.99)},
        {"latency-max", "ns", (double)latency->max},
        {"memory", "bytes", (double)stage->memory_size},
        {"threads-start", "threads", (double)stage->threads_start},
        {"threads-end", "threads", (double)stage->threads_end},
        {"total", "msg", (double)row->runs.messages},
        {"total-time", "ms", (double)row->runs.elapsed_ns / 1e6},
    };
    for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
        bench_row_t *companion =
            bench_report_add(context->report, "pubsub", values[i].name, values[i].unit);
        bench_sample_t sample = {0};
        if (companion == NULL) {
            return;
        }
        companion->params = row->params;
        bench_sample_set(&sample, values[i].value);
        bench_runs_add(&companion->runs, &sample);
    }
    if (row->runs.zmq_frames > 0 && row->runs.has_allocs) {
        bench_row_t *frames =
            bench_report_add(context->report, "pubsub", "zmq-allocs-per-frame", "mallocs");
        bench_sample_t sample = {0};
        bench_sample_set(&sample, (double)row->runs.zmq_allocs / (double)row->runs.zmq_frames);
        if (frames != NULL) {
            frames->params = row->params;
            bench_runs_add(&frames->runs, &sample);
        }
    }
}

static bench_plan_t table_plan(const bench_context_t *context, const table_t *table,
                               bench_stage_t *stage, bench_raw_t *raw)
{
    bench_plan_t plan = {.run = bench_stage_run, .context = stage, .quiet = true};
    plan.messages_start = CLIENTS_MESSAGES_START;
    if (context->options->published) {
        plan.fixed = true;
        plan.messages_start = table->load == BENCH_LOAD_PINGPONG ? CLIENTS_PUBLISHED_PINGPONG
                                                                 : CLIENTS_PUBLISHED_ONEWAY;
    }
    if (raw->socket != NULL) {
        plan.baseline = bench_raw_run_oneway;
        plan.baseline_context = raw;
    }
    return plan;
}

static bench_row_t *table_row(const bench_context_t *context, const table_t *table)
{
    bench_row_t *row =
        bench_report_add(context->report, "pubsub", bench_load_name(table->load), "msg/s");
    if (row != NULL) {
        (void)snprintf(row->series, sizeof(row->series), "%s, %s, %s, %s",
                       bench_load_name(table->load), bench_shape_name(table->shape),
                       bench_by_name(table->by), bench_placement_name(table->placement));
    }
    return row;
}

static bool table_measure_stage(const bench_context_t *context, const table_t *table,
                                bench_stage_t *stage, bench_raw_t *raw)
{
    const bench_plan_t plan = table_plan(context, table, stage, raw);
    bench_row_t *row = table_row(context, table);
    bench_sample_t probes = {0};
    const uint64_t each = CLIENTS_PROBES / stage->setup.clients + 1;
    if (row == NULL || !bench_measure(context, &plan, row)) {
        return false;
    }
    row->x = (double)stage->setup.clients;
    table_params(table, &stage->setup, table_published(table, &stage->setup, row), &row->params);
    bench_progress("pubsub %s: latency", row->name);
    if (!bench_stage_probe(stage, each, CLIENTS_PROBE_NS, &probes.lost)) {
        return false;
    }
    row->runs.lost += probes.lost;
    table_add_companions(context, stage, row, &stage->answer->histogram);
    table_show_row(context, table, stage, row, &stage->answer->histogram);
    return true;
}

static bool table_measure(const bench_context_t *context, const table_t *table, uint64_t clients)
{
    bench_place_setup_t setup;
    bench_stage_t stage;
    bench_raw_t raw;
    bool ok = true;
    memset(&setup, 0, sizeof(setup));
    memset(&raw, 0, sizeof(raw));
    setup.clients = clients;
    setup.dispatchers = context->options->dispatchers;
    setup.shape = table->shape;
    setup.load = table->load;
    setup.by = table->by;
    setup.placement = table->placement;
    setup.nodes = table->shape == BENCH_SHAPE_NODE ? 1 : (uint32_t)context->options->nodes;
    if (table->shape == BENCH_SHAPE_CLUSTER && table->load == BENCH_LOAD_ONEWAY) {
        ok = bench_raw_open(false, sizeof(bench_message_t), &raw);
    }
    ok = ok && bench_stage_open(&setup, &stage);
    if (ok) {
        ok = table_measure_stage(context, table, &stage, &raw);
        bench_stage_close(&stage);
    }
    bench_raw_close(&raw);
    return ok;
}

/* The rate with 30 clients over that with 5: how well the stress scales. */
static void table_add_scaling(const bench_context_t *context, const table_t *table, size_t first)
{
    double five = 0.0, thirty = 0.0;
    bench_params_t params;
    for (size_t i = first; i < context->report->len; i++) {
        const bench_row_t *row = context->report->rows[i];
        if (strcmp(row->name, bench_load_name(table->load)) == 0 && row->x == 5.0) {
            five = bench_runs_values(&row->runs).median;
        } else if (strcmp(row->name, bench_load_name(table->load)) == 0 && row->x == 30.0) {
            thirty = bench_runs_values(&row->runs).median;
        }
    }
    if (five > 0.0 && thirty > 0.0) {
        char name[BENCH_NAME_SIZE_MAX];
        const bench_place_setup_t setup = {.clients = 30, .nodes = 1};
        bench_params_init(&params);
        table_params(table, &setup, 0, &params);
        (void)snprintf(name, sizeof(name), "%s-30-over-5", bench_load_name(table->load));
        bench_report_value(context->report, "pubsub", name, "ratio", &params, thirty / five);
    }
}

static bool table_run(const bench_context_t *context, const table_t *table, bool beside)
{
    const bench_list_t *clients = &context->options->clients;
    const size_t first = context->report->len;
    bool ok = true;
    if (clients->len == 0) {
        clients = beside ? &clients_beside : &clients_default;
    }
    table_show_head(context, table, table->shape == BENCH_SHAPE_NODE ? 1 : context->options->nodes);
    for (size_t i = 0; i < clients->len; i++) {
        ok = table_measure(context, table, clients->values[i]) && ok;
    }
    table_add_scaling(context, table, first);
    return ok;
}

/* Whether a table is wanted: what the options name; of what they leave open, the main choice always,
 * the others only beside it (one thing changed at a time, on one node). */
static bool table_is_wanted(const bench_options_t *options, const table_t *table)
{
    const bool by_open = options->by == 0, placement_open = options->placement == 0;
    const bool by_main = table->by == BENCH_BY_HANDLE;
    const bool placement_main = table->placement == BENCH_PLACEMENT_DEFAULT;
    const bool node = table->shape == BENCH_SHAPE_NODE;
    const bool oneway = table->load == BENCH_LOAD_ONEWAY;
    if ((options->shape != 0 && (options->shape & table->shape) == 0) ||
        (options->load != 0 && (options->load & table->load) == 0) ||
        (!by_open && (options->by & table->by) == 0) ||
        (!placement_open && (options->placement & table->placement) == 0)) {
        return false;
    }
    if (table->shape == BENCH_SHAPE_BROADCAST && !oneway) {
        return false; /* Several subscribers would answer each message. */
    }
    if (by_open && !by_main && !(node && oneway && placement_main)) {
        return false;
    }
    return !placement_open || placement_main || (node && by_main);
}

static bool table_is_beside(const table_t *table)
{
    return table->by != BENCH_BY_HANDLE || table->placement != BENCH_PLACEMENT_DEFAULT;
}

bool bench_pubsub_clients(bench_context_t *context)
{
    bool ok = true, any = false;
    table_t table;
    for (table.shape = BENCH_SHAPE_NODE; table.shape <= BENCH_SHAPE_BROADCAST; table.shape <<= 1) {
        for (table.load = BENCH_LOAD_ONEWAY; table.load <= BENCH_LOAD_PINGPONG; table.load <<= 1) {
            for (table.by = BENCH_BY_HANDLE; table.by <= BENCH_BY_PATH; table.by <<= 1) {
                for (table.placement = BENCH_PLACEMENT_DEFAULT;
                     table.placement <= BENCH_PLACEMENT_CROSS; table.placement <<= 1) {
                    if (table_is_wanted(context->options, &table)) {
                        any = true;
                        ok = table_run(context, &table, table_is_beside(&table)) && ok;
                    }
                }
            }
        }
    }
    if (!any) {
        bench_complain("there is no ping-pong in the shape broadcast: several would answer");
    }
    return ok && any;
}
