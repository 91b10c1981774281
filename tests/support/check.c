/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* Checks over CUnit, and the main of every test program. */

#include "support/check.h"

#include <CUnit/Basic.h>
#include <CUnit/CUnit.h>
#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>

#include "base/memory.h"

#define CHECK_TEXT_SIZE 1024
#define CHECK_ALLOCATIONS_MAX 100000 /* A step with more never ends. */
#define CHECK_REST_NS 200000

/* CUnit keeps its results without a lock. */
static pthread_mutex_t check_lock = PTHREAD_MUTEX_INITIALIZER;

static bool check_report(check_place_t place, bool held, const char *message)
{
    (void)pthread_mutex_lock(&check_lock);
    (void)CU_assertImplementation(held, (unsigned)place.line, message, place.file, "", CU_FALSE);
    (void)pthread_mutex_unlock(&check_lock);
    if (!held && place.fatal) {
        /* Once more and fatal, without the lock: it leaves by a long jump. */
        (void)CU_assertImplementation(CU_FALSE, (unsigned)place.line, "the case ends here",
                                      place.file, "", CU_TRUE);
    }
    return held;
}

bool check_true(check_place_t place, bool held, const char *text)
{
    return check_report(place, held, text);
}

bool check_fail(check_place_t place, const char *format, ...)
{
    char message[CHECK_TEXT_SIZE];
    va_list args;
    va_start(args, format);
    (void)vsnprintf(message, sizeof(message), format, args);
    va_end(args);
    return check_report(place, false, message);
}

/* The result of a comparison, from how a stands to b (-1, 0, 1). */
static bool check_order_holds(int order, const char *op)
{
    switch (op[0]) {
    case '=':
        return order == 0;
    case '!':
        return order != 0;
    case '<':
        return op[1] == '=' ? order <= 0 : order < 0;
    default:
        return op[1] == '=' ? order >= 0 : order > 0;
    }
}

bool check_u64(check_place_t place, uint64_t a, const char *op, uint64_t b, const char *text)
{
    if (check_order_holds((a > b) - (a < b), op)) {
        return check_report(place, true, text);
    }
    return check_fail(place, "%s: %" PRIu64 " (0x%" PRIx64 ") against %" PRIu64 " (0x%" PRIx64 ")",
                      text, a, a, b, b);
}

bool check_i64(check_place_t place, int64_t a, const char *op, int64_t b, const char *text)
{
    if (check_order_holds((a > b) - (a < b), op)) {
        return check_report(place, true, text);
    }
    return check_fail(place, "%s: %" PRId64 " against %" PRId64, text, a, b);
}

bool check_double(check_place_t place, double a, double b, double tolerance, const char *text)
{
    if (fabs(a - b) <= tolerance) {
        return check_report(place, true, text);
    }
    return check_fail(place, "%s: %g against %g, tolerance %g", text, a, b, tolerance);
}

bool check_string(check_place_t place, const char *a, const char *b, const char *text)
{
    if (a == b || (a != NULL && b != NULL && strcmp(a, b) == 0)) {
        return check_report(place, true, text);
    }
    return check_fail(place, "%s: \"%s\" against \"%s\"", text, a != NULL ? a : "(null)",
                      b != NULL ? b : "(null)");
}

bool check_bytes(check_place_t place, const void *a, size_t a_size, const void *b, size_t b_size,
                 const char *text)
{
    const unsigned char *left = a;
    const unsigned char *right = b;
    size_t at = 0;
    while (at < a_size && at < b_size && left[at] == right[at]) {
        at++;
    }
    if (at == a_size && at == b_size) {
        return check_report(place, true, text);
    }
    int left_byte = at < a_size ? left[at] : -1;
    int right_byte = at < b_size ? right[at] : -1;
    return check_fail(place, "%s: %zu bytes against %zu, which differ at %zu: %d against %d", text,
                      a_size, b_size, at, left_byte, right_byte);
}

bool check_err(check_place_t place, troupe_err_t err, troupe_err_t expected, const char *text)
{
    if (err == expected) {
        return check_report(place, true, text);
    }
    return check_fail(place, "%s: %s against %s", text, troupe_err_name(err),
                      troupe_err_name(expected));
}

uint64_t check_slowness(void)
{
    const char *slow = getenv("TROUPE_TEST_SLOW");
    uint64_t factor = slow != NULL ? strtoull(slow, NULL, 10) : 1;
#if defined(TRP_TSAN) || defined(__SANITIZE_ADDRESS__)
    factor *= 4;
#endif
    return factor > 0 ? factor : 1;
}

