/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* Finding commands and cases by name. */

#include "command.h"

#include <stdio.h>
#include <string.h>

#include "say.h"

static const bench_command_t command_table[] = {
    {"pubsub", "The multi-client publish/subscribe stress, on one node and across a cluster.",
     BENCH_COMMAND_PUBSUB, bench_pubsub_cases},
    {"actor", "Actors on one node: messages, asks, spawning, memory.", BENCH_COMMAND_ACTOR,
     bench_actor_cases},
    {"link", "Messages between two processes, beside raw ZeroMQ in the same run.",
     BENCH_COMMAND_LINK, bench_link_cases},
    {"box", "What the bare machine costs at this moment.", BENCH_COMMAND_BOX, NULL},
};

#define COMMAND_LEN (sizeof(command_table) / sizeof(command_table[0]))

const bench_command_t *bench_command_find(const char *name)
{
    for (size_t i = 0; i < COMMAND_LEN; i++) {
        if (strcmp(command_table[i].name, name) == 0) {
            return &command_table[i];
        }
    }
    return NULL;
}

static bool command_has_case(const bench_command_t *command, const char *name, size_t size)
{
    const bench_case_t *known = command->cases;
    for (; known != NULL && known->name != NULL; known++) {
        if (strlen(known->name) == size && memcmp(known->name, name, size) == 0) {
            return true;
        }
    }
    return false;
}

bool bench_command_knows_cases(const char *command_name, const char *names)
{
    const bench_command_t *command = bench_command_find(command_name);
    for (;;) {
        const size_t size = strcspn(names, ",");
        if (command == NULL || !command_has_case(command, names, size)) {
            bench_complain("no case '%.*s' in %s; see 'troupe-bench %s --help'", (int)size, names,
                           command_name, command_name);
            return false;
        }
        if (names[size] == '\0') {
            return true;
        }
        names += size + 1;
    }
}

bool bench_command_is_wanted(const bench_case_t *bench_case, const char *names)
{
    const size_t wanted = strlen(bench_case->name);
    if (names == NULL) {
        return true;
    }
    for (;;) {
        const size_t size = strcspn(names, ",");
        if (size == wanted && memcmp(names, bench_case->name, size) == 0) {
            return true;
        }
        if (names[size] == '\0') {
            return false;
        }
        names += size + 1;
    }
}

void bench_command_list(void)
{
    for (size_t i = 0; i < COMMAND_LEN; i++) {
        (void)printf("  %-8s %s\n", command_table[i].name, command_table[i].summary);
    }
}

void bench_command_list_cases(const bench_command_t *command)
{
    const bench_case_t *known = command->cases;
    if (known == NULL) {
        return;
    }
    (void)printf("\nCases:\n");
    for (; known->name != NULL; known++) {
        (void)printf("  %-20s %s\n", known->name, known->summary);
    }
}
