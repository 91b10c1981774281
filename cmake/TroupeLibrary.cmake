# SPDX-FileCopyrightText: The Troupe authors
# SPDX-License-Identifier: Apache-2.0

# libtroupe: one compilation, a shared and a static library; and the test build, a static library of its
# own in which allocations can be made to fail.

add_library(troupe_objects OBJECT ${troupe_all_sources})
target_include_directories(
    troupe_objects
    PRIVATE "${PROJECT_SOURCE_DIR}/src"
    PUBLIC "${PROJECT_SOURCE_DIR}/include")
target_include_directories(troupe_objects SYSTEM PRIVATE "${UTHASH_INCLUDE_DIR}")
target_link_libraries(troupe_objects PRIVATE troupe_flags Threads::Threads ${troupe_dependencies})
target_compile_options(troupe_objects PRIVATE ${troupe_lto_options})

add_library(troupe_shared SHARED $<TARGET_OBJECTS:troupe_objects>)
target_link_libraries(troupe_shared PRIVATE troupe_flags Threads::Threads ${troupe_dependencies})
target_link_options(
    troupe_shared
    PRIVATE ${troupe_lto_options}
            -Wl,--as-needed
            -Wl,--no-undefined
            "-Wl,--version-script=${PROJECT_SOURCE_DIR}/cmake/troupe.map")
set_target_properties(
    troupe_shared
    PROPERTIES OUTPUT_NAME troupe
               EXPORT_NAME troupe
               VERSION ${PROJECT_VERSION}
               # Before 1.0 every minor version may change the interface.
               SOVERSION "${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR}"
               LINK_DEPENDS "${PROJECT_SOURCE_DIR}/cmake/troupe.map")
if(TROUPE_SANITIZE)
    # The sanitizer's run-time is in the program, not in the library.
    set_target_properties(troupe_shared PROPERTIES EXCLUDE_FROM_ALL ON)
endif()

add_library(troupe_static STATIC $<TARGET_OBJECTS:troupe_objects>)
target_link_libraries(
    troupe_static
    PUBLIC Threads::Threads
    INTERFACE "$<BUILD_INTERFACE:${troupe_dependencies}>"
              "$<INSTALL_INTERFACE:${troupe_private_libraries}>")
set_target_properties(troupe_static PROPERTIES OUTPUT_NAME troupe EXPORT_NAME static)

foreach(target troupe_shared troupe_static)
    target_include_directories(
        ${target} INTERFACE "$<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>"
                            "$<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>")
endforeach()
add_library(troupe::troupe ALIAS troupe_shared)
add_library(troupe::static ALIAS troupe_static)

if(TROUPE_TESTS)
    add_library(troupe_testing STATIC ${troupe_all_sources})
    target_compile_definitions(troupe_testing PUBLIC TRP_TESTING=1)
    target_compile_options(troupe_testing PUBLIC -UNDEBUG PRIVATE $<$<CONFIG:Release>:-O2>)
    target_include_directories(troupe_testing PUBLIC "${PROJECT_SOURCE_DIR}/src"
                                                     "${PROJECT_SOURCE_DIR}/include")
    target_include_directories(troupe_testing SYSTEM PUBLIC "${UTHASH_INCLUDE_DIR}")
    target_link_libraries(troupe_testing PUBLIC troupe_flags Threads::Threads
                                                ${troupe_dependencies})
endif()
