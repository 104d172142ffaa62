//===- flags_training.cpp - how to train, and on what ---------------------===//

#include "flags.h"

#include "zero/Planning/ByteSize.h"

#include <cmath>

using namespace zero::rt;

namespace zero::run {

static Status setLearningRate(Options &options, const std::string &text) {
  double number;
  ZERO_RT_TRY(parseNumber(text, number));
  options.learningRate = static_cast<float>(number);
  if (number < 0 || !std::isfinite(*options.learningRate))
    return expected("a finite number >= 0", text);
  options.compilerFlags.push_back("--lr=" + text); // so that the plan says the same
  return {};
}

static Status setTimeout(Options &options, const std::string &text) {
  return parseNumber(text, options.session.timeout_seconds);
}

/// Also what memory is planned for, if the model is still to be compiled.
static Status setThreads(Options &options, const std::string &text) {
  uint64_t count;
  ZERO_RT_TRY(parseCount(text, count));
  if (count < 1 || count > 1024)
    return expected("1 to 1024", text);
  options.session.threads_per_rank = static_cast<int>(count);
  options.compilerFlags.push_back("--threads-per-rank=" + text);
  return {};
}

/// What zeroc compiles for, or calibration measures with.
static Status setRanks(Options &options, const std::string &text) {
  options.compilerFlags.push_back("--ranks=" + text);
  return parseCount(text, options.ranks.emplace());
}

/// Also what the model is compiled for, if it still has to be.
static Status setDevice(Options &options, const std::string &text) {
  if (text != "cpu" && text != "cuda")
    return expected("cpu or cuda", text);
  options.device = text;
  options.compilerFlags.push_back("--device=" + text);
  return {};
}

static Status setEndurance(Options &options, const std::string &text) {
  options.endurance = planning::parseByteSize(text).value_or(0);
  return options.endurance ? Status() : expected(planning::kByteSizeForm.data(), text);
}

/// RANK:COLLECTIVE.
static Status setStall(Options &options, const std::string &text) {
  size_t colon = text.find(':');
  uint64_t rank, collective;
  if (colon == std::string::npos)
    return expected("RANK:COLLECTIVE", text);
  ZERO_RT_TRY(parseCount(text.substr(0, colon), rank));
  ZERO_RT_TRY(parseCount(text.substr(colon + 1), collective));
  options.session.stall_rank = static_cast<int>(rank);
  options.session.stall_collective = static_cast<int64_t>(collective);
  return {};
}

std::vector<Flag> trainingFlags() {
  return {
      {"Training", "steps", "N", "steps to train (1); of a resumed run, those before count",
       toCount(&Options::steps)},
      {"Training", "epochs", "E", "passes over the data, in place of --steps",
       toCount(&Options::epochs)},
      {"Training", "weights", "FILE",
       "start from the tensors of a .safetensors or .npz file, by name", toText(&Options::weights)},
      {"Training", "weights-partial", "",
       "take those that the model has too; the others start as in the model",
       toSwitch(&Options::partialWeights)},
      {"Training", "resume", "DIR",
       "go on from the newest whole checkpoint in DIR, or from DIR/step-N",
       toText(&Options::resume)},
      {"Training", "resume-if-any", "", "begin at step 0 where DIR has no checkpoint",
       toSwitch(&Options::resumeIfAny)},
      {"Training", "restart-data", "", "begin the data anew: it or its order is another",
       toSwitch(&Options::restartData)},
      {"Training", "lr", "X", "learning rate, in place of the compiled one", setLearningRate},
      {"Training", "allow-nan", "", "go on when the loss is NaN or infinite",
       toSwitch(&zero_rt_session_options::allow_nan)},
  };
}

std::vector<Flag> executionFlags() {
  return {
      {"Execution", "threads-per-rank", "N",
       "threads of each rank (as compiled; zeroc plans for 1); products of\n"
       "other numbers of them differ in the last bits",
       setThreads},
      {"Execution", "ranks", "N", "compile for so many ranks, or calibrate with them", setRanks},
      {"Execution", "device", "cpu|cuda",
       "refuse an executable for another one; compile a model for it", setDevice},
      {"Execution", "gpus", "I,J,...", "the GPU of each rank, or one that all of them share (0)",
       toText(&Options::gpus)},
      {"Execution", "join", "FILE",
       "this process has one rank, on a GPU of its own, and all ranks find each\n"
       "other through FILE, which is not there yet. Data, steps and --save-state\n"
       "as usual, the same for all; rank 0 prints and writes the log",
       toText(&Options::join)},
      {"Execution", "rank", "R", "which one (of torchrun's variables: RANK, for --gpus LOCAL_RANK)",
       toInt(&zero_rt_session_options::rank)},
      {"Execution", "nvme-dir", "DIR",
       "where ranks keep what is compiled to lie on disk, a file each for\n"
       "as long as the run lasts; should be on the disk that is meant",
       toText(&Options::nvmeDir)},
      {"Execution", "nvme-io", "QUEUE",
       "how that disk is reached: io_uring, threads, or auto (io_uring where\n"
       "the kernel allows it)",
       toText(&Options::nvmeIo)},
      {"Execution", "nvme-endurance", "BYTES",
       "what may be written to that drive in its life, 600TB say (TBW in its\n"
       "data sheet): the end of the run tells how much of it this run took",
       setEndurance},
      {"Execution", "timeout", "SECONDS", "longest wait for another rank, or for a disk (120)",
       setTimeout},
      {"Execution", "pin", "0|1", "bind ranks to cores (by default when they fill the machine)",
       toInt(&zero_rt_session_options::pin)},
      {"Execution", "check-memory", "",
       "guard the arenas, follow what commands read and write, measure the peak",
       toSwitch(&zero_rt_session_options::check_memory)},
      {"Execution", "calibrate", "FILE",
       "measure this machine with --ranks (as cores allow) and\n"
       "--threads-per-rank (1), write a description for zero-sim and zeroc,\n"
       "and end; takes no model",
       toText(&Options::calibration)},
      {"Execution", "calibrate-disk", "DIR", "measure the disk of this folder too",
       toText(&Options::disk)},
      {"Execution", "stall", "RANK:N", "for tests: RANK never arrives at collective N", setStall},
  };
}

} // namespace zero::run
