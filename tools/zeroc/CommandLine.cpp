//===- CommandLine.cpp - zeroc's flags ------------------------------------===//

#include "CommandLine.h"

#include "Config.h"
#include "ConfigText.h"
#include "DiskSpeed.h"
#include "Help.h"
#include "ListFrontends.h"
#include "ListOptimizers.h"
#include "Prices.h"
#include "runtime/support/cache_folder.h"
#include "runtime/support/checked.h"
#include "zero/Flags/Flag.h"
#include "zero/Frontends/Frontend.h"
#include "zero/Import/Diagnostics.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;

namespace zero {

static rt::Status wrongValue(StringRef flag, const std::string &value) {
  return {ZERO_RT_INVALID_ARGUMENT, ("--" + flag + ": bad value '" + value + "'").str()};
}

/// A setter from a function that returns whether it understands a value.
template <typename Parse>
static Setter to(StringRef flag, Parse parse) {
  return [flag, parse](const std::string &value) {
    return parse(value) ? rt::Status() : wrongValue(flag, value);
  };
}

static Setter toPaths(std::vector<std::string> &paths) {
  return [&paths](const std::string &value) {
    for (StringRef path : llvm::split(value, ','))
      paths.push_back(path.str());
    return rt::Status();
  };
}

/// Parses architectures such as sm_90; each may be given once.
static bool parseArchitectures(StringRef text, std::vector<unsigned> &architectures) {
  architectures.clear();
  for (StringRef name : llvm::split(text, ',')) {
    unsigned number = 0;
    bool isKnown = name.consume_front("sm_") && parseInteger(name, number) &&
                   llvm::is_contained({80u, 90u, 100u}, number);
    if (!isKnown || llvm::is_contained(architectures, number))
      return false;
    architectures.push_back(number);
  }
  return true;
}

/// The flags of zeroc itself.
static Flags ownFlags(CompilerOptions &options) {
  const char *group = "files and model";
  return {
      Flag{group, "o", "FILE", "write the executable to this file", toText(options.output, nullptr)}
          .inShort("Output", "write the executable"),
      {group, "emit-onnx", "FILE",
       "write the training step, with gradients and updates, as plain ONNX operators; state is "
       "inputs IN and outputs IN.new",
       toText(options.emitOnnx, nullptr)},
      {group, "external-data", "",
       "--emit-onnx: write tensors to FILE.data (only if there is more than 1 GB of them)",
       toSwitch(options.externalData)},
      {group, "offload", "auto",
       "with a budget: the tiers of parameters (at stage 3), gradients, optimizer state and "
       "activations are chosen, unless their own flags say them",
       to("offload", [](StringRef value) { return value == "auto"; })}, // see chooseTiers()
      Flag{group, "plan-only", "", "stop after planning: read no data files, write no executable",
           toSwitch(options.planOnly)}
          .inShort("Output", "stop after planning"),
      Flag{group, "prices", "",
           "compare ways to train the model: exact bytes, simulated time, what fits the machine; "
           "writes no executable",
           toSwitch(options.prices)}
          .inShort("Output", "compare ways to train: bytes, time, what fits"),
      Flag{group, "tokens", "X", "--prices: tokens to train with, as 15e12",
           to("tokens",
              [&options](StringRef value) {
                return parseReal(value, options.pricedTokens) && options.pricedTokens >= 1;
              }),
           /*with=*/"prices"}
          .orElse("1e9"),
      Flag{group, "report", "FILE,...", "write the plan as a web page (.html) or as JSON (.json)",
           toPaths(options.reports), /*with=*/"", /*repeats=*/true}
          .inShort("Output", "write the plan as a web page (.html) or JSON (.json)"),
      {group, "witness", "FILE",
       "write where each parameter, gradient and state goes, and the commands, as JSON",
       toText(options.witness, nullptr)},
      Flag{group, "lr", "X", "learning rate unless zero-run --lr sets one",
           to("lr", [&options](StringRef value) { return parseReal(value, options.learningRate); })}
          .orElse("1e-3")
          .inShort("Optimizer", "learning rate (1e-3)")
          .fromDeepSpeed("optimizer.params.lr"),
      Flag{group, "config", "FILE",
           "read settings from a DeepSpeed JSON file; see docs/reference/config.md",
           toText(options.config, nullptr)}
          .inShort("Optimizer", "read settings from a DeepSpeed JSON file"),
      {group, "explain-config", "",
       "print what each key of --config became, and stop; needs no model",
       toSwitch(options.explainsConfig), /*with=*/"config"},
      {group, "run-steps", "N",
       "steps of the run, which zero-run says: --total-steps where --config leaves it to the run",
       [](const std::string &) { return rt::Status(); }, /*with=*/"config"},
      {group, "dump-after", "PHASE", "print the program after this phase",
       toText(options.dumpAfter, nullptr)},
      {group, "clean-after-phases", "",
       "run MLIR's canonicalizer, CSE, symbol-dce and loop-invariant code motion after each phase",
       toSwitch(options.cleanAfterPhases)},
      Flag{group, "gpu-arch", "sm_80,...", "GPU architectures that --device=cuda compiles for",
           to("gpu-arch",
              [&options](StringRef value) {
                return parseArchitectures(value, options.gpuArchitectures);
              })}
          .orElse("sm_80,sm_90,sm_100"),
      {group, "nvme-dir", "DIR,...",
       "directories of the nvme tier, one on each drive: plan with their speed, measured once and "
       "cached",
       toText(options.nvmeDir, nullptr)},
      Flag{group, "threads", "N", "threads that compile kernels",
           to("threads",
              [&options](StringRef value) {
                return parseInteger(value, options.threads) && options.threads;
              })}
          .orElse(std::to_string(options.threads)),
      Flag{group, "cache-dir", "DIR", "directory of the cache of compiled kernels",
           to("cache-dir",
              [&options](StringRef value) {
                options.cacheFolder = value.str();
                return !value.empty();
              })}
          .orElse("$XDG_CACHE_HOME/zero, or ~/.cache/zero"),
      {group, "no-cache", "", "compile every kernel and do not use the cache",
       toSwitch(options.noCache)},
      Flag{group, "v", "", "list all trained parameters, and all items of an error, as --verbose",
           to("v", [&options](StringRef) { return options.phases.import.verbose = true; })}
          .inShort("Output", "list all trained parameters"),
  };
}

/// Adds the flags that print a text and do nothing else.
static void addListFlags(Flags &flags) {
  auto add = [&flags](const char *name, const char *help, void (*print)(llvm::raw_ostream &)) {
    flags.push_back({"lists", name, "", help,
                     [print](const std::string &) { return print(llvm::outs()), rt::Status(); },
                     /*with=*/"", /*repeats=*/false, /*isLast=*/true});
  };
  add("list-frontends", "print the model formats and how they are detected as JSON", listFrontends);
  add("list-optimizers", "print the optimizers and their hyperparameters as JSON", listOptimizers);
  addTextFlags(
      flags, "zeroc", "lists", [&flags] { return commonOptions(flags); },
      [&flags] { return allOptions(flags); });
}

static void addFlags(CompilerOptions &options, Flags &flags) {
  flags = ownFlags(options);
  addModelFlags(options, flags);
  addListFlags(flags);
}

static CommandLineResult wrong(const Twine &message) {
  llvm::errs() << "zeroc: error: " << printable(message.str()) << "; see zeroc --help\n";
  return CommandLineResult::Wrong;
}

/// Applies the settings of the configuration that the command line does not set.
static std::string applyConfig(CompilerOptions &options, const Flags &flags, const Config &config,
                               GivenFlags &given) {
  for (const ConfigSetting &setting : config.getSettings()) {
    std::string key = options.config + ": " + setting.key;
    if (rt::Status set = findFlag(flags, setting.flag)->set(setting.value); !set.ok())
      return key + "=" + setting.shown + ": " + set.getMessage();
    if (!setting.key.empty())
      given[setting.flag] = {key, setting.shown};
  }
  options.localBatch = config.getLocalBatch();
  options.localBatchKey = options.config + ": " + config.getLocalBatchKey();
  return "";
}

/// Whether the model may say the ranks: nothing else does, and the batch of no configuration counts
/// on them.
static bool takesMesh(const CompilerOptions &options, const GivenFlags &given) {
  const Frontend *frontend = findFrontend(options.input);
  return frontend && frontend->bringsMesh && !given.contains("mesh") && !given.contains("ranks") &&
         options.localBatch == 0 && options.emitOnnx.empty();
}

/// Leaves the tiers that no flag says to the planner. Below stage 3 each rank has all parameters.
static void chooseTiers(CompilerOptions &options, const GivenFlags &given) {
  const bool isSharded = options.phases.plan.isAuto() || options.phases.place.stage == 3;
  for (const phase::TierOption *tier : options.phases.offload.chosen()) {
    const bool isPossible =
        tier == &options.phases.offload.params ? isSharded : !options.phases.import.forwardOnly;
    if (isPossible && !given.contains(tier->ArgStr))
      options.phases.set(tier->ArgStr, "auto");
  }
}

/// Applies the configuration, then all checks. Returns an error message, or an empty string.
static std::string complete(CompilerOptions &options, const Flags &flags,
                            const GivenFlags &byHand) {
  GivenFlags given = byHand;
  if (!options.noCache && options.cacheFolder.empty())
    options.cacheFolder = rt::cacheFolder();
  options.check = [](const CompilerOptions &all) { return checkFlags(all, all.given); };
  Config config(options.config, flags, byHand);
  bool hasConfig = byHand.contains("config");
  if (hasConfig && !options.prices) {
    std::string error = config.read();
    if (error.empty())
      error = applyConfig(options, flags, config, given);
    if (!error.empty())
      return error;
  }
  if (options.explainsConfig)
    return explainConfig(config, flags, llvm::outs()), "";
  if (given.contains("offload"))
    chooseTiers(options, given);
  options.takesMesh = takesMesh(options, given);
  options.given = given;
  if (options.prices)
    return checkPrices(options);
  if (std::string error = checkFlags(options, given); !error.empty())
    return error;
  if (std::string error = findDiskSpeed(options); !error.empty())
    return error;
  if (hasConfig)
    summarizeConfig(config, flags, llvm::errs());
  return "";
}

/// A flag with its value as one word of a command line.
static std::string wordOf(const Flag &flag, const std::string &value) {
  const std::string dashes = flag.name.size() == 1 ? "-" : "--";
  return dashes + flag.name + (flag.isSwitch() ? "" : "=" + value);
}

std::string readOptions(const std::vector<std::string> &words, CompilerOptions &options,
                        bool &isDone) {
  Flags flags;
  addFlags(options, flags);
  CommandLine line;
  if (rt::Status read = readCommandLine(words, flags, line, ""); !read.ok())
    return read.getMessage();
  isDone = line.isDone;
  if (isDone)
    return "";
  options.input = modelFile(line.model);
  for (const auto &[name, value] : line.all)
    options.words.emplace_back(name, wordOf(*findFlag(flags, name), value));
  GivenFlags given;
  for (const auto &[name, value] : line.given)
    given[name] = {"--" + name, value};
  std::string error = complete(options, flags, given);
  isDone = options.explainsConfig;
  return error;
}

CommandLineResult parseCommandLine(ArrayRef<char *> arguments, CompilerOptions &options) {
  bool isDone = false;
  const std::vector<std::string> words(arguments.begin(), arguments.end());
  if (std::string error = readOptions(words, options, isDone); !error.empty())
    return wrong(error);
  return isDone ? CommandLineResult::Done : CommandLineResult::Run;
}

} // namespace zero
