/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* What the program does: reads the command line, measures the box, runs the cases, reports. */

#include "bench_main.h"

#include <stdio.h>
#include <string.h>

#include "alloc_count.h"
#include "box.h"
#include "command.h"
#include "host.h"
#include "options.h"
#include "plot.h"
#include "report.h"
#include "say.h"
#include "settings.h"
#include "worker.h"

static void main_show_host(void)
{
    bench_host_t host;
    bench_host_read(&host);
    (void)printf("OS          %s\nprocessors  %u x %s\nclock       %.0f MHz\n", host.os,
                 host.processors, host.processor, host.clock_mhz);
    (void)printf("mallocs     %s\n\n", bench_alloc_is_counted()
                                           ? "counted by an interposed allocator"
                                           : "not counted: a sanitizer has the allocator");
}

static bool main_run_cases(bench_context_t *context, const bench_command_t *command)
{
    bool ok = true;
    const bench_case_t *bench_case = command->cases;
    for (; bench_case != NULL && bench_case->name != NULL; bench_case++) {
        if (bench_command_is_wanted(bench_case, context->options->cases)) {
            ok = bench_case->run(context) && ok;
        }
    }
    return ok;
}

static int main_run(const bench_options_t *options)
{
    bench_report_t report;
    bench_context_t context = {options, &report};
    bool ok;
    bench_report_init(&report, options->json);
    if (!options->json) {
        main_show_host();
    }
    ok = bench_box_report(&report);
    ok = main_run_cases(&context, bench_command_find(options->command)) && ok;
    bench_progress_clear();
    bench_report_finish(&report);
    if (options->plot != NULL) {
        ok = bench_plot(&report, options->plot) && ok;
    }
    if (bench_report_lost(&report) > 0) {
        bench_complain("messages were lost");
        ok = false;
    }
    bench_report_fini(&report);
    return ok ? BENCH_EXIT_OK : BENCH_EXIT_FAILED;
}

int troupe_bench_main(int argc, char **argv)
{
    bench_options_t options;
    bench_alloc_start();
    if (argc == 3 && strcmp(argv[1], BENCH_WORKER_COMMAND) == 0) {
        return bench_worker_main(argv[2]);
    }
    if (!bench_options_parse(argc, argv, &options)) {
        return BENCH_EXIT_USAGE;
    }
    if (options.help) {
        bench_options_help(options.command);
        return BENCH_EXIT_OK;
    }
    return main_run(&options);
}
