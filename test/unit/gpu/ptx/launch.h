//===- launch.h - run a kernel ----------------------------------*- C++ -*-===//

#ifndef TEST_UNIT_GPU_PTX_LAUNCH_H
#define TEST_UNIT_GPU_PTX_LAUNCH_H

#include "memory.h"
#include "program.h"

#include <random>
#include <stdexcept>

namespace ptx {

/// A kernel does what CUDA does not allow.
class Fault : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

struct Shape {
  uint32_t blocks = 1, threads = 1;
};

/// Runs all blocks of a launch, in an order that `random` chooses. Throws a Fault at the first
/// thing that CUDA does not allow.
void run(const Entry &entry, Shape shape, const std::vector<uint8_t> &arguments,
         uint64_t dynamicSharedBytes, DeviceMemory &memory, std::mt19937_64 &random);

} // namespace ptx

#endif // TEST_UNIT_GPU_PTX_LAUNCH_H
