/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* Reads arguments by the tables of commands.c, and writes the help from them. */

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <troupe/config.h>

#include "base/text.h"
#include "tool.h"

#define ARGS_TIMEOUT_MS 5000u
#define ARGS_TIMEOUT_MAX_MS 600000u

static const tool_flag_t args_common[] = {
    {TOOL_FLAG_BOOL, "json", "", "machine-readable output"},
    {TOOL_FLAG_BOOL, "help", "", "this text"},
    {TOOL_FLAG_END, "", "", ""},
};

static const tool_flag_t args_remote[] = {
    {TOOL_FLAG_TEXT, "socket", "PATH", "admin socket of the node"},
    {TOOL_FLAG_NUMBER, "timeout", "MS", "wait at most so long (5000)"},
    {TOOL_FLAG_END, "", "", ""},
};

void tool_complain(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    fputs("troupe: ", stderr);
    vfprintf(stderr, format, args);
    fputc('\n', stderr);
    va_end(args);
}

/* ---- finding ----------------------------------------------------------------------------------- */

static const tool_flag_t *args_find_in(const tool_flag_t *flags, const char *name, size_t size)
{
    for (; flags->kind != TOOL_FLAG_END; flags++) {
        if (strlen(flags->name) == size && memcmp(flags->name, name, size) == 0) {
            return flags;
        }
    }
    return NULL;
}

static const tool_flag_t *args_find(const tool_command_t *command, const char *name, size_t size)
{
    const tool_flag_t *flag = args_find_in(command->flags, name, size);
    if (flag == NULL) {
        flag = args_find_in(args_common, name, size);
    }
    if (flag == NULL && !command->is_local) {
        flag = args_find_in(args_remote, name, size);
    }
    return flag;
}

static size_t args_names(const tool_flag_t *flags, const char **names, size_t len)
{
    for (; flags->kind != TOOL_FLAG_END; flags++) {
        names[len] = flags->name;
        len += 1;
    }
    return len;
}

static void args_complain_flag(const tool_command_t *command, const char *name, size_t size)
{
    const char *names[2 * TOOL_FLAGS_MAX];
    char word[64];
    size_t len = args_names(args_common, names, 0);
    len = args_names(command->flags, names, len);
    len = command->is_local ? len : args_names(args_remote, names, len);
    trp_text_escape(word, sizeof(word), name, size);
    const char *near = trp_text_suggest(word, names, len);
    if (near != NULL) {
        tool_complain("%s: unknown flag --%s; did you mean --%s?", command->name, word, near);
    } else {
        tool_complain("%s: unknown flag --%s; see `troupe %s --help`", command->name, word,
                      command->name);
    }
}

/* ---- storing ----------------------------------------------------------------------------------- */

static bool args_number(const char *text, uint64_t max, uint32_t *ret_number)
{
    uint64_t number = 0;
    if (trp_text_parse_u64(text, max, &number) != TROUPE_OK) {
        return false;
    }
    *ret_number = (uint32_t)number;
    return true;
}

static bool args_store_common(tool_args_t *args, const tool_flag_t *flag, const char *value)
{
    if (strcmp(flag->name, "json") == 0) {
        args->is_json = true;
    } else if (strcmp(flag->name, "socket") == 0) {
        args->socket = value;
    } else if (strcmp(flag->name, "timeout") == 0) {
        return args_number(value, ARGS_TIMEOUT_MAX_MS, &args->timeout_ms);
    }
    return true;
}

static bool args_store(tool_args_t *args, const tool_flag_t *flag, const char *value)
{
    ptrdiff_t index = flag - args->command->flags;
    bool is_own = args_find_in(args->command->flags, flag->name, strlen(flag->name)) == flag;
    uint32_t number = 0;
    bool is_good = flag->kind != TOOL_FLAG_NUMBER || args_number(value, UINT32_MAX, &number);
    if (is_good && is_own) {
        args->given[index] = value;
        return true;
    }
    if (is_good && args_store_common(args, flag, value)) {
        return true;
    }
    tool_complain("--%s: \"%s\" is no number, or out of range", flag->name, value);
    return false;
}

/* One flag at argv[*at]; its value may be the argument after it. */
static bool args_take_flag(tool_args_t *args, int argc, char **argv, int *at)
{
    const char *name = argv[*at] + 2;
    size_t size = strcspn(name, "=");
    const char *value = name[size] == '=' ? name + size + 1 : NULL;
    if (args->command->has_options && memchr(name, '.', size) != NULL) {
        if (value == NULL) {
            tool_complain("--%s: give its value as --%s=VALUE", name, name);
            return false;
        }
        args->options[args->options_len] = name;
        args->options_len += 1;
        return true;
    }
    const tool_flag_t *flag = args_find(args->command, name, size);
    if (flag == NULL) {
        args_complain_flag(args->command, name, size);
        return false;
    }
    if (flag->kind == TOOL_FLAG_BOOL) {
        if (value != NULL) {
            tool_complain("--%s takes no value", flag->name);
            return false;
        }
        return args_store(args, flag, "true");
    }
    if (value == NULL && *at + 1 < argc) {
        *at += 1;
        value = argv[*at];
    }
    if (value == NULL) {
        tool_complain("--%s wants a value: %s", flag->name, flag->value);
        return false;
    }
    return args_store(args, flag, value);
}

