# SPDX-FileCopyrightText: The Troupe authors
# SPDX-License-Identifier: Apache-2.0

# The programs. They link the static library: they run from anywhere, and what they measure is the
# library's own code without a procedure linkage table between.

function(troupe_add_program name folder)
    file(GLOB sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/${folder}/*.c")
    if(NOT sources)
        return()
    endif()
    add_executable(${name} ${sources})
    target_include_directories(${name} PRIVATE "${PROJECT_SOURCE_DIR}/${folder}"
                                               "${PROJECT_SOURCE_DIR}/src")
    target_include_directories(${name} SYSTEM PRIVATE "${UTHASH_INCLUDE_DIR}")
    target_compile_options(${name} PRIVATE ${troupe_lto_options})
    target_link_options(${name} PRIVATE ${troupe_lto_options})
    # dl and m: interposed allocators and statistics.
    target_link_libraries(${name} PRIVATE troupe_flags troupe_static ${troupe_dependencies} m
                                          ${CMAKE_DL_LIBS})
    if(CJSON_FOUND)
        target_link_libraries(${name} PRIVATE PkgConfig::CJSON)
    endif()
    install(TARGETS ${name} RUNTIME DESTINATION "${CMAKE_INSTALL_BINDIR}")
endfunction()

troupe_add_program(troupe tools/troupe)
troupe_add_program(troupe-bench bench)
