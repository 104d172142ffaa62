# Programs and libraries that contain LLVM, MLIR and LLD, from their static archives: the tools of a
# release, and the library of the wheel (tools/bundle). A tool with Debian's shared libraries first
# relocates them, which takes 40 ms of processor time, and runs LLD as a child process, which does
# the same.
find_library(LLD_ELF_LIBRARY lldELF HINTS ${LLVM_LIBRARY_DIR} NO_DEFAULT_PATH)
find_library(LLD_COMMON_LIBRARY lldCommon HINTS ${LLVM_LIBRARY_DIR} NO_DEFAULT_PATH)
find_library(ZSTD_LIBRARY zstd)
if(LLD_ELF_LIBRARY AND LLD_COMMON_LIBRARY AND ZSTD_LIBRARY)
  set(ZERO_CAN_BUNDLE ON)
endif()
# Other builds are for development: with shared libraries tools are linked in less time.
if(ZERO_CAN_BUNDLE AND CMAKE_BUILD_TYPE STREQUAL "Release")
  set(ZERO_BUNDLE_TOOLS_DEFAULT ON)
endif()
option(ZERO_BUNDLE_TOOLS "link LLVM, MLIR and LLD statically into the tools"
  ${ZERO_BUNDLE_TOOLS_DEFAULT})
if(NOT ZERO_CAN_BUNDLE)
  if(ZERO_BUNDLE_TOOLS)
    message(FATAL_ERROR "ZERO_BUNDLE_TOOLS needs the packages liblld-22-dev and libzstd-dev")
  endif()
  return()
endif()

# Kernels are compiled for the processor of the host, for 64-bit ARM and for NVIDIA's GPUs.
set(others ${LLVM_TARGETS_TO_BUILD})
list(REMOVE_ITEM others ${LLVM_NATIVE_ARCH} AArch64 NVPTX)
set(ZERO_OTHER_TARGETS)
foreach(target ${others})
  foreach(part Target TargetInfo TargetMC AsmPrinter AsmParser Disassembler)
    string(APPEND ZERO_OTHER_TARGETS "void LLVMInitialize${target}${part}(void) {}\n")
  endforeach()
endforeach()
configure_file(${PROJECT_SOURCE_DIR}/tools/bundle/other_targets.c.in other_targets.c @ONLY)

add_library(ZeroOtherTargets OBJECT ${CMAKE_CURRENT_BINARY_DIR}/other_targets.c)
add_library(ZeroLinker OBJECT ${PROJECT_SOURCE_DIR}/tools/bundle/linker.cpp)
target_link_libraries(ZeroLinker PRIVATE ZeroMLIR)
target_compile_options(ZeroLinker PRIVATE -fno-exceptions)

# zero_bundle(<target> [LLD]): links LLVM and MLIR into a program or library of the compiler, and
# LLD into one that compiles kernels.
function(zero_bundle target)
  cmake_parse_arguments(ARG "LLD" "" "" ${ARGN})
  set_target_properties(${target} PROPERTIES ZERO_BUNDLES_LLVM ON)
  target_sources(${target} PRIVATE $<TARGET_OBJECTS:ZeroOtherTargets>)
  if(ARG_LLD)
    target_sources(${target} PRIVATE $<TARGET_OBJECTS:ZeroLinker>)
    target_link_libraries(${target} PRIVATE ${LLD_ELF_LIBRARY} ${LLD_COMMON_LIBRARY})
  endif()
  target_link_libraries(${target} PRIVATE ZeroMLIR ${ZSTD_LIBRARY} ZLIB::ZLIB)
  target_link_options(${target} PRIVATE -Wl,--gc-sections)
endfunction()
