# SPDX-FileCopyrightText: The Troupe authors
# SPDX-License-Identifier: Apache-2.0

# `cmake --install`: headers, libraries, programs, a CMake package and a pkg-config file.

include(CMakePackageConfigHelpers)

install(DIRECTORY "${PROJECT_SOURCE_DIR}/include/troupe" DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}"
        FILES_MATCHING PATTERN "*.h")
if(NOT TROUPE_SANITIZE)
    install(TARGETS troupe_shared EXPORT troupe-shared
            LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}")
endif()
install(TARGETS troupe_static EXPORT troupe-static
        ARCHIVE DESTINATION "${CMAKE_INSTALL_LIBDIR}")

set(troupe_package_dir "${CMAKE_INSTALL_LIBDIR}/cmake/troupe")
if(NOT TROUPE_SANITIZE)
    install(EXPORT troupe-shared NAMESPACE troupe:: DESTINATION "${troupe_package_dir}")
endif()
install(EXPORT troupe-static NAMESPACE troupe:: DESTINATION "${troupe_package_dir}")
configure_package_config_file(
    "${PROJECT_SOURCE_DIR}/cmake/troupeConfig.cmake.in"
    "${PROJECT_BINARY_DIR}/troupeConfig.cmake" INSTALL_DESTINATION "${troupe_package_dir}")
write_basic_package_version_file("${PROJECT_BINARY_DIR}/troupeConfigVersion.cmake"
                                 COMPATIBILITY SameMinorVersion)
install(FILES "${PROJECT_BINARY_DIR}/troupeConfig.cmake"
              "${PROJECT_BINARY_DIR}/troupeConfigVersion.cmake"
        DESTINATION "${troupe_package_dir}")

# Relative to the file itself: `cmake --install --prefix` may choose another place than configuring did.
file(RELATIVE_PATH troupe_pc_prefix "/prefix/${CMAKE_INSTALL_LIBDIR}/pkgconfig" "/prefix")
string(REGEX REPLACE "/$" "" troupe_pc_prefix "${troupe_pc_prefix}")
list(JOIN troupe_private_modules ", " troupe_pc_requires)
configure_file("${PROJECT_SOURCE_DIR}/cmake/troupe.pc.in" "${PROJECT_BINARY_DIR}/troupe.pc" @ONLY)
install(FILES "${PROJECT_BINARY_DIR}/troupe.pc" DESTINATION "${CMAKE_INSTALL_LIBDIR}/pkgconfig")

if(EXISTS "${PROJECT_SOURCE_DIR}/LICENSE")
    install(FILES "${PROJECT_SOURCE_DIR}/LICENSE" DESTINATION "${CMAKE_INSTALL_DOCDIR}")
endif()
