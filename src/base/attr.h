/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* The one place for what C11 itself can't say: hints, cleanup, format checks, thread roles for Clang's
 * analysis, and the hand-off marks that tell ThreadSanitizer about libraries it can't see into. */

#ifndef TROUPE_BASE_ATTR_H
#define TROUPE_BASE_ATTR_H

#include <stddef.h>

#define TRP_LIKELY(cond) __builtin_expect(!!(cond), 1)
#define TRP_UNLIKELY(cond) __builtin_expect(!!(cond), 0)
#define TRP_NOINLINE __attribute__((noinline))
#define TRP_ALWAYS_INLINE inline __attribute__((always_inline))
#define TRP_COLD __attribute__((cold))
#define TRP_UNUSED __attribute__((unused))
#define TRP_MUST_USE __attribute__((warn_unused_result))
#define TRP_MALLOC __attribute__((malloc, warn_unused_result))
#define TRP_PRINTF(format_index, first_index)                                                      \
    __attribute__((format(printf, format_index, first_index)))

/* Calls fn(&variable) when the variable leaves its scope; every x_destroy(x_t **) fits. */
#define TRP_CLEANUP(fn) __attribute__((cleanup(fn)))

/* What two threads write lies on different lines. 64 bytes on x86-64 and on most arm64. */
#define TRP_CACHE_LINE 64
#define TRP_ALIGNED(bytes) __attribute__((aligned(bytes)))

#define TRP_ARRAY_LEN(array) (sizeof(array) / sizeof((array)[0]))

/* The struct that `ptr` is the `member` of. The detour over char * is through void * so that
 * -Wcast-align has nothing to say; `ptr` must not be const. */
#define TRP_CONTAINER_OF(ptr, type, member) ((type *)(void *)((char *)(ptr)-offsetof(type, member)))

/* Tells the processor that this is a spin loop. */
static inline void trp_cpu_relax(void)
{
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ __volatile__("yield" ::: "memory");
#endif
}

/* ---- Thread roles -----------------------------------------------------------------------------
 * A role is a capability that a thread has, not a lock: "runs the dispatcher". TRP_ROLE(dispatcher)
 * in a header declares it together with three functions that cost nothing:
 *     trp_role_dispatcher_enter()   the thread's main function takes the role
 *     trp_role_dispatcher_leave()   and lays it down
 *     trp_role_dispatcher_assume()  for a place that the analysis can't follow (a callback)
 * A function that may only run in the role says TRP_REQUIRES(dispatcher) after its parameters. */
#if defined(__clang__)
#define TRP_THREAD_ATTR(x) __attribute__((x))
#else
#define TRP_THREAD_ATTR(x)
#endif

typedef struct TRP_THREAD_ATTR(capability("role")) trp_role {
    char unused;
} trp_role_t;

#define TRP_ROLE(name)                                                                             \
    extern trp_role_t trp_role_##name;                                                             \
    static inline void trp_role_##name##_enter(void)                                               \
        TRP_THREAD_ATTR(acquire_capability(trp_role_##name))                                       \
            TRP_THREAD_ATTR(no_thread_safety_analysis)                                             \
    {                                                                                              \
    }                                                                                              \
    static inline void trp_role_##name##_leave(void)                                               \
        TRP_THREAD_ATTR(release_capability(trp_role_##name))                                       \
            TRP_THREAD_ATTR(no_thread_safety_analysis)                                             \
    {                                                                                              \
    }                                                                                              \
    static inline void trp_role_##name##_assume(void)                                              \
        TRP_THREAD_ATTR(assert_capability(trp_role_##name))                                        \
    {                                                                                              \
    }                                                                                              \
    extern trp_role_t trp_role_##name

#define TRP_REQUIRES(name) TRP_THREAD_ATTR(requires_capability(trp_role_##name))
#define TRP_EXCLUDES(name) TRP_THREAD_ATTR(locks_excluded(trp_role_##name))
#define TRP_OWNED_BY(name) TRP_THREAD_ATTR(guarded_by(trp_role_##name))

/* ---- Hand-off of a pointer between threads ----------------------------------------------------
 * Where a pointer crosses through code that ThreadSanitizer can't see into (libzmq, the kernel), the
 * giver calls TRP_HANDOFF_GIVE(ptr) before and the taker TRP_HANDOFF_TAKE(ptr) after. */
#if defined(__SANITIZE_THREAD__)
#define TRP_TSAN 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define TRP_TSAN 1
#endif
#endif

#ifdef TRP_TSAN
void __tsan_acquire(void *addr);
void __tsan_release(void *addr);
#define TRP_HANDOFF_GIVE(ptr) __tsan_release((void *)(ptr))
#define TRP_HANDOFF_TAKE(ptr) __tsan_acquire((void *)(ptr))
#else
#define TRP_HANDOFF_GIVE(ptr) ((void)(ptr))
#define TRP_HANDOFF_TAKE(ptr) ((void)(ptr))
#endif

#endif
