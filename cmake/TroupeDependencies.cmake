# SPDX-FileCopyrightText: The Troupe authors
# SPDX-License-Identifier: Apache-2.0

# The libraries that Troupe stands on; docs/dependencies.md says why each. scripts/bootstrap installs
# their packages.

find_package(PkgConfig REQUIRED)
pkg_check_modules(ZMQ REQUIRED IMPORTED_TARGET libzmq>=4.3)
# The C library of MessagePack goes by three names.
pkg_search_module(MSGPACK REQUIRED IMPORTED_TARGET msgpack-c msgpackc msgpack)
# YAML for the node's configuration, JSON for the admin socket and the tools, TLS and hashes.
pkg_check_modules(FYAML IMPORTED_TARGET libfyaml)
pkg_check_modules(CJSON IMPORTED_TARGET libcjson)
pkg_check_modules(CRYPTO IMPORTED_TARGET libcrypto>=3.0)
pkg_check_modules(SSL IMPORTED_TARGET libssl>=3.0)

find_path(UTHASH_INCLUDE_DIR uthash.h REQUIRED)

# For a consumer of the static library: what it must link and what troupe.pc requires privately.
set(troupe_private_modules libzmq ${MSGPACK_MODULE_NAME})
set(troupe_private_libraries zmq ${MSGPACK_LIBRARIES})
set(troupe_dependencies PkgConfig::ZMQ PkgConfig::MSGPACK)

# The others are linked if a source of the library asks for them.
set(troupe_all_sources "")
foreach(room IN LISTS TROUPE_ROOMS)
    file(GLOB_RECURSE room_sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/src/${room}/*.c")
    list(APPEND troupe_all_sources ${room_sources})
endforeach()
function(troupe_uses_header header ret_uses)
    set(uses FALSE)
    foreach(source IN LISTS troupe_all_sources)
        file(STRINGS "${source}" lines REGEX "^#include <${header}>")
        if(lines)
            set(uses TRUE)
        endif()
    endforeach()
    set(${ret_uses} ${uses} PARENT_SCOPE)
endfunction()

macro(troupe_add_optional header module prefix library)
    troupe_uses_header("${header}" uses)
    if(uses)
        if(NOT ${prefix}_FOUND)
            message(FATAL_ERROR "${module} is missing: run scripts/bootstrap")
        endif()
        list(APPEND troupe_private_modules ${module})
        list(APPEND troupe_private_libraries ${library})
        list(APPEND troupe_dependencies PkgConfig::${prefix})
    endif()
endmacro()

troupe_add_optional("libfyaml\\.h" libfyaml FYAML fyaml)
troupe_add_optional("cjson/cJSON\\.h" libcjson CJSON cjson)
troupe_add_optional("openssl/ssl\\.h" libssl SSL ssl)
troupe_add_optional("openssl/.*\\.h" libcrypto CRYPTO crypto)
