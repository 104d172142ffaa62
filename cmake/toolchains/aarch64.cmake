# Compiles for 64-bit ARM with the host's clang and Debian's arm64 packages, which
# scripts/setup-arm64.sh unpacks into .deps/arm64.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
get_filename_component(ZERO_ARM64_ROOT ${CMAKE_CURRENT_LIST_DIR}/../../.deps/arm64 REALPATH)
set(CMAKE_SYSROOT ${ZERO_ARM64_ROOT})
set(CMAKE_C_COMPILER clang-22)
set(CMAKE_CXX_COMPILER clang++-22)
set(CMAKE_C_COMPILER_TARGET aarch64-linux-gnu)
set(CMAKE_CXX_COMPILER_TARGET aarch64-linux-gnu)
set(CMAKE_LIBRARY_ARCHITECTURE aarch64-linux-gnu)
set(CMAKE_EXE_LINKER_FLAGS_INIT -fuse-ld=lld-22)
set(CMAKE_SHARED_LINKER_FLAGS_INIT -fuse-ld=lld-22)
set(CMAKE_CROSSCOMPILING_EMULATOR qemu-aarch64 -L ${ZERO_ARM64_ROOT})
# Tools such as protoc are the host's.
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
# The package of Zero may be anywhere.
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE BOTH)
