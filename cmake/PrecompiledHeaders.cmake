# Precompiled headers: headers of other projects, parsed once for all files that include them.
# Headers of this project are not among them, so that a change never recompiles everything.

# With the header's name as well, as CMake has it by default, ccache finds no object that another
# checkout compiled: it hashes arguments behind -Xclang as they are. The file contains the header.
set(CMAKE_CXX_COMPILE_OPTIONS_USE_PCH -Xclang -include-pch -Xclang <PCH_FILE>)

# zero_headers(<name> HEADERS ... [LINK ...] [OPTIONS ...]): precompiled headers for targets that
# have the same options, and reuse them with target_precompile_headers(... REUSE_FROM <name>).
function(zero_headers name)
  cmake_parse_arguments(ARG "" "" "HEADERS;LINK;OPTIONS" ${ARGN})
  add_library(${name} OBJECT ${PROJECT_SOURCE_DIR}/cmake/Headers.cpp)
  target_link_libraries(${name} PRIVATE ${ARG_LINK})
  target_compile_options(${name} PRIVATE ${ARG_OPTIONS})
  target_precompile_headers(${name} PRIVATE ${ARG_HEADERS})
  # What ccache hashes in place of the file (CCACHE_PCH_EXTSUM), whose bytes depend on the checkout.
  file(GENERATE OUTPUT ${CMAKE_CURRENT_BINARY_DIR}/CMakeFiles/${name}.dir/cmake_pch.hxx.pch.sum
    CONTENT "${CMAKE_CXX_COMPILER_VERSION} ${LLVM_PACKAGE_VERSION} ${Protobuf_VERSION} ${ARG_HEADERS}\n")
endfunction()

# ccache requires precompiled headers without a time stamp.
add_compile_options("$<$<COMPILE_LANGUAGE:CXX>:SHELL:-Xclang -fno-pch-timestamp>")

# libstdc++ calls its own deprecated functions (std::get_temporary_buffer), and switches the warning
# off by pragmas, which clang does not restore from precompiled headers.
add_compile_options($<$<COMPILE_LANGUAGE:CXX>:-Wno-deprecated-declarations>)
