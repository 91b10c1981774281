# SPDX-FileCopyrightText: The Troupe authors
# SPDX-License-Identifier: Apache-2.0

# What every target is compiled with: the interface library troupe_flags.

if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
    set(CMAKE_BUILD_TYPE Release CACHE STRING "Kind of build" FORCE)
endif()

# TRP_ASSERT doesn't look at NDEBUG; TRP_ASSERT_DEBUG does.
set(CMAKE_C_FLAGS_RELEASE "-O3 -g1 -DNDEBUG")
set(CMAKE_C_FLAGS_DEBUG "-Og -g")
if(TROUPE_SANITIZE)
    # Fast enough for the long tests, and still with whole stacks.
    set(CMAKE_C_FLAGS_DEBUG "-O1 -g")
endif()

set(CMAKE_C_STANDARD 11)
set(CMAKE_C_STANDARD_REQUIRED ON)
set(CMAKE_C_EXTENSIONS OFF)
set(CMAKE_C_VISIBILITY_PRESET hidden)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(THREADS_PREFER_PTHREAD_FLAG ON)
find_package(Threads REQUIRED)

add_library(troupe_flags INTERFACE)
target_compile_definitions(troupe_flags INTERFACE _GNU_SOURCE)
target_compile_options(
    troupe_flags
    INTERFACE -Wall
              -Wextra
              -Wpedantic
              -Wshadow
              -Wconversion
              -Wsign-conversion
              -Wstrict-prototypes
              -Wmissing-prototypes
              -Wundef
              -Wcast-qual
              -Wpointer-arith
              -Wwrite-strings
              -Wformat=2
              -Wvla
              $<$<BOOL:${TROUPE_WERROR}>:-Werror>
              $<$<C_COMPILER_ID:Clang>:-Wthread-safety>
              -fno-omit-frame-pointer
              -fno-semantic-interposition
              -fno-plt
              -fno-common
              # Assertions name files by their place in the house.
              -fmacro-prefix-map=${PROJECT_SOURCE_DIR}/=)

if(TROUPE_SANITIZE)
    target_compile_options(
        troupe_flags INTERFACE -fsanitize=${TROUPE_SANITIZE} -fno-sanitize-recover=all)
    target_link_options(troupe_flags INTERFACE -fsanitize=${TROUPE_SANITIZE})
    if(CMAKE_C_COMPILER_ID STREQUAL "GNU")
        # gcc's own manual: with a sanitizer its flow analysis warns of what can't happen.
        target_compile_options(
            troupe_flags INTERFACE -Wno-format-truncation -Wno-maybe-uninitialized
                                   -Wno-array-bounds -Wno-stringop-overflow)
    endif()
    if(TROUPE_SANITIZE STREQUAL "thread" AND CMAKE_C_COMPILER_ID STREQUAL "GNU")
        # libtsan knows no atomic_thread_fence; gcc says so for each use. Code that synchronizes by
        # fences alone marks it with TRP_HANDOFF_GIVE and TRP_HANDOFF_TAKE.
        target_compile_options(troupe_flags INTERFACE -Wno-tsan)
    endif()
endif()

if(TROUPE_COVERAGE)
    target_compile_options(troupe_flags INTERFACE --coverage -fprofile-update=atomic)
    target_link_options(troupe_flags INTERFACE --coverage)
endif()

# Only gcc: its objects hold machine code too (fat), so that the static library that is installed works
# without the same compiler at hand. Clang's would not.
set(troupe_lto_options "")
if(TROUPE_LTO AND CMAKE_C_COMPILER_ID STREQUAL "GNU" AND NOT TROUPE_SANITIZE
   AND NOT TROUPE_COVERAGE)
    set(troupe_lto_options -flto=auto -ffat-lto-objects)
endif()
