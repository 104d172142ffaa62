//===- options.cpp - zero-run's command line ------------------------------===//

#include "options.h"

#include "flags.h"
#include "runtime/format/format.h"
#include "runtime/format/limits.h"

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <set>

using namespace zero::rt;

namespace zero::run {

static std::string helpText(const Flags &flags) {
  return "usage: zero-run MODEL.zexe --data NAME=FILE,... [--steps=N] [options]\n"
         "       zero-run MODEL.onnx --zero-stage=S --ranks=N --data NAME=FILE,... [options]\n"
         "       zero-run --calibrate=MACHINE.json [--ranks=N] [--threads-per-rank=T]\n"
         "\n"
         "Trains a compiled model on its ranks, one thread each. A .onnx or .mlir file is first\n"
         "compiled by the zeroc in the directory of this program, with all options not listed "
         "here.\n"
         "The loss of a step is computed before its update. Files are written at the end, all or\n"
         "none.\n" +
         helpOf(flags) +
         "\nExample\n"
         "  zero-run gpt2.onnx --zero-stage=3 --ranks=4 --optimizer=adamw --lr=1e-3 \\\n"
         "    --data input_ids=tokens.npy,labels=labels.npy --steps=10 --save=out.safetensors\n";
}

//===----------------------------------------------------------------------===//
// Parsing
//===----------------------------------------------------------------------===//

std::optional<std::string> Options::compilerFlag(const std::string &name) const {
  for (const std::string &word : compilerFlags)
    if (word == "--" + name || word.starts_with("--" + name + "="))
      return word.substr(std::min(name.size() + 3, word.size()));
  return std::nullopt;
}

const char *nameOf(SaveAsync choice) {
  switch (choice) {
  case SaveAsync::Auto:
    return "auto";
  case SaveAsync::On:
    return "on";
  case SaveAsync::Off:
    break;
  }
  return "off";
}

zero_rt_packing Options::choosePacking() const {
  const bool hasDocuments = compilerFlag("documents").has_value();
  return packing.value_or(hasDocuments ? ZERO_RT_PACK_DOCUMENTS : ZERO_RT_PACK_OFF);
}

static bool isModel(const std::string &text) {
  return text.ends_with(".zexe") || text.ends_with(".onnx") || text.ends_with(".mlir");
}

/// Executables are known by their content; a file that cannot be read by its name. A folder is a
/// model.
bool Options::needsCompiler() const {
  if (std::error_code error; std::filesystem::is_directory(model, error))
    return true;
  char magic[sizeof(kMagic)] = {};
  std::ifstream file(model, std::ios::binary);
  if (!file.read(magic, sizeof(magic)))
    return !model.ends_with(".zexe") && (file.gcount() > 0 || isModel(model));
  return std::memcmp(magic, kMagic, sizeof(magic)) != 0 && !model.ends_with(".zexe");
}

/// The largest skip of the inputs that share a stream, so that they have equally many
/// rows.
static uint64_t aheadOf(const std::vector<DataFile> &files, const std::string &path) {
  uint64_t ahead = 0;
  for (const DataFile &file : files)
    if (file.path == path)
      ahead = std::max(ahead, file.skip);
  return ahead;
}

namespace {
class Parser {
public:
  Parser(std::vector<std::string> words, Options &options)
      : words(std::move(words)), options(options) {}

  Status run() {
    for (auto *topic : {dataFlags, trainingFlags, resultFlags, executionFlags})
      for (Flag &flag : topic(options))
        flags.push_back(std::move(flag));
    addTextFlags(
        flags, "zero-run", "Help", [this] { return commonHelpText(flags); },
        [this] { return helpText(flags); });
    const size_t ours = flags.size();
    for (Flag &flag : compilerFlags(options))
      flags.push_back(std::move(flag));
    ZERO_RT_TRY(readCommandLine(words, flags, line));
    options.model = line.model;
    options.isDone = line.isDone;
    if (line.isDone)
      return {};
    foreign = options.compilerFlags;
    shareFlags(ours);
    return options.calibration.empty() ? check() : checkCalibration();
  }

private:
  /// Passes the flags among our first ones to zeroc that it has in the same form.
  void shareFlags(size_t ours) {
    for (size_t i = 0; i < ours; ++i)
      for (size_t j = ours; j < flags.size() && line.given.count(flags[i].name); ++j)
        if (flags[i].name == flags[j].name && flags[i].isSwitch() == flags[j].isSwitch())
          (void)flags[j].set(line.given[flags[i].name]);
  }

