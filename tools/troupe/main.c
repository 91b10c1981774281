/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* `troupe`: finds the command and runs it. */

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <troupe/version.h>

#include "base/text.h"
#include "tool.h"

#define MAIN_COMMANDS_MAX 64

static const tool_command_t *main_find(const char *name)
{
    for (const tool_command_t *command = tool_commands; command->name != NULL; command++) {
        if (strcmp(command->name, name) == 0) {
            return command;
        }
    }
    return NULL;
}

static tool_exit_t main_unknown(const char *name)
{
    const char *names[MAIN_COMMANDS_MAX];
    char shown[64];
    size_t len = 0;
    for (; len < MAIN_COMMANDS_MAX && tool_commands[len].name != NULL; len++) {
        names[len] = tool_commands[len].name;
    }
    trp_text_escape(shown, sizeof(shown), name, strlen(name));
    const char *near = trp_text_suggest(name, names, len);
    if (near != NULL) {
        tool_complain("unknown command %s; did you mean %s?", shown, near);
    } else {
        tool_complain("unknown command %s; see `troupe --help`", shown);
    }
    return TOOL_USAGE;
}

/* The benchmark reads its own arguments. */
static tool_exit_t main_run_bench(const tool_command_t *command, int argc, char **argv)
{
    tool_args_t args;
    memset(&args, 0, sizeof(args));
    args.command = command;
    for (int i = 0; i < argc && i < TOOL_ARGS_MAX - 1; i++) {
        args.items[i] = argv[i];
        args.len += 1;
    }
    return command->run(&args);
}

static tool_exit_t main_run(const tool_command_t *command, int argc, char **argv)
{
    tool_args_t args;
    bool is_help = false;
    if (command->run == tool_run_bench) {
        return main_run_bench(command, argc, argv);
    }
    tool_exit_t code = TOOL_USAGE;
    if (tool_args_parse(command, argc, argv, &args, &is_help)) {
        code = TOOL_OK;
        if (is_help) {
            tool_help(command);
        } else {
            code = command->run(&args);
        }
    }
    tool_args_fini(&args);
    return code;
}

int main(int argc, char **argv)
{
    /* A pipe that is closed early is an error of write, not the end of the process. */
    signal(SIGPIPE, SIG_IGN);
    if (argc < 2) {
        tool_help_all();
        return TOOL_USAGE;
    }
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "help") == 0) {
        const tool_command_t *command = argc > 2 ? main_find(argv[2]) : NULL;
        if (command != NULL) {
            tool_help(command);
        } else {
            tool_help_all();
        }
        return TOOL_OK;
    }
    const char *name = strcmp(argv[1], "--version") == 0 ? "version" : argv[1];
    const tool_command_t *command = main_find(name);
    tool_exit_t code = command != NULL ? main_run(command, argc - 2, argv + 2) : main_unknown(name);
    if (fflush(stdout) != 0 && code == TOOL_OK) {
        code = TOOL_FAILED;
    }
    return (int)code;
}
