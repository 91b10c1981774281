# SPDX-FileCopyrightText: The Troupe authors
# SPDX-License-Identifier: Apache-2.0

# The tests: an executable and a ctest entry for each file, labelled by its folder.
#
#     tests/unit/<room>/test_*.c   unit      other .c files of the folder are linked into each
#     tests/sim/sim_*.c            sim       simulated networks, seeded
#     tests/cluster/test_*         cluster   real processes; run alone, for they are about time
#     tests/cli/test_*             cli       the command line
#     tests/fuzz/fuzz_*.c          fuzz      corpus and random inputs; with TROUPE_FUZZ libFuzzer
#     tests/<other>/test_*.c       <other>
#
# A test that is a script (.sh, .py) finds the programs through the environment. C tests find the
# command line by the macro TROUPE_TOOL.

find_path(CUNIT_INCLUDE_DIR CUnit/CUnit.h REQUIRED)
find_library(CUNIT_LIBRARY cunit REQUIRED)
find_package(Python3 COMPONENTS Interpreter)

file(GLOB support_sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/tests/support/*.c")
list(FILTER support_sources EXCLUDE REGEX "/fuzz_main\\.c$")
add_library(troupe_test_support STATIC ${support_sources})
target_include_directories(troupe_test_support PUBLIC "${PROJECT_SOURCE_DIR}/tests")
target_include_directories(troupe_test_support SYSTEM PUBLIC "${CUNIT_INCLUDE_DIR}")
target_link_libraries(troupe_test_support PUBLIC troupe_testing "${CUNIT_LIBRARY}" m)
if(CJSON_FOUND)
    target_link_libraries(troupe_test_support PUBLIC PkgConfig::CJSON)
endif()

set(troupe_test_environment
    "TROUPE_SOURCE_DIR=${PROJECT_SOURCE_DIR}"
    "TROUPE_BUILD_DIR=${PROJECT_BINARY_DIR}"
    "TROUPE_TOOL=${PROJECT_BINARY_DIR}/troupe"
    "TROUPE_BENCH=${PROJECT_BINARY_DIR}/troupe-bench"
    "ASAN_OPTIONS=detect_stack_use_after_return=1:strict_string_checks=1:allocator_may_return_null=1"
    "UBSAN_OPTIONS=print_stacktrace=1"
    "TSAN_OPTIONS=suppressions=${PROJECT_SOURCE_DIR}/cmake/tsan.supp:halt_on_error=1:second_deadlock_stack=1:allocator_may_return_null=1"
    "LSAN_OPTIONS=suppressions=${PROJECT_SOURCE_DIR}/cmake/lsan.supp:print_suppressions=0")

# Seconds. Sanitizers cost a factor of 5 to 15, the full counts as much again.
function(troupe_test_timeout label ret_timeout)
    set(timeout 60)
    if(label MATCHES "^(sim|cluster|cli|examples)$")
        set(timeout 180)
    endif()
    if(TROUPE_SANITIZE OR TROUPE_COVERAGE)
        math(EXPR timeout "${timeout} * 4")
    endif()
    set(full "$ENV{TROUPE_TEST_FULL}")
    if(full)
        math(EXPR timeout "${timeout} * 5")
    endif()
    set(${ret_timeout} ${timeout} PARENT_SCOPE)
endfunction()

function(troupe_describe_test name label)
    troupe_test_timeout("${label}" timeout)
    set_tests_properties(
        "${name}" PROPERTIES LABELS "${label}" TIMEOUT ${timeout}
                             ENVIRONMENT "${troupe_test_environment}")
    if(label MATCHES "^(cluster|cli)$")
        set_tests_properties("${name}" PROPERTIES RUN_SERIAL ON)
    endif()
endfunction()

# name: unit.base.wheel; source: tests/unit/base/test_wheel.c; extra: more sources.
function(troupe_add_c_test name label source)
    string(REPLACE "." "_" target "test_${name}")
    add_executable(${target} "${source}" ${ARGN})
    target_link_libraries(${target} PRIVATE troupe_test_support)
    # Compiled once and run for a moment; and deliberate misuse is no fault to be deduced at length.
    target_compile_options(${target} PRIVATE -O1)
    target_compile_definitions(
        ${target} PRIVATE "TROUPE_TOOL=\"${PROJECT_BINARY_DIR}/troupe\""
                          "TROUPE_SOURCE_DIR=\"${PROJECT_SOURCE_DIR}\"")
    set_target_properties(${target} PROPERTIES RUNTIME_OUTPUT_DIRECTORY
                                               "${PROJECT_BINARY_DIR}/tests")
    if(TARGET troupe)
        add_dependencies(${target} troupe)
    endif()
    add_test(NAME "${name}" COMMAND ${target})
    troupe_describe_test("${name}" "${label}")
endfunction()

# All tests of one folder.
function(troupe_add_test_folder folder label prefix pattern)
    file(GLOB all CONFIGURE_DEPENDS "${folder}/*.c")
    set(tests ${all})
    list(FILTER tests INCLUDE REGEX "/${pattern}_[^/]*\\.c$")
    set(helpers ${all})
    list(FILTER helpers EXCLUDE REGEX "/${pattern}_[^/]*\\.c$")
    foreach(source IN LISTS tests)
        get_filename_component(base "${source}" NAME_WE)
        string(REGEX REPLACE "^${pattern}_" "" base "${base}")
        troupe_add_c_test("${prefix}.${base}" "${label}" "${source}" ${helpers})
    endforeach()
    file(GLOB scripts CONFIGURE_DEPENDS "${folder}/${pattern}_*.sh" "${folder}/${pattern}_*.py")
    foreach(script IN LISTS scripts)
        troupe_add_script_test("${prefix}" "${label}" "${script}" ${pattern})
    endforeach()
endfunction()

function(troupe_add_script_test prefix label script pattern)
    get_filename_component(base "${script}" NAME_WE)
    get_filename_component(extension "${script}" LAST_EXT)
    string(REGEX REPLACE "^${pattern}_" "" base "${base}")
    if(extension STREQUAL ".py" AND NOT Python3_FOUND)
        return()
    endif()
    set(interpreter bash)
    if(extension STREQUAL ".py")
        set(interpreter "${Python3_EXECUTABLE}")
    endif()
    add_test(NAME "${prefix}.${base}" COMMAND ${interpreter} "${script}")
    troupe_describe_test("${prefix}.${base}" "${label}")
endfunction()

file(GLOB unit_folders CONFIGURE_DEPENDS LIST_DIRECTORIES true "${PROJECT_SOURCE_DIR}/tests/unit/*")
foreach(folder IN LISTS unit_folders)
    get_filename_component(room "${folder}" NAME)
    if(IS_DIRECTORY "${folder}" AND (TROUPE_ROOMS STREQUAL "." OR TROUPE_ROOMS MATCHES "${room}"))
        troupe_add_test_folder("${folder}" unit "unit.${room}" test)
    endif()
endforeach()

troupe_add_test_folder("${PROJECT_SOURCE_DIR}/tests/sim" sim sim sim)
file(GLOB other_folders CONFIGURE_DEPENDS LIST_DIRECTORIES true "${PROJECT_SOURCE_DIR}/tests/*")
foreach(folder IN LISTS other_folders)
    get_filename_component(name "${folder}" NAME)
    if(IS_DIRECTORY "${folder}" AND NOT name MATCHES "^(unit|sim|fuzz|support)$")
        troupe_add_test_folder("${folder}" "${name}" "${name}" test)
    endif()
endforeach()

include(TroupeFuzzers)
include(TroupeHeaders)
if(NOT TROUPE_SANITIZE AND NOT TROUPE_COVERAGE)
    add_test(
        NAME examples.installed
        COMMAND
            ${CMAKE_COMMAND} "-DBUILD_DIR=${PROJECT_BINARY_DIR}"
            "-DSOURCE_DIR=${PROJECT_SOURCE_DIR}" "-DGENERATOR=${CMAKE_GENERATOR}"
            "-DLIBDIR=${CMAKE_INSTALL_LIBDIR}" -P
            "${PROJECT_SOURCE_DIR}/cmake/TestExamples.cmake")
    troupe_describe_test(examples.installed examples)
endif()
