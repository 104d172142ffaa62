# What every compiler-side target of the project needs, said once.
#
# Debian's MLIR comes as two shared libraries; linking any of its static
# archives beside them registers options twice, so only MLIR and LLVM are named.

find_package(MLIR 22.1 REQUIRED CONFIG)
list(APPEND CMAKE_MODULE_PATH "${MLIR_CMAKE_DIR}" "${LLVM_CMAKE_DIR}")
include(TableGen)
include(AddLLVM)
include(AddMLIR)

add_library(ZeroMLIR INTERFACE)
target_include_directories(ZeroMLIR SYSTEM INTERFACE ${LLVM_INCLUDE_DIRS} ${MLIR_INCLUDE_DIRS})
target_include_directories(ZeroMLIR INTERFACE
  ${PROJECT_SOURCE_DIR}/include ${PROJECT_SOURCE_DIR} ${PROJECT_BINARY_DIR}/include ${PROJECT_BINARY_DIR})
target_link_libraries(ZeroMLIR INTERFACE MLIR LLVM)
target_compile_options(ZeroMLIR INTERFACE -fno-exceptions -Wall -Wextra -Wno-unused-parameter)

# zero_tablegen(<target> <file.td> <generator> <output> [<generator> <output> ...])
# Outputs land in the build tree under the same relative folder as the td.
function(zero_tablegen target td)
  set(LLVM_TARGET_DEFINITIONS ${td})
  set(TABLEGEN_OUTPUT)
  set(args ${ARGN})
  while(args)
    list(POP_FRONT args output)
    set(flags)
    while(args)
      list(GET args 0 head)
      if(NOT head MATCHES "^-")
        break()
      endif()
      list(APPEND flags ${head})
      list(POP_FRONT args)
    endwhile()
    mlir_tablegen(${output} ${flags} EXTRA_INCLUDES ${PROJECT_SOURCE_DIR} ${MLIR_INCLUDE_DIRS})
  endwhile()
  add_custom_target(${target} DEPENDS ${TABLEGEN_OUTPUT})
endfunction()

# zero_library(<name> SOURCES ... [LINK ...] [DEPENDS ...]): a static library of the compiler.
function(zero_library name)
  cmake_parse_arguments(ARG "EXCEPTIONS" "" "SOURCES;LINK;DEPENDS" ${ARGN})
  add_library(${name} STATIC ${ARG_SOURCES})
  target_link_libraries(${name} PUBLIC ZeroMLIR ${ARG_LINK})
  if(ARG_EXCEPTIONS)
    # On the sources: a target's own options stand before those of ZeroMLIR.
    set_source_files_properties(${ARG_SOURCES} PROPERTIES COMPILE_OPTIONS -fexceptions)
  endif()
  if(ARG_DEPENDS)
    add_dependencies(${name} ${ARG_DEPENDS})
  endif()
endfunction()
