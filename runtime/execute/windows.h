//===- windows.h - memory shared by host and steps --------------*- C++ -*-===//

#ifndef RUNTIME_EXECUTE_WINDOWS_H
#define RUNTIME_EXECUTE_WINDOWS_H

#include "runtime/device/device.h"
#include "runtime/load/program.h"

namespace zero::rt {

/// Windows of a rank's arena: of inputs, outputs and predicates as the program lists them,
/// then of checks in the order of the commands.
struct StepWindows {
  StepWindows() = default;
  StepWindows(const proto::Program &program, int rank);

  uint32_t outputs = 0, predicates = 0, checks = 0; ///< index of the first; inputs begin at 0
  std::vector<Window> all;

  template <typename T>
  T *at(uint32_t index) const {
    return reinterpret_cast<T *>(all[index].host);
  }
};

} // namespace zero::rt

#endif // RUNTIME_EXECUTE_WINDOWS_H
