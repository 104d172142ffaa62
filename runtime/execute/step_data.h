//===- step_data.h - inputs and outputs of a rank's steps -------*- C++ -*-===//

#ifndef RUNTIME_EXECUTE_STEP_DATA_H
#define RUNTIME_EXECUTE_STEP_DATA_H

#include "runtime/comm/communicator.h"
#include "runtime/execute/rank_memory.h"
#include "runtime/execute/step_request.h"
#include "runtime/execute/windows.h"

#include <optional>

namespace zero::rt {

/// Inputs, outputs, loss and gradients of one rank, in the program of one shape. The objects that
/// it refers to must outlive it.
class StepData {
public:
  StepData(const LoadedProgram &program, size_t shape, Communicator &communicator,
           RankMemory &memory, Queue &queue);

  /// Finds the places that the host shares with the commands. Once, before the first step.
  Status open();
  const StepWindows &places() const { return windows; }

  /// Writes the inputs of a micro-batch that `which` has, or all.
  Status writeInputs(const StepRequest &request, uint64_t microBatch,
                     const std::vector<bool> *which);
  /// Called before any weight changes: waits until the micro-batches are complete and the losses
  /// are here.
  Status awaitMicroBatches();
  /// After that: hands out the gradients if requested, and fails with ZERO_RT_NOT_FINITE on a loss
  /// that is not finite, unless that is allowed.
  Status finishMicroBatches(const StepRequest &request);
  /// Copies the outputs out.
  Status finishStep();

  /// After that: whether the step has changed nothing because its gradients were not finite.
  bool isSkipped() const { return scalar("applied") == 0.0; }
  /// Fails with ZERO_RT_NOT_FINITE if the norm of the gradients is not finite: their squares are
  /// larger than fp32 holds.
  Status checkNorm() const;

  /// Output `index` of the last step.
  const std::vector<uint8_t> &output(int index) const { return outputs[index]; }
  /// A scalar output of the last step as a double; nothing if there is none of the name.
  std::optional<double> scalar(const char *name) const;

private:
  void writeScalar(const proto::Input &input, const StepRequest &request, uint64_t microBatch,
                   char *target) const;
  Status pullOutputs(bool all);
  Status handOutGradients(const StepRequest &request);
  Status checkLoss() const;
  const proto::Program &tables() const { return program.tablesOf(shape); }

  const LoadedProgram &program;
  size_t shape;
  Communicator &communicator;
  RankMemory &memory;
  Queue &queue;
  int dataRank; ///< see dataRankOf()
  StepWindows windows;
  std::vector<std::vector<uint8_t>> outputs;
  std::vector<size_t> dataIndices; ///< of each input: which of the user's inputs it reads
};

} // namespace zero::rt

#endif // RUNTIME_EXECUTE_STEP_DATA_H
