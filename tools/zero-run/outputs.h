//===- outputs.h - the files of a run ---------------------------*- C++ -*-===//

#ifndef TOOLS_ZERO_RUN_OUTPUTS_H
#define TOOLS_ZERO_RUN_OUTPUTS_H

#include "figures.h"
#include "handles.h"
#include "options.h"
#include "results.h"
#include "runtime/io/weights_writer.h"
#include "runtime/support/meter.h"

namespace zero::run {

/// Opened before training, so that an unwritable one costs no step; they appear under
/// their names together, at the end, or not at all.
class Outputs {
public:
  /// Fails when a file cannot be written or is an input of this run.
  rt::Status open(const Options &options, const Executable &executable);

  /// Begins the log with what the one of its name says of the steps before `first`, as far
  /// as it exists.
  rt::Status continueLog(const std::string &path, uint64_t first);
  rt::Status logStep(const zero_rt_step_result &result);
  rt::Status logEvaluation(const Evaluation &result);
  rt::Status writeGradients(const Executable &executable, const Session &session);
  rt::Status writeWeights(const Executable &executable, const Session &session, rt::Meter &meter);
  /// The outputs of the last step, over all ranks.
  rt::Status writeOutputs(const Executable &executable, const Session &session);
  rt::Status writeReport(const std::string &json);
  rt::OutputFile &traceFile() { return trace; }
  rt::Status commit();

private:
  std::vector<rt::WeightsWriter> weights;
  rt::OutputFile log, gradients, outputs, report, trace;
  std::optional<Figures> figures;
};

} // namespace zero::run

#endif // TOOLS_ZERO_RUN_OUTPUTS_H
