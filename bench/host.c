/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* Reading /etc/os-release and /proc. */

#include "host.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#define HOST_LINE_SIZE_MAX 512

/* Finds the first line of a file that begins with `key` and copies what follows its separator. */
static bool host_find(const char *path, const char *key, char separator, char *ret_text,
                      size_t size)
{
    char line[HOST_LINE_SIZE_MAX];
    bool found = false;
    FILE *file = fopen(path, "re");
    if (file == NULL) {
        return false;
    }
    while (!found && fgets(line, sizeof(line), file) != NULL) {
        const char *value = strchr(line, separator);
        if (strncmp(line, key, strlen(key)) != 0 || value == NULL) {
            continue;
        }
        value += 1 + strspn(value + 1, " \t\"");
        (void)snprintf(ret_text, size, "%.*s", (int)strcspn(value, "\"\n"), value);
        found = true;
    }
    (void)fclose(file);
    return found;
}

static void host_read_os(bench_host_t *host)
{
    char name[128] = "Linux";
    struct utsname kernel;
    (void)host_find("/etc/os-release", "PRETTY_NAME", '=', name, sizeof(name));
    if (uname(&kernel) != 0) {
        (void)snprintf(host->os, sizeof(host->os), "%s", name);
        return;
    }
    (void)snprintf(host->os, sizeof(host->os), "%.64s, %.64s %.64s %.40s", name, kernel.sysname,
                   kernel.release, kernel.machine);
}

void bench_host_read(bench_host_t *ret_host)
{
    char mhz[64] = "0";
    const long processors = sysconf(_SC_NPROCESSORS_ONLN);
    memset(ret_host, 0, sizeof(*ret_host));
    host_read_os(ret_host);
    if (!host_find("/proc/cpuinfo", "model name", ':', ret_host->processor,
                   sizeof(ret_host->processor))) {
        (void)snprintf(ret_host->processor, sizeof(ret_host->processor), "unknown processor");
    }
    (void)host_find("/proc/cpuinfo", "cpu MHz", ':', mhz, sizeof(mhz));
    ret_host->clock_mhz = strtod(mhz, NULL);
    ret_host->processors = processors > 0 ? (uint32_t)processors : 1;
}

static uint64_t host_status(int pid, const char *key)
{
    char path[64] = "/proc/self/status";
    char text[64] = "0";
    if (pid != 0) {
        (void)snprintf(path, sizeof(path), "/proc/%d/status", pid);
    }
    (void)host_find(path, key, ':', text, sizeof(text));
    return strtoull(text, NULL, 10);
}

uint64_t bench_host_memory(int pid)
{
    return host_status(pid, "VmRSS") * 1024; /* The file counts in KiB. */
}

uint32_t bench_host_threads(int pid)
{
    return (uint32_t)host_status(pid, "Threads");
}