  Status check() {
    if (options.steps && options.epochs)
      return fail(ZERO_RT_INVALID_ARGUMENT, "expected --steps or --epochs, got both");
    if (line.given.count("o"))
      return fail(ZERO_RT_INVALID_ARGUMENT,
                  "option '-o' belongs to zeroc; the executable is temporary here");
    const bool trains = options.steps.value_or(options.epochs.value_or(1)) > 0;
    for (std::vector<DataFile> *files : {&options.data, &options.evalData})
      for (DataFile &file : *files)
        file.ahead = aheadOf(*files, file.path);
    if (options.evalData.empty() && (options.evalEvery || options.evalSteps))
      return fail(ZERO_RT_INVALID_ARGUMENT, "--eval-every and --eval-steps need --eval-data");
    if (options.patience == 0u)
      return fail(ZERO_RT_INVALID_ARGUMENT, "expected --patience of at least 1");
    if (options.evalEvery == 0u || options.evalSteps == 0u)
      return fail(ZERO_RT_INVALID_ARGUMENT, "expected --eval-every and --eval-steps of at least 1");
    if (options.model.empty())
      return fail(ZERO_RT_INVALID_ARGUMENT, "no model; see --help");
    if (options.automatic && !options.needsCompiler())
      return fail(ZERO_RT_INVALID_ARGUMENT,
                  "--auto has no effect on an executable: '%s' is compiled already",
                  escape(options.model).c_str());
    if (options.automatic && options.device == "cuda")
      return fail(ZERO_RT_INVALID_ARGUMENT,
                  "--auto measures CPU ranks: expected --machine, --memory-budget, --zero=auto and "
                  "--offload=auto with --device=cuda");
    if (!options.needsCompiler() && options.ranks)
      return fail(ZERO_RT_INVALID_ARGUMENT,
                  "--ranks has no effect on an executable: it is compiled for its ranks");
    if (!options.needsCompiler() && !foreign.empty())
      return fail(ZERO_RT_INVALID_ARGUMENT,
                  "unknown option '%s'; see --help (an option of zeroc needs a model: '%s' is "
                  "compiled already)",
                  escape(foreign.front()).c_str(), escape(options.model).c_str());
    if (!options.gradients.empty() && !trains)
      return fail(ZERO_RT_INVALID_ARGUMENT, "--dump-gradients needs at least one step");
    if (!options.outputs.empty() && !trains)
      return fail(ZERO_RT_INVALID_ARGUMENT, "--save-outputs needs at least one step");
    if (options.endurance > 0 && options.quiet && options.report.empty())
      return fail(ZERO_RT_INVALID_ARGUMENT,
                  "--nvme-endurance has no effect with --quiet and without --report-json");
    ZERO_RT_TRY(checkProcesses());
    ZERO_RT_TRY(checkRestarts());
    ZERO_RT_TRY(checkProfile());
    return checkState();
  }

  Status checkProcesses() {
    auto bad = [](const char *what) { return Status(ZERO_RT_INVALID_ARGUMENT, what); };
    if (options.processes == 0u || options.processes.value_or(1) > kMostRanks)
      return rt::fail(ZERO_RT_INVALID_ARGUMENT, "expected --processes from 1 to %u, got %llu",
                      kMostRanks, static_cast<unsigned long long>(*options.processes));
    if (options.ranksPerProcess == 0u)
      return bad("expected --ranks-per-process of at least 1");
    if (options.processes && !options.join.empty())
      return bad("expected --processes or --join, got both");
    return {};
  }

