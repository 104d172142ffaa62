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

# Most of the time to compile a file of the compiler goes into MLIR's headers. They are
# precompiled once; nothing of this project is among them, so that a change here never
# recompiles everything. ccache needs a PCH without a time stamp.
add_library(ZeroHeaders OBJECT ${PROJECT_SOURCE_DIR}/cmake/Headers.cpp)
target_link_libraries(ZeroHeaders PRIVATE ZeroMLIR)
target_compile_options(ZeroMLIR INTERFACE -Xclang -fno-pch-timestamp)
target_precompile_headers(ZeroHeaders PRIVATE
  <memory> <optional> <string> <vector>
  <llvm/ADT/DenseMap.h> <llvm/ADT/STLExtras.h> <llvm/ADT/StringMap.h> <llvm/ADT/StringSwitch.h>
  <mlir/Dialect/Arith/IR/Arith.h> <mlir/Dialect/Func/IR/FuncOps.h>
  <mlir/Dialect/Linalg/IR/Linalg.h> <mlir/Dialect/Math/IR/Math.h>
  <mlir/Dialect/SCF/IR/SCF.h> <mlir/Dialect/Tensor/IR/Tensor.h>
  <mlir/IR/BuiltinOps.h> <mlir/IR/ImplicitLocOpBuilder.h> <mlir/IR/PatternMatch.h>
  <mlir/IR/Remarks.h> <mlir/IR/SymbolTable.h> <mlir/Pass/Pass.h> <mlir/Pass/PassManager.h>)

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
  else()
    target_precompile_headers(${name} REUSE_FROM ZeroHeaders)
  endif()
  if(ARG_DEPENDS)
    add_dependencies(${name} ${ARG_DEPENDS})
  endif()
endfunction()
