/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* What every test is written with: checks over CUnit that print both operands, a main that runs a table
 * of cases, waiting for an event, loops over failing allocations, and tests of misuse.
 *
 *     static void a_thing_is_so(void) { CHECK_EQ_U64(thing(), 3); }
 *     static const check_case_t cases[] = {CHECK_CASE(a_thing_is_so)};
 *     CHECK_MAIN("base.thing", cases)
 *
 * A check that fails marks the case as failed and goes on; it returns whether it held. REQUIRE checks
 * end the case. `program NAME...` runs only the cases whose name contains one of the arguments.
 *
 * Thread rule: CHECK on any thread, REQUIRE only on the thread that runs the case. */

#ifndef TROUPE_SUPPORT_CHECK_H
#define TROUPE_SUPPORT_CHECK_H

#include <inttypes.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

#include <troupe/error.h>

#include "base/attr.h"

typedef struct check_case {
    const char *name; /* A statement: a_cancelled_timer_never_fires. */
    void (*run)(void);
} check_case_t;

#define CHECK_CASE(function)                                                                       \
    {                                                                                              \
#function, function                                                                        \
    }

int check_main(const char *suite, const check_case_t *cases, size_t len, int argc, char **argv);

#define CHECK_MAIN(suite, cases)                                                                   \
    int main(int argc, char **argv)                                                                \
    {                                                                                              \
        return check_main((suite), (cases), TRP_ARRAY_LEN(cases), argc, argv);                     \
    }

/* Where a check stands. */
typedef struct check_place {
    const char *file;
    int line;
    bool fatal; /* A REQUIRE: on failure it doesn't return. */
} check_place_t;

#define CHECK_HERE ((check_place_t){__FILE__, __LINE__, false})
#define CHECK_HERE_FATAL ((check_place_t){__FILE__, __LINE__, true})

/* Each returns whether it held; `text` is the source of the check. */
bool check_true(check_place_t place, bool held, const char *text);
bool check_u64(check_place_t place, uint64_t a, const char *op, uint64_t b, const char *text);
bool check_i64(check_place_t place, int64_t a, const char *op, int64_t b, const char *text);
bool check_double(check_place_t place, double a, double b, double tolerance, const char *text);
bool check_string(check_place_t place, const char *a, const char *b, const char *text);
bool check_bytes(check_place_t place, const void *a, size_t a_size, const void *b, size_t b_size,
                 const char *text);
bool check_err(check_place_t place, troupe_err_t err, troupe_err_t expected, const char *text);

/* Fails with a message of its own. */
bool check_fail(check_place_t place, const char *format, ...) TRP_PRINTF(2, 3);

#define CHECK(cond) check_true(CHECK_HERE, (cond), #cond)
#define CHECK_TRUE(cond) CHECK(cond)
#define CHECK_FALSE(cond) check_true(CHECK_HERE, !(cond), "!(" #cond ")")
#define CHECK_NULL(ptr) check_true(CHECK_HERE, (ptr) == NULL, #ptr " == NULL")
#define CHECK_NOT_NULL(ptr) check_true(CHECK_HERE, (ptr) != NULL, #ptr " != NULL")
#define CHECK_FAIL(...) check_fail(CHECK_HERE, __VA_ARGS__)

