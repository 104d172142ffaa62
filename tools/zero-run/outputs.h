//===- outputs.h - the files of a run ---------------------------*- C++ -*-===//

#ifndef TOOLS_ZERO_RUN_OUTPUTS_H
#define TOOLS_ZERO_RUN_OUTPUTS_H

#include "figures.h"
#include "handles.h"
#include "options.h"
#include "page.h"
#include "results.h"
#include "runtime/io/event_file.h"
#include "runtime/io/weights_writer.h"
#include "runtime/support/meter.h"

namespace zero::run {

/// Opened before training, so that an unwritable one costs no step. They appear under their
/// names at the end, each whole, and none before all are on disk; the log earlier.
class Outputs {
public:
  /// Fails when a file cannot be written or is an input of this run.
  rt::Status open(const Options &options, const Executable &executable);

  /// Begins the log with what the one of its name says of the steps before `first`, as far
  /// as it exists.
  rt::Status continueLog(const std::string &path, uint64_t first);
  /// Begins a file for TensorBoard in --log-dir.
  rt::Status openEvents(uint64_t first);
  /// `perSecond`: what the step has read, "tokens" or "samples", and how many of them in a second.
  rt::Status logStep(const zero_rt_step_result &result,
                     const std::pair<std::string, double> &perSecond);
  rt::Status logEvaluation(const Evaluation &result);
  /// What --page has to say of the run before its first step, and at its end.
  void beginPage(const ProcessMemory &planned, uint64_t first, uint64_t steps);
  rt::Status finishPage(const Results &results, const rt::Status &status);
  /// Gives the log its name, with all lines so far flushed to disk: after the first line, before a
  /// checkpoint, so that the log of a run that is killed has what a resumed one keeps, and after a
  /// failure. Without a line of this run nothing happens.
  rt::Status publishLog();
  rt::Status writeGradients(const Executable &executable, const Session &session);
  /// The files of --save, or, with `ofAverages`, those of --save-ema, for which the session uses
  /// averages.
  rt::Status writeWeights(const Executable &executable, const Session &session, rt::Meter &meter,
                          bool ofAverages);
  /// The outputs of the last step, over all ranks.
  rt::Status writeOutputs(const Executable &executable, const Session &session);
  rt::Status writeReport(const std::string &json);
  rt::Status writePicture(const std::string &svg) { return picture.write(svg); }
  rt::OutputFile &traceFile() { return trace; }
  rt::Status commit();
  /// Gives the weights that were written, and nothing else, their names, of a run that fails after
  /// its steps.
  rt::Status commitWeights();

private:
  template <typename Members>
  rt::Status writeLog(Members members);
  Curves::Values curvesOf(const zero_rt_step_result &result,
                          const std::pair<std::string, double> &perSecond) const;

  struct Weights {
    std::string path;
    bool areAverages = false, areWritten = false;
    rt::WeightsWriter writer = {};
  };

  std::string logFolder;
  bool logsTimes = false;
  rt::EventFile events;
  RunPage page;
  bool isLogged = false; ///< a line of this run
  bool allowNan = false; ///< in the weights
  std::vector<Weights> weights;
  rt::OutputFile log, gradients, outputs, report, trace, picture;
  std::optional<Figures> figures;
};

} // namespace zero::run

#endif // TOOLS_ZERO_RUN_OUTPUTS_H
