//===- step_request.h - the request of a step -------------------*- C++ -*-===//

#ifndef RUNTIME_EXECUTE_STEP_REQUEST_H
#define RUNTIME_EXECUTE_STEP_REQUEST_H

#include "runtime/format/mode.h"
#include "runtime/io/data_set.h"

#include <functional>
#include <memory>
#include <optional>

namespace zero::rt {

/// The request of a step, for all ranks.
struct StepRequest {
  uint64_t step = 0;
  size_t shape = 0;   ///< of the program that runs
  uint64_t batch = 0; ///< of the data
  float learningRate = 0;
  bool allowNan = false;
  Mode mode = Mode::Step;
  /// Of an evaluation: its samples, instead of those of `batch`.
  std::optional<SampleChoice> samples;
  std::shared_ptr<const DataSet> data; ///< its inputs are those of kind DATA, in order
  /// Takes bytes from `offset` on of a gradient, by index of Program.gradients, from the threads of
  /// all ranks, each of which has some of them. Empty: they are not read.
  std::function<Status(int gradient, uint64_t offset, const char *values, uint64_t bytes)>
      takeGradient;
};

} // namespace zero::rt

#endif // RUNTIME_EXECUTE_STEP_REQUEST_H