#define CHECK_U64_OP(a, op, b)                                                                     \
    check_u64(CHECK_HERE, (uint64_t)(a), #op, (uint64_t)(b), #a " " #op " " #b)
#define CHECK_EQ_U64(a, b) CHECK_U64_OP(a, ==, b)
#define CHECK_NE_U64(a, b) CHECK_U64_OP(a, !=, b)
#define CHECK_LT_U64(a, b) CHECK_U64_OP(a, <, b)
#define CHECK_LE_U64(a, b) CHECK_U64_OP(a, <=, b)
#define CHECK_GT_U64(a, b) CHECK_U64_OP(a, >, b)
#define CHECK_GE_U64(a, b) CHECK_U64_OP(a, >=, b)
#define CHECK_EQ_I64(a, b) check_i64(CHECK_HERE, (int64_t)(a), "==", (int64_t)(b), #a " == " #b)
#define CHECK_EQ_PTR(a, b)                                                                         \
    check_u64(CHECK_HERE, (uint64_t)(uintptr_t)(a), "==", (uint64_t)(uintptr_t)(b), #a " == " #b)
#define CHECK_NEAR(a, b, tolerance) check_double(CHECK_HERE, (a), (b), (tolerance), #a " ~ " #b)
#define CHECK_EQ_STR(a, b) check_string(CHECK_HERE, (a), (b), #a " == " #b)
#define CHECK_STR(a, b) CHECK_EQ_STR(a, b)
#define CHECK_EQ_BYTES(a, a_size, b, b_size)                                                       \
    check_bytes(CHECK_HERE, (a), (a_size), (b), (b_size), #a " == " #b)
#define CHECK_OK(err) check_err(CHECK_HERE, (err), TROUPE_OK, #err)
#define CHECK_ERR(err, expected) check_err(CHECK_HERE, (err), (expected), #err)

#define REQUIRE(cond) ((void)check_true(CHECK_HERE_FATAL, (cond), #cond))
#define REQUIRE_NOT_NULL(ptr) ((void)check_true(CHECK_HERE_FATAL, (ptr) != NULL, #ptr " != NULL"))
#define REQUIRE_OK(err) ((void)check_err(CHECK_HERE_FATAL, (err), TROUPE_OK, #err))
#define REQUIRE_EQ_U64(a, b)                                                                       \
    ((void)check_u64(CHECK_HERE_FATAL, (uint64_t)(a), "==", (uint64_t)(b), #a " == " #b))

/* ---- Waiting ---- */

/* How much longer things may take under a sanitizer, or by TROUPE_TEST_SLOW. */
uint64_t check_slowness(void);

/* Monotonic milliseconds. */
uint64_t check_now_ms(void);

/* Rests for a fraction of a millisecond between two looks. */
void check_rest(void);

/* Whether `cond` becomes true within `timeout_ms` (times check_slowness()). */
#define CHECK_WAIT(cond, timeout_ms)                                                               \
    __extension__({                                                                                \
        uint64_t check_end = check_now_ms() + (uint64_t)(timeout_ms)*check_slowness();             \
        bool check_held = (cond);                                                                  \
        while (!check_held && check_now_ms() < check_end) {                                        \
            check_rest();                                                                          \
            check_held = (cond);                                                                   \
        }                                                                                          \
        check_held;                                                                                \
    })
#define CHECK_EVENTUALLY(cond, timeout_ms)                                                         \
    check_true(CHECK_HERE, CHECK_WAIT(cond, timeout_ms), "eventually " #cond)

/* ---- Counts and seeds ---- */

/* `full` when TROUPE_TEST_FULL is set, `quick` otherwise. */
uint64_t check_count(uint64_t quick, uint64_t full);

/* TROUPE_TEST_SEED, or a fixed one; printed when a case fails. */
uint64_t check_seed(void);

/* ---- Failing allocations ---- */

/* Does the whole of a thing once, cleans up after itself, and returns the first error. */
typedef troupe_err_t (*check_step_fn)(void *user);

/* Runs the step with its 1st, 2nd, 3rd ... allocation failing, alone and with all that follow, until it
 * passes: each time it must return TROUPE_ENOMEM and leave no memory behind. No other thread of the
 * test may allocate meanwhile. */
bool check_allocations(check_place_t place, check_step_fn step, void *user);
#define CHECK_ALLOCATIONS(step, user) check_allocations(CHECK_HERE, (step), (user))

/* ---- Misuse ---- */

/* Whether this is the child, in which the statement is to run. */
bool check_abort_begin(void);
bool check_abort_end(check_place_t place, const char *text);

/* The statement, run in a child process, must end in a failed assertion. */
#define CHECK_ABORTS(statement)                                                                    \
    do {                                                                                           \
        if (check_abort_begin()) {                                                                 \
            statement;                                                                             \
            _exit(0);                                                                              \
        }                                                                                          \
        (void)check_abort_end(CHECK_HERE, #statement);                                             \
    } while (0)

#endif