  Status checkRestarts() {
    auto bad = [](const char *what) { return Status(ZERO_RT_INVALID_ARGUMENT, what); };
    if (!options.restarts)
      return {};
    if (options.saveState.empty())
      return bad(
          "--restarts needs --save-state: the checkpoints that a restarted run goes on from");
    if (!options.join.empty())
      return bad("expected --restarts or --join, got both");
    if (!options.gradients.empty())
      return bad("--dump-gradients writes the gradients of step 0, which a restarted run may not "
                 "execute: expected it or --restarts");
    return options.minRanks ? checkFewerRanks() : Status();
  }

  /// What going on with fewer ranks needs.
  Status checkFewerRanks() {
    auto bad = [](const char *what) { return Status(ZERO_RT_INVALID_ARGUMENT, what); };
    if (options.minRanks == 0u)
      return bad("expected --min-ranks of at least 1");
    if (!options.processes)
      return bad("--min-ranks needs --processes");
    if (!options.needsCompiler())
      return fail(
          ZERO_RT_INVALID_ARGUMENT,
          "--min-ranks needs a model that can be compiled for fewer ranks: '%s' is compiled "
          "already",
          escape(options.model).c_str());
    if (options.compilerFlag("config"))
      return bad("expected --min-ranks or --config, got both: going on with fewer ranks changes "
                 "--micro-batches, which a configuration fixes; give its settings as options");
    return {};
  }

  /// With what goes with --calibrate, and no more.
  Status checkCalibration() {
    static const std::set<std::string> kAllowed = {
        "calibrate", "calibrate-disk", "ranks", "threads-per-rank", "pin", "quiet"};
    if (!foreign.empty())
      return fail(ZERO_RT_INVALID_ARGUMENT, "unknown option '%s'; see --help",
                  escape(foreign.front()).c_str());
    for (const auto &[name, value] : line.given)
      if (kAllowed.count(name) == 0)
        return fail(ZERO_RT_INVALID_ARGUMENT, "--%s has no effect with --calibrate", name.c_str());
    return options.model.empty()
               ? Status()
               : fail(ZERO_RT_INVALID_ARGUMENT, "--calibrate takes no model, got '%s'",
                      escape(options.model).c_str());
  }

  Status checkProfile() {
    if (options.profile && options.quiet && options.report.empty())
      return fail(ZERO_RT_INVALID_ARGUMENT,
                  "--profile has no effect with --quiet and without --report-json");
    if ((options.profile || !options.trace.empty()) && options.session.check_memory)
      return fail(ZERO_RT_INVALID_ARGUMENT,
                  "expected --%s or --check-memory, got both: poisoning changes the times",
                  options.profile ? "profile" : "trace");
    return {};
  }

  Status checkState() {
    auto bad = [](const char *what) { return Status(ZERO_RT_INVALID_ARGUMENT, what); };
    if (options.saveEvery == 0u)
      return bad("expected --save-every of at least 1");
    if (options.resume.empty())
      return {};
    if (!options.weights.empty())
      return bad("expected --resume or --weights, got both: a checkpoint has weights");
    if (!options.gradients.empty())
      return bad(
          "--dump-gradients writes the gradients of step 0, which a resumed run does not execute");
    if (!options.steps && !options.epochs)
      return bad("--resume needs --steps or --epochs: the total, including earlier steps");
    return {};
  }

  std::vector<std::string> words;
  Options &options;
  Flags flags;
  CommandLine line;
  std::vector<std::string> foreign; ///< flags that are zeroc's alone
};
} // namespace

Status parseOptions(int argc, char **argv, Options &options) {
  zero_rt_session_options_default(&options.session);
  return Parser({argv + std::min(argc, 1), argv + argc}, options).run();
}

} // namespace zero::run
