/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* The commands that need no running node: version, keygen, bench. */

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <troupe/node.h>
#include <troupe/version.h>

#include "base/text.h"
#include "tool.h"

#define LOCAL_PATH_SIZE 4096

tool_exit_t tool_run_version(const tool_args_t *args)
{
    printf(args->is_json ? "{\"version\":\"%s\"}\n" : "troupe %s\n", troupe_version_text());
    return TOOL_OK;
}

/* ---- keys -------------------------------------------------------------------------------------- */

/* Writes one line to a file that must not be there yet. */
static bool local_write_key(const char *path, const char *key, mode_t mode)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, mode);
    if (fd < 0) {
        tool_complain("%s: %s", path, trp_text_of_errno(errno));
        return false;
    }
    bool is_written = dprintf(fd, "%s\n", key) == (int)strlen(key) + 1;
    is_written = fsync(fd) == 0 && is_written;
    is_written = close(fd) == 0 && is_written;
    if (!is_written) {
        tool_complain("%s: can't be written: %s", path, trp_text_of_errno(errno));
        unlink(path);
    }
    return is_written;
}

static tool_exit_t local_keygen_files(const char *out, const char *public_key,
                                      const char *secret_key, bool is_json)
{
    char public_path[LOCAL_PATH_SIZE];
    if ((size_t)snprintf(public_path, sizeof(public_path), "%s.pub", out) >= sizeof(public_path)) {
        tool_complain("the path is too long");
        return TOOL_USAGE;
    }
    if (!local_write_key(out, secret_key, 0600)) {
        return TOOL_FAILED;
    }
    if (!local_write_key(public_path, public_key, 0644)) {
        unlink(out);
        return TOOL_FAILED;
    }
    printf(is_json ? "{\"public_key\":\"%s\"}\n" : "%s\n", public_key);
    return TOOL_OK;
}

tool_exit_t tool_run_keygen(const tool_args_t *args)
{
    char public_key[TROUPE_KEY_SIZE];
    char secret_key[TROUPE_KEY_SIZE];
    const char *out = tool_flag(args, "out");
    troupe_err_t err = troupe_key_generate(public_key, secret_key);
    if (err != TROUPE_OK) {
        tool_complain("no keys: %s", troupe_err_text(err));
        return TOOL_FAILED;
    }
    tool_exit_t code = TOOL_OK;
    if (out != NULL) {
        code = local_keygen_files(out, public_key, secret_key, args->is_json);
    } else {
        /* Z85 has no byte that JSON or YAML's single quotes would have to escape. */
        printf(args->is_json ? "{\"public_key\":\"%s\",\"secret_key\":\"%s\"}\n"
                             : "public_key: '%s'\nsecret_key: '%s'\n",
               public_key, secret_key);
    }
    explicit_bzero(secret_key, sizeof(secret_key));
    return code;
}

/* ---- the benchmark ------------------------------------------------------------------------------ */

/* The program lies beside this one. */
static bool local_bench_path(char *ret_path, size_t capacity)
{
    static const char name[] = "troupe-bench";
    ssize_t size = readlink("/proc/self/exe", ret_path, capacity - 1);
    if (size <= 0) {
        return false;
    }
    ret_path[size] = '\0';
    char *slash = strrchr(ret_path, '/');
    size_t folder = slash != NULL ? (size_t)(slash - ret_path) + 1 : 0;
    if (folder + sizeof(name) > capacity) {
        return false;
    }
    memcpy(ret_path + folder, name, sizeof(name));
    return true;
}

tool_exit_t tool_run_bench(const tool_args_t *args)
{
    char path[LOCAL_PATH_SIZE];
    char *argv[TOOL_ARGS_MAX + 2] = {0};
    if (!local_bench_path(path, sizeof(path))) {
        tool_complain("the benchmark's path can't be found");
        return TOOL_FAILED;
    }
    argv[0] = path;
    for (size_t i = 0; i < args->len; i++) {
        /* execv takes them without const for the sake of old code, and leaves them alone. */
        memcpy(&argv[i + 1], &args->items[i], sizeof(argv[0]));
    }
    execv(path, argv);
    tool_complain("%s: %s", path, trp_text_of_errno(errno));
    return TOOL_FAILED;
}
