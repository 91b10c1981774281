# SPDX-FileCopyrightText: The Troupe authors
# SPDX-License-Identifier: Apache-2.0

# Run by ctest: installs the build into a prefix of its own, builds examples/ against that copy as a
# stranger would, through the CMake package, compiles one through pkg-config, and runs the examples.

set(prefix "${BUILD_DIR}/installed")
set(examples_build "${BUILD_DIR}/examples")
file(REMOVE_RECURSE "${prefix}" "${examples_build}")

function(run)
    execute_process(COMMAND ${ARGN} RESULT_VARIABLE result)
    if(NOT result EQUAL 0)
        list(JOIN ARGN " " command)
        message(FATAL_ERROR "failed (${result}): ${command}")
    endif()
endfunction()

run("${CMAKE_COMMAND}" --install "${BUILD_DIR}" --prefix "${prefix}")
run("${CMAKE_COMMAND}" -S "${SOURCE_DIR}/examples" -B "${examples_build}" -G "${GENERATOR}"
    -DCMAKE_BUILD_TYPE=Release "-DCMAKE_PREFIX_PATH=${prefix}")
run("${CMAKE_COMMAND}" --build "${examples_build}")
run("${CMAKE_CTEST_COMMAND}" --test-dir "${examples_build}" --output-on-failure --no-tests=error
    --timeout 60)


# Through pkg-config too; run() knows no working directory, so the shell goes there itself.
run("${CMAKE_COMMAND}" -E env "PKG_CONFIG_PATH=${prefix}/${LIBDIR}/pkgconfig"
    "LD_LIBRARY_PATH=${prefix}/${LIBDIR}" sh -c
    "cd '${examples_build}' && cc '${SOURCE_DIR}/examples/version.c' -o version-pc \
     $(pkg-config --cflags --libs troupe) && ./version-pc")
