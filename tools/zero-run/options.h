//===- options.h - zero-run's command line ----------------------*- C++ -*-===//

#ifndef TOOLS_ZERO_RUN_OPTIONS_H
#define TOOLS_ZERO_RUN_OPTIONS_H

#include "runtime/io/weights_writer.h"
#include "runtime/support/dtype.h"
#include "runtime/support/status.h"
#include "zero_rt/documents.h"

#include <optional>
#include <string>
#include <vector>

namespace zero::run {

/// Data of one input; without a name, of every input that the archive has a member for.
struct DataFile {
  std::string input, path, member;
  rt::DType raw = ZERO_RT_NO_DTYPE; ///< elements without a header
  uint64_t skip = 0, ahead = 0;     ///< as in zero_rt_data_file
  std::string group;                ///< the folder on the command line, of a part of the data
  double weight = 0;                ///< of this folder in a mixture; 0: none
};

/// Whether checkpoints are written beside the next steps.
enum class SaveAsync { Auto, On, Off };
/// As on the command line.
const char *nameOf(SaveAsync choice);

struct Options {
  std::string model;
  std::vector<DataFile> data, evalData;
  std::optional<zero_rt_packing> packing; ///< of folders of documents
  std::optional<uint64_t> steps, epochs;  ///< at most one; neither: one step. Of
                                          ///< a resumed run those before count
  std::optional<uint64_t> shuffleSeed, shuffleWindow, evalEvery, evalSteps;
  std::optional<uint64_t> patience; ///< evaluations without a better loss
  bool evaluatesAverages = false;   ///< of parameters, in their place
  bool keepsBest = false;           ///< the checkpoint with the least loss of evaluations
  std::string ratePicture;          ///< of a test of learning rates; empty: there is none
  double lowestRate = 1e-7, highestRate = 1;
  bool findsNan = false; ///< which command writes it first
  double maxSeconds = 0; ///< of a run; 0: no limit
  std::optional<float> learningRate;
  std::vector<std::string> saves;        ///< weights, each as its name says
  std::vector<std::string> averageSaves; ///< the same of averages
  rt::WeightsForm form;                  ///< of these
  std::string weights;                   ///< to start from; empty: the model's own
  bool partialWeights = false;
  std::string saveState; ///< folder of checkpoints
  std::optional<uint64_t> saveEvery;
  SaveAsync saveAsync = SaveAsync::Auto; ///< of those before the last
  std::string resume;                    ///< folder of checkpoints, or one of them
  bool resumeIfAny = false, restartData = false, verifyData = false;
  bool logsTimes = false;
  std::string logFolder; ///< of files for TensorBoard
  std::string log, gradients, outputs, report, trace, page;
  /// As in zero_rt_session_options; empty: the default.
  std::string device, gpus, gpuAlgorithms = "auto", join, joinSecret, interface, nvmeDir, nvmeIo;
  uint64_t endurance = 0; ///< of each drive of nvmeDir, bytes that may be written; 0: unknown
  std::string calibration, disk; ///< a file to describe this machine in; a folder to measure
  std::optional<uint64_t> ranks; ///< to compile for or to calibrate with
  int rank = -1;                 ///< of this process, with `join`; -1: not given
  std::optional<uint64_t> processes, ranksPerProcess;
  std::optional<uint64_t> restarts, minRanks;
  bool automatic = false;      ///< leave to zeroc's planner what no flag says
  bool printAutomatic = false; ///< the flags for that, and nothing else
  bool profile = false, quiet = false;
  bool printsJson = false; ///< standard output has lines of JSON, and nothing else; also `quiet`
  bool isDone = false;     ///< a text such as the help is printed, and that is all
  zero_rt_session_options session;
  /// The flags for zeroc, as "--name=value" or "--name", when the model is still to be compiled.
  std::vector<std::string> compilerFlags;

  /// The value of one of them; none if it is not given.
  std::optional<std::string> compilerFlag(const std::string &name) const;
  /// Of folders: as given, otherwise by documents if the model is compiled for several in a row.
  zero_rt_packing choosePacking() const;
  /// Whether `model` is a graph rather than an executable.
  bool needsCompiler() const;
};

/// Reads the command line, and prints what --help and the like ask for.
rt::Status parseOptions(int argc, char **argv, Options &options);

} // namespace zero::run

#endif // TOOLS_ZERO_RUN_OPTIONS_H
