/* SPDX-FileCopyrightText: The Troupe authors
 * SPDX-License-Identifier: Apache-2.0 */

/* What every public header needs: symbol visibility, must-use results, C++ linkage. */

#ifndef TROUPE_API_H
#define TROUPE_API_H

#if defined(__GNUC__) || defined(__clang__)
#define TROUPE_API __attribute__((visibility("default")))
#define TROUPE_MUST_USE __attribute__((warn_unused_result))
#else
#define TROUPE_API
#define TROUPE_MUST_USE
#endif

/* On a type: every function that returns it is must-use. Only Clang knows this for C enums. */
#if defined(__clang__)
#define TROUPE_MUST_USE_TYPE __attribute__((warn_unused_result))
#else
#define TROUPE_MUST_USE_TYPE
#endif

#ifdef __cplusplus
#define TROUPE_BEGIN_DECLS extern "C" {
#define TROUPE_END_DECLS }
#else
#define TROUPE_BEGIN_DECLS
#define TROUPE_END_DECLS
#endif

#endif
