# SPDX-FileCopyrightText: The Troupe authors
# SPDX-License-Identifier: Apache-2.0

# Run by ctest: installs the build into a prefix of its own, and builds and runs against that copy, as a
# stranger would, the examples, a program that links the static library, and one that is found through
# pkg-config.

set(prefix "${BUILD_DIR}/installed")
file(REMOVE_RECURSE "${prefix}")

function(run)
    execute_process(COMMAND ${ARGN} RESULT_VARIABLE result)
    if(NOT result EQUAL 0)
        list(JOIN ARGN " " command)
        message(FATAL_ERROR "failed (${result}): ${command}")
    endif()
endfunction()

function(run_project source folder)
    file(REMOVE_RECURSE "${folder}")
    run("${CMAKE_COMMAND}" -S "${source}" -B "${folder}" -G "${GENERATOR}"
        -DCMAKE_BUILD_TYPE=Release "-DCMAKE_PREFIX_PATH=${prefix}")
    run("${CMAKE_COMMAND}" --build "${folder}")
    run("${CMAKE_CTEST_COMMAND}" --test-dir "${folder}" --output-on-failure --no-tests=error
        --timeout 60)
endfunction()

run("${CMAKE_COMMAND}" --install "${BUILD_DIR}" --prefix "${prefix}")
run_project("${SOURCE_DIR}/tests/install" "${BUILD_DIR}/installed-version")

# run() knows no working directory: the program is named by its whole path.
set(program "${BUILD_DIR}/installed-version/version-pc")
run("${CMAKE_COMMAND}" -E env "PKG_CONFIG_PATH=${prefix}/${LIBDIR}/pkgconfig"
    "LD_LIBRARY_PATH=${prefix}/${LIBDIR}" sh -c
    "cc '${SOURCE_DIR}/tests/install/version.c' -o '${program}' \
     $(pkg-config --cflags --libs troupe) && '${program}'")

run_project("${SOURCE_DIR}/examples" "${BUILD_DIR}/installed-examples")
