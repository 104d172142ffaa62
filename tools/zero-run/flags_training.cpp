//===- flags_training.cpp - flags of training and execution ---------------===//

#include "flags.h"

#include "runtime/support/checked.h"

#include <algorithm>
#include <climits>
#include <cmath>

using namespace zero::rt;

namespace zero::run {

static Setter toRate(std::optional<float> &rate) {
  return [&rate](const std::string &text) {
    double number;
    ZERO_RT_TRY(parseNumber(text, number));
    rate = static_cast<float>(number);
    return number < 0 || !std::isfinite(*rate) ? expected("a finite number >= 0", text) : Status();
  };
}

static Setter toSeconds(double &seconds) {
  return [&seconds](const std::string &text) { return parseNumber(text, seconds); };
}

static Setter toRank(int &field) {
  return [&field](const std::string &text) {
    uint64_t rank;
    ZERO_RT_TRY(parseCount(text, rank));
    field = int(std::min<uint64_t>(rank, INT_MAX));
    return Status();
  };
}

/// "11h50m", "90s", or seconds.
static Setter toDuration(double &seconds) {
  return [&seconds](const std::string &text) {
    static constexpr std::pair<char, double> kUnits[] = {
        {'d', 86400}, {'h', 3600}, {'m', 60}, {'s', 1}};
    const std::string wanted = "a time such as 11h50m, 90s or 3600";
    std::string_view rest = text;
    seconds = 0;
    while (!rest.empty()) {
      const size_t end = std::min(rest.find_first_not_of("0123456789"), rest.size());
      uint64_t number;
      if (!parseInteger(rest.substr(0, end), number))
        return expected(wanted, text);
      const char unit = end < rest.size() ? rest[end] : 's';
      const auto *found = std::ranges::find(kUnits, unit, &std::pair<char, double>::first);
      if (found == std::end(kUnits))
        return expected(wanted, text);
      seconds += double(number) * found->second;
      rest.remove_prefix(std::min(end + 1, rest.size()));
    }
    return seconds > 0 ? Status() : expected(wanted, text);
  };
}

/// RANK:COLLECTIVE.
static Setter toStall(zero_rt_session_options &session) {
  return [&session](const std::string &text) {
    size_t colon = text.find(':');
    uint64_t rank, collective;
    if (colon == std::string::npos)
      return expected("RANK:COLLECTIVE", text);
    ZERO_RT_TRY(parseCount(text.substr(0, colon), rank));
    ZERO_RT_TRY(parseCount(text.substr(colon + 1), collective));
    session.stall_rank = static_cast<int>(rank);
    session.stall_collective = static_cast<int64_t>(collective);
    return Status();
  };
}

/// LOW,HIGH
static Setter toRateRange(double &low, double &high) {
  return [&low, &high](const std::string &text) {
    const size_t comma = text.find(',');
    const bool isRange = comma != text.npos && parseReal(text.substr(0, comma), low) &&
                         parseReal(text.substr(comma + 1), high) && low > 0 && high > low &&
                         std::isfinite(float(high));
    return isRange ? Status() : expected("two positive numbers LOW,HIGH in ascending order", text);
  };
}

Flags trainingFlags(Options &options) {
  return {
      Flag{"Training", "steps", "N", "steps to train; a resumed run counts the earlier steps",
           toCount(options.steps)}
          .orElse("1")
          .inShort("Training", "steps to train (1)"),
      Flag{"Training", "epochs", "E", "passes over the data, instead of --steps",
           toCount(options.epochs)}
          .inShort("Training", "passes over the data, instead of --steps"),
      {"Training", "max-time", "TIME",
       "end before this time is over (11h50m, 90s), in order as after a signal,\n"
       "with exit code 75 if steps are left",
       toDuration(options.maxSeconds)},
      {"Training", "patience", "N", "end after N evaluations in a row without a better loss",
       toCount(options.patience), "eval-every"},
      Flag{"Training", "weights", "FILE",
           "initialize parameters from a .safetensors or .npz file, matched by name",
           toText(options.weights)}
          .inShort("Training", "initial weights: .safetensors or .npz"),
      {"Training", "weights-partial", "",
       "ignore tensors of that file that the model lacks; tensors that the\n"
       "file lacks start with the model's values",
       toSwitch(options.partialWeights), "weights"},
      Flag{"Training", "resume", "DIR",
           "resume from the newest complete checkpoint in DIR, or from DIR/step-N",
           toText(options.resume)}
          .inShort("Training", "continue from a checkpoint"),
      {"Training", "resume-if-any", "", "start at step 0 if DIR has no checkpoint",
       toSwitch(options.resumeIfAny), "resume"},
      {"Training", "restart-data", "",
       "start at the beginning of the data; needed if the data has changed",
       toSwitch(options.restartData), "resume"},
      Flag{"Training", "lr", "X", "learning rate, instead of the compiled one",
           toRate(options.learningRate)}
          .inShort("Training", "learning rate (as compiled)"),
      {"Training", "lr-find", "FILE.svg",
       "instead of training, raise the learning rate over --steps (100), draw the\n"
       "loss of each rate, and suggest one. Writes no weights and no checkpoint",
       toText(options.ratePicture)},
      Flag{"Training", "lr-range", "LOW,HIGH", "the rates of --lr-find",
           toRateRange(options.lowestRate, options.highestRate), "lr-find"}
          .orElse("1e-7,1"),
      {"Training", "allow-nan", "",
       "continue when the loss or a gradient is NaN or infinite, and save such weights",
       toSwitch(options.session.allow_nan)},
  };
}

Flags executionFlags(Options &options) {
  return {
      Flag{"Execution", "threads-per-rank", "N",
           "threads of each rank; matrix products with another number of threads\n"
           "differ in the last bits",
           toInt(options.session.threads_per_rank, 1, 1024)}
          .orElse("as compiled; zeroc plans for 1")
          .inShort("Execution", "threads of each rank (as compiled)"),
      {"Execution", "ranks", "N", "compile for N ranks, or calibrate with N ranks",
       toCount(options.ranks)},
      {"Execution", "auto", "",
       "of a model, on CPU ranks: choose stage, tiers, recomputation and tiles for\n"
       "the memory and the speed of this machine, which is measured once",
       toSwitch(options.automatic)},
      {"Execution", "print-auto", "",
       "print the flags that --auto gives to zeroc, one in a line, and end",
       toSwitch(options.printAutomatic), "auto"},
      Flag{"Execution", "device", "cpu|cuda",
           "fail if the executable is for another device; compile a model for it",
           toText(options.device)}
          .oneOfWords(),
      Flag{"Execution", "gpus", "I,J,...", "the GPU of each rank, or one GPU for all ranks",
           toText(options.gpus)}
          .orElse("0"),
      Flag{"Execution", "gpu-graphs", "on|off",
           "launch the commands of a step as CUDA graphs where that is possible",
           [&options](const std::string &text) {
             options.session.gpu_graphs = text == "on";
             return Status();
           }}
          .oneOfWords()
          .orElse("on"),
      Flag{"Execution", "gpu-algorithms", "auto|off|FILE",
           "run matrix products with the algorithms in FILE; time those that it\n"
           "lacks, and add them. A FILE that does not exist is made. auto: those\n"
           "of the checkpoint, or a FILE for the GPU in the folder of the cache,\n"
           "if there is one; off: what the library expects to be the fastest",
           toText(options.gpuAlgorithms)}
          .orElse("auto"),
      {"Execution", "join", "FILE",
       "this process runs one rank, on a GPU of its own; the ranks find each\n"
       "other through FILE, which must not exist yet. Give all ranks the same\n"
       "data, steps and --save-state; rank 0 prints and writes the log",
       toText(options.join)},
      {"Execution", "join-secret", "FILE",
       "what the processes of a job know and no other user, in a file of mode 600\n"
       "(the variable ZERO_JOB_SECRET; by itself where MPI, zero-run or a local\n"
       "socket connects them)",
       toText(options.joinSecret)},
      {"Execution", "interface", "NAME",
       "the network interface, or its address, at which process 0 of --join and\n"
       "mpirun listens (the loopback on one machine, else all)",
       toText(options.interface)},
      {"Execution", "rank", "R", "the rank of this process (torchrun: RANK; for --gpus LOCAL_RANK)",
       toRank(options.rank)},
      {"Execution", "processes", "N",
       "divide the ranks among N processes of this machine. mpirun, srun and\n"
       "torchrun start processes themselves, without this option",
       toCount(options.processes)},
      {"Execution", "ranks-per-process", "M",
       "ranks of each process (the ranks of the executable divided by the\n"
       "processes; 1 for a model)",
       toCount(options.ranksPerProcess)},
      {"Execution", "restarts", "N",
       "with --processes: start all processes again after a failure, at most N\n"
       "times, from the newest checkpoint in --save-state. torchrun starts\n"
       "processes again itself (--max-restarts): any N > 0 resumes there",
       toCount(options.restarts)},
      {"Execution", "min-ranks", "M",
       "with --restarts, of a model: if a restart fails before its first\n"
       "checkpoint, go on with fewer ranks, down to M, and more micro-batches",
       toCount(options.minRanks), "restarts"},
      Flag{"Execution", "nvme-dir", "DIR,...",
           "directories of the nvme tier, each with one file per rank for the\n"
           "duration of the run; each should be on a drive of its own",
           toText(options.nvmeDir)}
          .inShort("Execution", "directories of the nvme tier, one on each drive"),
      {"Execution", "nvme-io", "QUEUE",
       "access method of that disk: io_uring, threads, or auto (io_uring if\n"
       "the kernel allows it)",
       toText(options.nvmeIo)},
      {"Execution", "nvme-endurance", "BYTES",
       "rated endurance of that drive, for example 600TB (TBW in its data\n"
       "sheet): the end of the run reports which part of it the run used",
       toByteSize(options.endurance)},
      Flag{"Execution", "timeout", "SECONDS", "maximum wait for another rank or for a disk",
           toSeconds(options.session.timeout_seconds)}
          .orElse("120")
          .inShort("Execution", "longest wait for another rank (120)"),
      {"Execution", "pin", "0|1", "bind ranks to cores (by default if they use all cores)",
       toInt(options.session.pin, 0, 1024)},
      {"Execution", "check-memory", "",
       "guard the arenas, track what commands read and write, measure the peak",
       toSwitch(options.session.check_memory)},
      {"Execution", "find-nan", "",
       "read what each kernel writes, and end at the first NaN with its name and\n"
       "what it had read; with --resume=DIR from the last checkpoint before it",
       toSwitch(options.findsNan)},
      {"Execution", "calibrate", "FILE",
       "measure this machine with --ranks (as cores allow) and\n"
       "--threads-per-rank (1), write its description for zero-sim and zeroc,\n"
       "and exit; takes no model",
       toText(options.calibration)},
      {"Execution", "calibrate-disk", "DIR,...", "also measure the drives of these directories",
       toText(options.disk), "calibrate"},
      {"Execution", "stall", "RANK:N", "for tests: RANK never reaches collective N",
       toStall(options.session)},
  };
}

} // namespace zero::run
