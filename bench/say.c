/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* Complaints and the progress line. */

#include "say.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <unistd.h>

void bench_complain(const char *format, ...)
{
    va_list arguments;
    bench_progress_clear();
    (void)fputs("troupe-bench: ", stderr);
    va_start(arguments, format);
    (void)vfprintf(stderr, format, arguments);
    va_end(arguments);
    (void)fputc('\n', stderr);
}

void bench_progress(const char *format, ...)
{
    va_list arguments;
    if (isatty(STDERR_FILENO) == 0) {
        return;
    }
    (void)fputs("\r\033[K", stderr);
    va_start(arguments, format);
    (void)vfprintf(stderr, format, arguments);
    va_end(arguments);
    (void)fflush(stderr);
}

void bench_progress_clear(void)
{
    if (isatty(STDERR_FILENO) != 0) {
        (void)fputs("\r\033[K", stderr);
    }
}
