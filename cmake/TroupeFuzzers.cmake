# SPDX-FileCopyrightText: The Troupe authors
# SPDX-License-Identifier: Apache-2.0

# The fuzzers: tests/fuzz/fuzz_<name>.c with LLVMFuzzerTestOneInput, corpus in
# tests/fuzz/corpus/<name>/. With TROUPE_FUZZ each is a libFuzzer program; otherwise a plain test that
# tries the corpus and some thousand mutations of it, the same ones each time.

file(GLOB fuzz_sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/tests/fuzz/*.c")
set(fuzzers ${fuzz_sources})
list(FILTER fuzzers INCLUDE REGEX "/fuzz_[^/]*\\.c$")
set(fuzz_helpers ${fuzz_sources})
list(FILTER fuzz_helpers EXCLUDE REGEX "/fuzz_[^/]*\\.c$")

if(TROUPE_FUZZ)
    target_compile_options(troupe_flags INTERFACE -fsanitize=fuzzer-no-link)
endif()

foreach(source IN LISTS fuzzers)
    get_filename_component(target "${source}" NAME_WE)
    string(REGEX REPLACE "^fuzz_" "" name "${target}")
    add_executable(${target} "${source}" ${fuzz_helpers})
    target_link_libraries(${target} PRIVATE troupe_testing m)
    target_include_directories(${target} PRIVATE "${PROJECT_SOURCE_DIR}/tests")
    set_target_properties(${target} PROPERTIES RUNTIME_OUTPUT_DIRECTORY
                                               "${PROJECT_BINARY_DIR}/fuzz")
    if(TROUPE_FUZZ)
        target_link_options(${target} PRIVATE -fsanitize=fuzzer)
        continue()
    endif()
    target_sources(${target} PRIVATE "${PROJECT_SOURCE_DIR}/tests/support/fuzz_main.c")
    add_test(NAME "fuzz.${name}" COMMAND ${target}
                                         "${PROJECT_SOURCE_DIR}/tests/fuzz/corpus/${name}")
    troupe_describe_test("fuzz.${name}" fuzz)
endforeach()
