# SPDX-FileCopyrightText: The Troupe authors
# SPDX-License-Identifier: Apache-2.0

# Every header compiles alone, in any order: the public ones as C11 and, with a C++ compiler at hand, as
# C++; the inner ones as C11.

include(CheckLanguage)
check_language(CXX)
if(CMAKE_CXX_COMPILER AND NOT TROUPE_SANITIZE AND NOT TROUPE_COVERAGE)
    enable_language(CXX)
    set(headers_have_cxx ON)
endif()

file(GLOB public_headers CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/include/troupe/*.h")
set(inner_headers "")
foreach(room IN LISTS TROUPE_ROOMS)
    file(GLOB_RECURSE room_headers CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/src/${room}/*.h")
    list(APPEND inner_headers ${room_headers})
endforeach()

# Twice the same header, and a declaration, because an empty file is no C.
function(troupe_header_source header base extension ret_source)
    file(RELATIVE_PATH path "${base}" "${header}")
    string(MAKE_C_IDENTIFIER "${path}" identifier)
    set(source "${PROJECT_BINARY_DIR}/headers/${identifier}.${extension}")
    file(CONFIGURE OUTPUT "${source}"
         CONTENT "#include \"${path}\"\n#include \"${path}\"\nextern int ${identifier};\n")
    set(${ret_source} "${source}" PARENT_SCOPE)
endfunction()

set(header_sources "")
foreach(header IN LISTS public_headers)
    troupe_header_source("${header}" "${PROJECT_SOURCE_DIR}/include" c source)
    list(APPEND header_sources "${source}")
endforeach()
foreach(header IN LISTS inner_headers)
    troupe_header_source("${header}" "${PROJECT_SOURCE_DIR}/src" c source)
    list(APPEND header_sources "${source}")
endforeach()
add_library(troupe_headers OBJECT ${header_sources})
target_link_libraries(troupe_headers PRIVATE troupe_testing)

if(headers_have_cxx)
    set(header_sources "")
    foreach(header IN LISTS public_headers)
        troupe_header_source("${header}" "${PROJECT_SOURCE_DIR}/include" cpp source)
        list(APPEND header_sources "${source}")
    endforeach()
    add_library(troupe_headers_cxx OBJECT ${header_sources})
    target_include_directories(troupe_headers_cxx PRIVATE "${PROJECT_SOURCE_DIR}/include")
    target_compile_features(troupe_headers_cxx PRIVATE cxx_std_11)
    target_compile_options(troupe_headers_cxx PRIVATE -Wall -Wextra -Wpedantic -Werror)
endif()
