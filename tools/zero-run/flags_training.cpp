//===- flags_training.cpp - flags of training and execution ---------------===//

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
  options.compilerFlags.push_back("--lr=" + text); // so that the plan has the same rate
  return {};
}

static Status setTimeout(Options &options, const std::string &text) {
  return parseNumber(text, options.session.timeout_seconds);
}

/// Also plans memory for this number, if the model has to be compiled first.
static Status setThreads(Options &options, const std::string &text) {
  uint64_t count;
  ZERO_RT_TRY(parseCount(text, count));
  if (count < 1 || count > 1024)
    return expected("1 to 1024", text);
  options.session.threads_per_rank = static_cast<int>(count);
  options.compilerFlags.push_back("--threads-per-rank=" + text);
  return {};
}

/// The number of ranks that zeroc compiles for, or calibration measures with.
static Status setRanks(Options &options, const std::string &text) {
  options.compilerFlags.push_back("--ranks=" + text);
  return parseCount(text, options.ranks.emplace());
}

/// Also compiles for this device, if the model has to be compiled first.
static Status setDevice(Options &options, const std::string &text) {
  if (text != "cpu" && text != "cuda")
    return expected("cpu or cuda", text);
  options.device = text;
  options.compilerFlags.push_back("--device=" + text);
  return {};
}

static Status setGpuGraphs(Options &options, const std::string &text) {
  if (text != "on" && text != "off")
    return expected("on or off", text);
  options.session.gpu_graphs = text == "on";
  return {};
}

static Status setEndurance(Options &options, const std::string &text) {
  options.endurance = planning::parseByteSize(text).value_or(0);
  return options.endurance ? Status()
                           : expected(std::string(planning::kByteSizeForm).c_str(), text);
}

/// RANK:COLLECTIVE.
static Status setRank(Options &options, const std::string &text) {
  uint64_t rank;
  ZERO_RT_TRY(parseCount(text, rank));
  options.rank = int(std::min<uint64_t>(rank, INT_MAX));
  return {};
}

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
      {"Training", "steps", "N", "steps to train (1); a resumed run counts the earlier steps",
       toCount(&Options::steps)},
      {"Training", "epochs", "E", "passes over the data, instead of --steps",
       toCount(&Options::epochs)},
      {"Training", "weights", "FILE",
       "start from the tensors of a .safetensors or .npz file, matched by name",
       toText(&Options::weights)},
      {"Training", "weights-partial", "",
       "ignore tensors of that file that the model lacks; tensors that the\n"
       "file lacks start with the model's values",
       toSwitch(&Options::partialWeights)},
      {"Training", "resume", "DIR",
       "resume from the newest complete checkpoint in DIR, or from DIR/step-N",
       toText(&Options::resume)},
      {"Training", "resume-if-any", "", "start at step 0 if DIR has no checkpoint",
       toSwitch(&Options::resumeIfAny)},
      {"Training", "restart-data", "",
       "start at the beginning of the data; needed if the data has changed",
       toSwitch(&Options::restartData)},
      {"Training", "lr", "X", "learning rate, instead of the compiled one", setLearningRate},
      {"Training", "allow-nan", "",
       "continue when the loss or a gradient is NaN or infinite, and save such weights",
       toSwitch(&zero_rt_session_options::allow_nan)},
  };
}

