//===- profiler.h - record some steps of a run ------------------*- C++ -*-===//

#ifndef TOOLS_ZERO_RUN_PROFILER_H
#define TOOLS_ZERO_RUN_PROFILER_H

#include "handles.h"
#include "options.h"
#include "runtime/support/file.h"
#include "tools/profiling/profile.h"

#include <optional>

namespace zero::run {

/// Serves --profile and --trace: after two steps that warm caches up, records up to twenty.
class Profiler {
public:
  /// Measures the machine for --profile; before there is a session, since that takes memory
  /// of its own.
  rt::Status open(const Options &options, const Executable &executable);
  /// Fails when so many steps are too few.
  rt::Status checkSteps(uint64_t steps) const;
  /// Called before each step, `done` being those that this run has done of `all`.
  rt::Status beforeStep(const Session &session, uint64_t done, uint64_t all) const;

  /// Reads what was recorded; what an interrupted run has not recorded is missing.
  /// Makes a profile of each shape of which there are steps.
  rt::Status finish(const Session &session, std::vector<Profile> &profiles);
  rt::Status writeTrace(rt::OutputFile &file) const;
  void print(const std::vector<Profile> &profiles) const;

private:
  /// The steps that ran the program for one shape.
  struct ShapeSteps {
    std::string name;                ///< empty if there is only one
    size_t firstCommand, endCommand; ///< indices; the second is behind the last
    /// By rank; steps are those of `steps`.
    std::vector<zero_rt_recording> recordings;
    std::vector<std::vector<zero_rt_recorded_step>> steps;
  };

  rt::Status readShapes(const Executable &executable);
  void addRecording(const zero_rt_recording &all);

  bool profiling = false, traces = false, quiet = false;
  int threads = 1, ranks = 0;
  size_t recorded = 0; ///< steps, of all ranks
  zero_rt_machine machine{};
  std::vector<zero_rt_command_info> commands;
  std::vector<ShapeSteps> shapes;
  std::optional<zero_rt_recording> plan; ///< of a step, if the executable has one
};

} // namespace zero::run

#endif // TOOLS_ZERO_RUN_PROFILER_H