static bool args_take_item(tool_args_t *args, const char *item)
{
    if (args->len >= args->command->len_max) {
        tool_complain("%s: too many arguments, at \"%s\"; see `troupe %s --help`",
                      args->command->name, item, args->command->name);
        return false;
    }
    args->items[args->len] = item;
    args->len += 1;
    return true;
}

bool tool_args_parse(const tool_command_t *command, int argc, char **argv, tool_args_t *ret_args,
                     bool *ret_is_help)
{
    memset(ret_args, 0, sizeof(*ret_args));
    ret_args->command = command;
    ret_args->timeout_ms = ARGS_TIMEOUT_MS;
    ret_args->options = calloc((size_t)argc + 1, sizeof(*ret_args->options));
    bool is_flags_end = ret_args->options == NULL;
    bool is_good = !is_flags_end;
    *ret_is_help = false;
    for (int i = 0; i < argc && is_good; i++) {
        if (!is_flags_end && strcmp(argv[i], "--") == 0) {
            is_flags_end = true;
        } else if (!is_flags_end && strcmp(argv[i], "--help") == 0) {
            *ret_is_help = true;
            return true;
        } else if (!is_flags_end && strncmp(argv[i], "--", 2) == 0) {
            is_good = args_take_flag(ret_args, argc, argv, &i);
        } else {
            is_good = args_take_item(ret_args, argv[i]);
        }
    }
    if (is_good && ret_args->len < command->len_min) {
        tool_complain("%s: wants %s; see `troupe %s --help`", command->name, command->items,
                      command->name);
        is_good = false;
    }
    return is_good;
}

void tool_args_fini(tool_args_t *args)
{
    free(args->options);
    args->options = NULL;
}

const char *tool_flag(const tool_args_t *args, const char *name)
{
    const tool_flag_t *flag = args_find_in(args->command->flags, name, strlen(name));
    return flag != NULL ? args->given[flag - args->command->flags] : NULL;
}

uint32_t tool_flag_number(const tool_args_t *args, const char *name, uint32_t fallback)
{
    const char *value = tool_flag(args, name);
    uint32_t number = fallback;
    return value != NULL && args_number(value, UINT32_MAX, &number) ? number : fallback;
}

/* ---- help -------------------------------------------------------------------------------------- */

static void help_flags(const tool_flag_t *flags)
{
    for (; flags->kind != TOOL_FLAG_END; flags++) {
        char left[40];
        trp_text_format(left, sizeof(left), "--%s%s%s", flags->name,
                        flags->value[0] != '\0' ? " " : "", flags->value);
        printf("  %-22s %s\n", left, flags->help);
    }
}

static void help_option(const troupe_config_option_t *option)
{
    char variable[128] = "";
    if (troupe_config_variable(option->key, variable, sizeof(variable)) != TROUPE_OK) {
        variable[0] = '\0';
    }
    printf("\n  --%s=%s\n      %s\n      %s", option->key,
           option->choices[0] != '\0' ? option->choices : option->kind, option->help, variable);
    if (option->default_text[0] != '\0') {
        printf("; default %s", option->default_text);
    }
    putchar('\n');
}

void tool_help(const tool_command_t *command)
{
    printf("troupe %s%s%s %s\n\n%c%s.\n", command->name, command->items[0] != '\0' ? " " : "",
           command->items, "[flags]", command->summary[0] - 'a' + 'A', command->summary + 1);
    if (command->help != NULL) {
        printf("\n%s", command->help);
    }
    printf("\nFlags:\n");
    help_flags(command->flags);
    if (!command->is_local) {
        help_flags(args_remote);
    }
    help_flags(args_common);
    if (!command->is_local) {
        printf("\nWithout --socket: $TROUPE_ADMIN_SOCKET, then $XDG_RUNTIME_DIR/troupe.sock, then\n"
               "/tmp/troupe-UID/troupe.sock. Exit codes: 0 done, 1 failed, 2 wrong arguments,\n"
               "3 no node answers, 4 timed out.\n");
    }
    if (command->has_options) {
        printf("\nOptions of the node, each also a key of the file and a variable:\n");
        for (size_t i = 0; troupe_config_option(i) != NULL; i++) {
            help_option(troupe_config_option(i));
        }
    }
}

void tool_help_all(void)
{
    printf("troupe COMMAND [arguments]\n\nRuns a node of a Troupe cluster, and talks to running "
           "ones.\n\nCommands:\n");
    for (const tool_command_t *command = tool_commands; command->name != NULL; command++) {
        char left[40];
        trp_text_format(left, sizeof(left), "%s %s", command->name, command->items);
        printf("  %-22s %s\n", left, command->summary);
    }
    printf("\n`troupe COMMAND --help` says more.\n");
}
