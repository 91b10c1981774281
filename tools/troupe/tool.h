/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* What the commands of `troupe` share: exit codes, the table of commands, arguments. */

#ifndef TROUPE_TOOL_TOOL_H
#define TROUPE_TOOL_TOOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Documented in docs/configuration.md; scripts rely on them. */
typedef enum tool_exit {
    TOOL_OK = 0,
    TOOL_FAILED = 1,      /* The node said no, or something went wrong. */
    TOOL_USAGE = 2,       /* Wrong arguments, or a configuration that isn't valid. */
    TOOL_UNREACHABLE = 3, /* No node answers at the admin socket. */
    TOOL_TIMEOUT = 4,     /* The deadline passed. */
    TOOL_REFUSED = 5,     /* The cluster refused the node: its name, version or key. */
    TOOL_DOWNED = 6,      /* The cluster downed the node, and it was not to come back. */
} tool_exit_t;

#define TOOL_FLAGS_MAX 16
#define TOOL_ARGS_MAX 64

typedef enum tool_flag_kind {
    TOOL_FLAG_END = 0, /* Ends a table. */
    TOOL_FLAG_BOOL,
    TOOL_FLAG_TEXT,
    TOOL_FLAG_NUMBER,
} tool_flag_kind_t;

typedef struct tool_flag {
    tool_flag_kind_t kind;
    const char *name;  /* Without the dashes. */
    const char *value; /* What stands for its value in the help: "MS", "PATH". */
    const char *help;
} tool_flag_t;

typedef struct tool_command tool_command_t;

typedef struct tool_args {
    const tool_command_t *command;
    const char
        *given[TOOL_FLAGS_MAX]; /* Values, in the order of the command's flags; NULL: not given. */
    const char *items[TOOL_ARGS_MAX]; /* What is no flag. */
    size_t len;
    bool is_json;
    const char *socket; /* NULL: the default. */
    uint32_t timeout_ms;
    const char **options; /* Of `troupe node`: flags with a dot in them, "key=value". */
    size_t options_len;
} tool_args_t;

struct tool_command {
    const char *name;
    const char *items;   /* What stands for its arguments in the help: "TOPIC [BODY]". */
    const char *summary; /* One line. */
    const char *help;    /* More, for --help; may be NULL. */
    size_t len_min;      /* Of the arguments. */
    size_t len_max;
    const tool_flag_t *flags;
    bool is_local;    /* Talks to no node: has no --socket. */
    bool has_options; /* Takes the options of a node as flags. */
    tool_exit_t (*run)(const tool_args_t *args);
};

/* All commands, ended by one without a name (commands.c). */
extern const tool_command_t tool_commands[];

/* Reads the arguments after the command's name. False, with words on standard error, when they are
 * wrong. `ret_is_help`: --help was given, and nothing else matters. */
bool tool_args_parse(const tool_command_t *command, int argc, char **argv, tool_args_t *ret_args,
                     bool *ret_is_help);
void tool_args_fini(tool_args_t *args);

/* The flag's value; NULL when it was not given. */
const char *tool_flag(const tool_args_t *args, const char *name);
/* The number given, or `fallback`. Numbers were checked when they were read. */
uint32_t tool_flag_number(const tool_args_t *args, const char *name, uint32_t fallback);

/* Prints a command's help to standard output. */
void tool_help(const tool_command_t *command);
/* Prints the list of commands. */
void tool_help_all(void);

/* Words on standard error, after "troupe: ". */
void tool_complain(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* The commands, by file. */
tool_exit_t tool_run_node(const tool_args_t *args);
tool_exit_t tool_run_config(const tool_args_t *args);
tool_exit_t tool_run_keygen(const tool_args_t *args);
tool_exit_t tool_run_bench(const tool_args_t *args);
tool_exit_t tool_run_version(const tool_args_t *args);
tool_exit_t tool_run_info(const tool_args_t *args);
tool_exit_t tool_run_ping(const tool_args_t *args);
tool_exit_t tool_run_members(const tool_args_t *args);
tool_exit_t tool_run_links(const tool_args_t *args);
tool_exit_t tool_run_topics(const tool_args_t *args);
tool_exit_t tool_run_stats(const tool_args_t *args);
tool_exit_t tool_run_tree(const tool_args_t *args);
tool_exit_t tool_run_pub(const tool_args_t *args);
tool_exit_t tool_run_sub(const tool_args_t *args);
tool_exit_t tool_run_tell(const tool_args_t *args);
tool_exit_t tool_run_ask(const tool_args_t *args);
tool_exit_t tool_run_leave(const tool_args_t *args);
tool_exit_t tool_run_down(const tool_args_t *args);
tool_exit_t tool_run_log(const tool_args_t *args);

#endif
