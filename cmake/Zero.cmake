# Functions and settings for all targets of the compiler.
#
# Debian's MLIR has two shared libraries, MLIR and LLVM. Linking one of its static archives beside
# them would register options twice, so targets link only these two. Targets that have the property
# ZERO_BUNDLES_LLVM (Bundle.cmake) link only the archives.

find_package(MLIR 22.1 REQUIRED CONFIG)
list(APPEND CMAKE_MODULE_PATH "${MLIR_CMAKE_DIR}" "${LLVM_CMAKE_DIR}")
include(TableGen)
include(AddLLVM)
include(AddMLIR)

add_library(ZeroMLIR INTERFACE)
target_include_directories(ZeroMLIR SYSTEM INTERFACE ${LLVM_INCLUDE_DIRS} ${MLIR_INCLUDE_DIRS})
target_include_directories(ZeroMLIR INTERFACE
  ${PROJECT_SOURCE_DIR}/include ${PROJECT_SOURCE_DIR} ${PROJECT_BINARY_DIR}/include ${PROJECT_BINARY_DIR})
file(GLOB archives ${LLVM_LIBRARY_DIR}/libMLIR*.a ${LLVM_LIBRARY_DIR}/libLLVM*.a)
set(bundles $<BOOL:$<TARGET_PROPERTY:ZERO_BUNDLES_LLVM>>)
target_link_libraries(ZeroMLIR INTERFACE "$<IF:${bundles},${archives},MLIR;LLVM>")
target_compile_options(ZeroMLIR INTERFACE -Wall -Wextra -Wno-unused-parameter)

# MLIR's headers, precompiled: they take most of the time to compile a file of the compiler. Code
# that catches exceptions of the ONNX and Protobuf libraries needs them compiled with exceptions.
# lib/Codegen also uses several dialects that no other directory uses.
set(ZERO_MLIR_HEADERS
  <memory> <optional> <string> <vector>
  <llvm/ADT/DenseMap.h> <llvm/ADT/STLExtras.h> <llvm/ADT/StringMap.h> <llvm/ADT/StringSwitch.h>
  <mlir/Dialect/Arith/IR/Arith.h> <mlir/Dialect/Func/IR/FuncOps.h>
  <mlir/Dialect/Linalg/IR/Linalg.h> <mlir/Dialect/Math/IR/Math.h>
  <mlir/Dialect/SCF/IR/SCF.h> <mlir/Dialect/Tensor/IR/Tensor.h>
  <mlir/IR/BuiltinOps.h> <mlir/IR/ImplicitLocOpBuilder.h> <mlir/IR/PatternMatch.h>
  <mlir/IR/Remarks.h> <mlir/IR/SymbolTable.h> <mlir/Pass/Pass.h> <mlir/Pass/PassManager.h>)
zero_headers(ZeroHeaders LINK ZeroMLIR OPTIONS -fno-exceptions
  HEADERS ${ZERO_MLIR_HEADERS})
zero_headers(ZeroThrowingHeaders LINK ZeroMLIR OPTIONS -fexceptions
  HEADERS ${ZERO_MLIR_HEADERS} <google/protobuf/message.h>)
set(ZERO_CODEGEN_HEADERS ${ZERO_MLIR_HEADERS}
  <mlir/Dialect/Affine/IR/AffineOps.h> <mlir/Dialect/Bufferization/IR/Bufferization.h>
  <mlir/Dialect/GPU/IR/GPUDialect.h> <mlir/Dialect/LLVMIR/LLVMDialect.h>
  <mlir/Dialect/LLVMIR/NVVMDialect.h> <mlir/Dialect/MemRef/IR/MemRef.h>
  <mlir/Target/LLVMIR/ModuleTranslation.h> <llvm/IR/Module.h>)
zero_headers(ZeroCodegenHeaders LINK ZeroMLIR OPTIONS -fno-exceptions
  HEADERS ${ZERO_CODEGEN_HEADERS})

# zero_tablegen(<target> <file.td> <generator> <output> [<generator> <output> ...])
# Outputs are written to the directory of the build tree that corresponds to that of the td.
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

# zero_library(<name> SOURCES ... [HEADERS target] [EXCEPTIONS] [LINK ...] [DEPENDS ...]): a static
# library of the compiler. HEADERS: the precompiled headers, if not ZeroHeaders.
function(zero_library name)
  cmake_parse_arguments(ARG "EXCEPTIONS" "HEADERS" "SOURCES;LINK;DEPENDS" ${ARGN})
  add_library(${name} STATIC ${ARG_SOURCES})
  target_link_libraries(${name} PUBLIC ZeroMLIR ${ARG_LINK})
  if(ARG_EXCEPTIONS)
    target_compile_options(${name} PRIVATE -fexceptions)
    set(ARG_HEADERS ZeroThrowingHeaders)
  else()
    target_compile_options(${name} PRIVATE -fno-exceptions)
  endif()
  if(NOT ARG_HEADERS)
    set(ARG_HEADERS ZeroHeaders)
  endif()
  target_precompile_headers(${name} REUSE_FROM ${ARG_HEADERS})
  if(ARG_DEPENDS)
    add_dependencies(${name} ${ARG_DEPENDS})
  endif()
endfunction()

include(Bundle)

# zero_tool(<name> MAIN function [LLD] SOURCES ... LINK ...): an executable of the compiler. MAIN: its
# main function, which tools/main.cpp calls. LLD: it compiles kernels. Its objects are a target too:
# the wheel has them in a library.
function(zero_tool name)
  cmake_parse_arguments(ARG "LLD" "MAIN" "SOURCES;LINK" ${ARGN})
  add_library(${name}-objects OBJECT ${ARG_SOURCES})
  target_link_libraries(${name}-objects PUBLIC ZeroMLIR ${ARG_LINK})
  target_compile_options(${name}-objects PRIVATE -fno-exceptions)
  target_precompile_headers(${name}-objects REUSE_FROM ZeroHeaders)
  zero_main(${name} ${ARG_MAIN})
  target_link_libraries(${name} PRIVATE ${name}-objects)
  if(ZERO_BUNDLE_TOOLS)
    if(ARG_LLD)
      set(with LLD)
    endif()
    zero_bundle(${name} ${with})
    # Most relocations of such an executable are relative.
    target_link_options(${name} PRIVATE -Wl,-z,pack-relative-relocs)
  endif()
endfunction()

# zero_main(<name> <function>): an executable whose main function is <function>.
function(zero_main name function)
  add_executable(${name} ${PROJECT_SOURCE_DIR}/tools/main.cpp)
  target_compile_definitions(${name} PRIVATE ZERO_TOOL_MAIN=${function})
endfunction()