std::vector<Flag> executionFlags() {
  return {
      {"Execution", "threads-per-rank", "N",
       "threads of each rank (as compiled; zeroc plans for 1); matrix products\n"
       "with another number of threads differ in the last bits",
       setThreads},
      {"Execution", "ranks", "N", "compile for N ranks, or calibrate with N ranks", setRanks},
      {"Execution", "auto", "",
       "of a model, on CPU ranks: choose stage, tiers, recomputation and tiles for\n"
       "the memory and the speed of this machine, which is measured once",
       toSwitch(&Options::automatic)},
      {"Execution", "print-auto", "",
       "print the flags that --auto gives to zeroc, one in a line, and end",
       toSwitch(&Options::printAutomatic)},
      {"Execution", "device", "cpu|cuda",
       "fail if the executable is for another device; compile a model for it", setDevice},
      {"Execution", "gpus", "I,J,...", "the GPU of each rank, or one GPU for all ranks (0)",
       toText(&Options::gpus)},
      {"Execution", "gpu-graphs", "on|off",
       "launch the commands of a step as CUDA graphs where that is possible (on)", setGpuGraphs},
      {"Execution", "gpu-algorithms", "FILE",
       "run matrix products with the algorithms in FILE; time those that it\n"
       "lacks, and add them. A FILE that does not exist is made",
       toText(&Options::gpuAlgorithms)},
      {"Execution", "join", "FILE",
       "this process runs one rank, on a GPU of its own; the ranks find each\n"
       "other through FILE, which must not exist yet. Give all ranks the same\n"
       "data, steps and --save-state; rank 0 prints and writes the log",
       toText(&Options::join)},
      {"Execution", "join-secret", "FILE",
       "what the processes of a job know and no other user, in a file of mode 600\n"
       "(the variable ZERO_JOB_SECRET; by itself where MPI, zero-run or a local\n"
       "socket connects them)",
       toText(&Options::joinSecret)},
      {"Execution", "interface", "NAME",
       "the network interface, or its address, at which process 0 of --join and\n"
       "mpirun listens (the loopback on one machine, else all)",
       toText(&Options::interface)},
      {"Execution", "rank", "R", "the rank of this process (torchrun: RANK; for --gpus LOCAL_RANK)",
       setRank},
      {"Execution", "processes", "N",
       "divide the ranks among N processes of this machine. mpirun, srun and\n"
       "torchrun start processes themselves, without this option",
       toCount(&Options::processes)},
      {"Execution", "ranks-per-process", "M",
       "ranks of each process (the ranks of the executable divided by the\n"
       "processes; 1 for a model)",
       toCount(&Options::ranksPerProcess)},
      {"Execution", "restarts", "N",
       "with --processes: start all processes again after a failure, at most N\n"
       "times, from the newest checkpoint in --save-state. torchrun starts\n"
       "processes again itself (--max-restarts): any N > 0 resumes there",
       toCount(&Options::restarts)},
      {"Execution", "min-ranks", "M",
       "with --restarts, of a model: if a restart fails before its first\n"
       "checkpoint, go on with fewer ranks, down to M, and more micro-batches",
       toCount(&Options::minRanks)},
      {"Execution", "nvme-dir", "DIR",
       "directory of the nvme tier, one file per rank for the duration of the\n"
       "run; should be on the intended disk",
       toText(&Options::nvmeDir)},
      {"Execution", "nvme-io", "QUEUE",
       "access method of that disk: io_uring, threads, or auto (io_uring if\n"
       "the kernel allows it)",
       toText(&Options::nvmeIo)},
      {"Execution", "nvme-endurance", "BYTES",
       "rated endurance of that drive, for example 600TB (TBW in its data\n"
       "sheet): the end of the run reports which part of it the run used",
       setEndurance},
      {"Execution", "timeout", "SECONDS", "maximum wait for another rank or for a disk (120)",
       setTimeout},
      {"Execution", "pin", "0|1", "bind ranks to cores (by default if they use all cores)",
       toInt(&zero_rt_session_options::pin)},
      {"Execution", "check-memory", "",
       "guard the arenas, track what commands read and write, measure the peak",
       toSwitch(&zero_rt_session_options::check_memory)},
      {"Execution", "calibrate", "FILE",
       "measure this machine with --ranks (as cores allow) and\n"
       "--threads-per-rank (1), write its description for zero-sim and zeroc,\n"
       "and exit; takes no model",
       toText(&Options::calibration)},
      {"Execution", "calibrate-disk", "DIR", "also measure the disk of this directory",
       toText(&Options::disk)},
      {"Execution", "stall", "RANK:N", "for tests: RANK never reaches collective N", setStall},
  };
}

} // namespace zero::run