uint64_t check_now_ms(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

void check_rest(void)
{
    struct timespec rest = {0, CHECK_REST_NS};
    (void)nanosleep(&rest, NULL);
}

uint64_t check_count(uint64_t quick, uint64_t full)
{
    const char *value = getenv("TROUPE_TEST_FULL");
    return value != NULL && value[0] != '\0' && strcmp(value, "0") != 0 ? full : quick;
}

uint64_t check_seed(void)
{
    const char *value = getenv("TROUPE_TEST_SEED");
    return value != NULL && value[0] != '\0' ? strtoull(value, NULL, 0) : 20240501;
}

/* One run of the step with a failure set up; ret_failed is how many allocations failed. */
static bool check_one_failure(check_place_t place, check_step_fn step, void *user, uint64_t at,
                              uint64_t *ret_failed)
{
    int64_t live = trp_memory_live();
    troupe_err_t err = step(user);
    *ret_failed = trp_memory_fail_off();
    troupe_err_t expected = *ret_failed > 0 ? TROUPE_ENOMEM : TROUPE_OK;
    if (err != expected) {
        return check_fail(place, "with allocation %" PRIu64 " failing: %s against %s", at,
                          troupe_err_name(err), troupe_err_name(expected));
    }
    int64_t left = trp_memory_live() - live;
    if (left != 0) {
        return check_fail(place, "with allocation %" PRIu64 " failing: %" PRId64 " blocks leaked",
                          at, left);
    }
    return true;
}

static bool check_failures(check_place_t place, check_step_fn step, void *user,
                           void (*set_up)(uint64_t))
{
    uint64_t failed = 1;
    for (uint64_t at = 0; failed > 0; at++) {
        set_up(at);
        if (!check_one_failure(place, step, user, at, &failed)) {
            return false;
        }
        if (at > CHECK_ALLOCATIONS_MAX) {
            return check_fail(place, "more than %d allocations", CHECK_ALLOCATIONS_MAX);
        }
    }
    return check_report(place, true, "failing allocations");
}

bool check_allocations(check_place_t place, check_step_fn step, void *user)
{
    return check_failures(place, step, user, trp_memory_fail_once) &&
           check_failures(place, step, user, trp_memory_fail_after);
}

static pid_t check_child;

bool check_abort_begin(void)
{
    (void)fflush(NULL);
    check_child = fork();
    if (check_child != 0) {
        return false;
    }
    struct rlimit none = {0, 0};
    (void)setrlimit(RLIMIT_CORE, &none);
    (void)signal(SIGABRT, SIG_DFL);
    (void)!freopen("/dev/null", "w", stderr);
    return true;
}

bool check_abort_end(check_place_t place, const char *text)
{
    int status = 0;
    if (check_child < 0 || waitpid(check_child, &status, 0) != check_child) {
        return check_fail(place, "no child process for %s", text);
    }
    if (WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT) {
        return check_report(place, true, text);
    }
    return check_fail(place, "%s: no assertion failed (status 0x%x)", text, (unsigned)status);
}

static bool check_is_wanted(const char *name, int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        if (strstr(name, argv[i]) != NULL) {
            return true;
        }
    }
    return argc <= 1;
}

static unsigned check_run(const char *suite, const check_case_t *cases, size_t len, int argc,
                          char **argv)
{
    CU_pSuite added = CU_add_suite(suite, NULL, NULL);
    unsigned wanted = 0;
    for (size_t i = 0; added != NULL && i < len; i++) {
        if (check_is_wanted(cases[i].name, argc, argv)) {
            wanted += CU_add_test(added, cases[i].name, cases[i].run) != NULL;
        }
    }
    CU_basic_set_mode(CU_BRM_VERBOSE);
    (void)CU_basic_run_tests();
    return wanted;
}

int check_main(const char *suite, const check_case_t *cases, size_t len, int argc, char **argv)
{
    /* A failing program's last lines must be there even when it crashes. */
    (void)setvbuf(stdout, NULL, _IOLBF, 0);
    if (CU_initialize_registry() != CUE_SUCCESS) {
        (void)fprintf(stderr, "no memory for the tests\n");
        return 2;
    }
    unsigned wanted = check_run(suite, cases, len, argc, argv);
    unsigned run = CU_get_number_of_tests_run();
    unsigned failures = CU_get_number_of_failures();
    CU_cleanup_registry();
    if (failures > 0) {
        (void)fprintf(stderr, "TROUPE_TEST_SEED=%" PRIu64 "\n", check_seed());
    }
    return failures == 0 && run > 0 && run == wanted ? 0 : 1;
}
