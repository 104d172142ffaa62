//===- CommandLine.cpp - zeroc's flags ------------------------------------===//

#include "CommandLine.h"

#include "Config.h"
#include "DiskSpeed.h"
#include "Help.h"
#include "ListFlags.h"
#include "ListFrontends.h"
#include "ListOptimizers.h"
#include "runtime/support/checked.h"
#include "tools/process/cache_folder.h"
#include "zero/Frontends/Frontend.h"
#include "zero/Import/Diagnostics.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

#include <algorithm>

using namespace mlir;

namespace zero {

namespace {

/// A flag of zeroc itself; PhaseOptions has the flags of the phases.
struct Flag {
  StringRef name;
  StringRef value; ///< name of its value in --help; empty: a switch
  StringRef help;
  std::function<bool(CompilerOptions &, StringRef)> set; ///< false: bad value
};

} // namespace

static std::function<bool(CompilerOptions &, StringRef)> text(std::string CompilerOptions::*field) {
  return [field](CompilerOptions &options, StringRef value) {
    options.*field = value.str();
    return true;
  };
}

static std::function<bool(CompilerOptions &, StringRef)> flag(bool CompilerOptions::*field) {
  return [field](CompilerOptions &options, StringRef) { return options.*field = true; };
}

/// Parses architectures such as sm_90; each may be given once.
static bool setArchitectures(CompilerOptions &options, StringRef value) {
  options.gpuArchitectures.clear();
  for (StringRef name : llvm::split(value, ',')) {
    unsigned number = 0;
    bool isKnown = name.consume_front("sm_") && parseInteger(name, number) &&
                   llvm::is_contained({80u, 90u, 100u}, number);
    if (!isKnown || llvm::is_contained(options.gpuArchitectures, number))
      return false;
    options.gpuArchitectures.push_back(number);
  }
  return true;
}

static std::vector<Flag> ownFlags() {
  return {
      {"o", "FILE", "write the executable to this file", text(&CompilerOptions::output)},
      {"emit-onnx", "FILE",
       "write the training step, with gradients and updates, as plain ONNX operators; state is "
       "inputs IN and outputs IN.new",
       text(&CompilerOptions::emitOnnx)},
      {"external-data", "",
       "--emit-onnx: write tensors to FILE.data (only if there is more than 1 GB of them)",
       flag(&CompilerOptions::externalData)},
      {"offload", "auto",
       "with a budget: the tiers of parameters (at stage 3), gradients, optimizer state and "
       "activations are chosen, unless their own flags say them",
       [](CompilerOptions &, StringRef v) { return v == "auto"; }}, // see chooseTiers()
      {"plan-only", "", "stop after planning: read no data files, write no executable",
       flag(&CompilerOptions::planOnly)},
      {"report", "FILE,...", "write the plan as a web page (.html) or as JSON (.json)",
       [](CompilerOptions &o, StringRef v) {
         for (StringRef path : llvm::split(v, ','))
           o.reports.push_back(path.str());
         return true;
       }},
      {"lr", "X", "learning rate unless zero-run --lr sets one (1e-3)",
       [](CompilerOptions &o, StringRef v) { return parseReal(v, o.learningRate); }},
      {"config", "FILE", "read settings from a DeepSpeed JSON file; see docs/reference/config.md",
       text(&CompilerOptions::config)},
      {"dump-after", "PHASE", "print the program after this phase",
       text(&CompilerOptions::dumpAfter)},
      {"clean-after-phases", "",
       "run MLIR's canonicalizer, CSE, symbol-dce and loop-invariant code motion after each phase",
       flag(&CompilerOptions::cleanAfterPhases)},
      {"gpu-arch", "sm_80,...",
       "GPU architectures that --device=cuda compiles for (sm_80,sm_90,sm_100)", setArchitectures},
      {"nvme-dir", "DIR",
       "directory of the nvme tier: plan with the speed of its disk, measured once and cached",
       text(&CompilerOptions::nvmeDir)},
      {"threads", "N", "threads that compile kernels (2)",
       [](CompilerOptions &o, StringRef v) { return parseInteger(v, o.threads) && o.threads; }},
      {"cache-dir", "DIR",
       "directory of the cache of compiled kernels ($XDG_CACHE_HOME/zero, or ~/.cache/zero)",
       [](CompilerOptions &o, StringRef v) { return !(o.cacheFolder = v.str()).empty(); }},
      {"no-cache", "", "compile every kernel and do not use the cache",
       flag(&CompilerOptions::noCache)},
      {"v", "", "list all trained parameters, and all items of an error, as --verbose",
       [](CompilerOptions &o, StringRef) { return o.phases.import.verbose = true; }},
  };
}

/// The flags of zeroc and of all front ends.
static const std::vector<Flag> &flags() {
  static const std::vector<Flag> all = [] {
    std::vector<Flag> all = ownFlags();
    for (const Frontend &frontend : allFrontends())
      for (const FrontendFlag &flag : frontend.flags)
        if (llvm::none_of(all, [&](const Flag &known) { return known.name == flag.name; }))
          all.push_back({flag.name, flag.value, flag.help,
                         [name = flag.name](CompilerOptions &options, StringRef value) {
                           options.frontendFlags[name] = value.str();
                           return true;
                         }});
    return all;
  }();
  return all;
}

static void printFlags(const PhaseOptions &phases) {
  SmallVector<OptionDescription> own;
  for (const Flag &flag : flags())
    own.push_back(describeFlag(flag.name, flag.value, flag.help));
  listFlags(llvm::outs(), own, phases);
}

static void printHelp(const PhaseOptions &phases) {
  llvm::raw_ostream &os = llvm::outs();
  os << "zeroc compiles a training graph for ZeRO on several ranks and prints the memory that it "
        "needs.\n"
        "\n"
        "usage: zeroc MODEL.onnx|MODEL.mlir --zero-stage=3 --ranks=4 -o MODEL.zexe\n"
        "example: zeroc gpt2.onnx --shape input_ids=4x32 --zero-stage=3 --ranks=4 \\\n"
        "           --optimizer=adamw --lr=1e-3 --weight-decay=0.01 -o gpt2.zexe\n"
        "\n"
        "files and model:\n";
  for (const Flag &f : flags()) {
    std::string name = ((f.name.size() == 1 ? "-" : "--") + f.name +
                        (f.value.empty() ? "" : (f.name.size() == 1 ? " " : "=") + f.value))
                           .str();
    os << "  " << llvm::left_justify(name, 32) << "- " << f.help << "\n";
  }
  os << "\nphases:\n";
  // Where a name is longer LLVM would indent by a negative number.
  phases.printHelp(0, std::max<size_t>(34, phases.getOptionWidth()));
  os << "\n"
        "--list-frontends lists the model formats and how they are detected.\n"
        "--list-optimizers lists the optimizers and their hyperparameters as JSON.\n"
        "--list-flags lists these flags as JSON.\n"
        "\n"
        "phase names for --dump-after:";
  for (Phase phase : allPhases())
    os << " " << phaseName(phase);
  os << "\n";
}

/// ": did you mean '--optimizer'?" for the option whose name is nearest to `name`, if it is near. A
/// name that ends like `name` is nearest: '--stage' is '--zero-stage'.
static std::string suggest(StringRef name, const PhaseOptions &phases) {
  std::vector<StringRef> names = phases.names();
  for (const Flag &flag : flags())
    names.push_back(flag.name);
  llvm::sort(names); // those of a hash table have no fixed order
  auto distance = [&](StringRef option) {
    return option.ends_with(("-" + name).str()) ? 0 : option.edit_distance(name);
  };
  StringRef nearest = *std::min_element(names.begin(), names.end(), [&](StringRef a, StringRef b) {
    return distance(a) < distance(b);
  });
  return distance(nearest) <= 2 ? (": did you mean '--" + nearest + "'?").str() : "";
}

static CommandLineResult wrong(const Twine &message) {
  llvm::errs() << "zeroc: error: " << printable(message.str()) << "; see zeroc --help\n";
  return CommandLineResult::Wrong;
}

/// Whether the flag may be repeated, and its values accumulate.
static bool addsUp(StringRef name) {
  return llvm::is_contained({"freeze", "freeze-all-but", "no-decay", "param-group", "report"},
                            name);
}

/// Sets a flag from text; returns an error message, or an empty string.
static std::string setFlag(CompilerOptions &options, StringRef name, StringRef value) {
  auto own = llvm::find_if(flags(), [&](const Flag &f) { return f.name == name; });
  if (own == flags().end()) // Accept AdamW.
    return options.phases.set(name, name == "optimizer" ? value.lower() : value.str());
  return own->set(options, value) ? "" : ("--" + name + ": bad value '" + value + "'").str();
}

/// Applies the settings of the configuration that the command line does not set.
static std::string applyConfig(CompilerOptions &options, const Config &config, GivenFlags &given) {
  for (const ConfigSetting &setting : config.getSettings()) {
    std::string key = options.config + ": " + setting.key;
    if (std::string error = setFlag(options, setting.flag, setting.value); !error.empty())
      return key + "=" + setting.shown + ": " + error;
    if (!setting.key.empty())
      given[setting.flag] = {key, setting.shown};
  }
  options.localBatch = config.getLocalBatch();
  options.localBatchKey = options.config + ": " + config.getLocalBatchKey();
  return "";
}

/// Prints the flags that the configuration corresponds to.
static void printConfig(const Config &config) {
  std::vector<std::string> taken;
  for (const ConfigSetting &setting : config.getSettings())
    taken.push_back("--" + setting.flag + "=" + setting.value);
  if (uint64_t batch = config.getLocalBatch())
    taken.push_back("a batch of " + std::to_string(batch) + " on each rank");
  if (taken.empty())
    taken.push_back("nothing");
  llvm::errs() << "zeroc: config: used as " << printable(llvm::join(taken, " ")) << "\n";
  if (!config.getIdle().empty())
    llvm::errs() << "zeroc: config: has no effect in Zero: "
                 << printable(llvm::join(config.getIdle(), ", ")) << "\n";
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

/// Applies the configuration, then all checks.
static CommandLineResult complete(CompilerOptions &options, const GivenFlags &byHand) {
  GivenFlags given = byHand;
  Config config(options.config, byHand);
  bool hasConfig = byHand.contains("config");
  if (hasConfig) {
    std::string error = config.read();
    if (error.empty())
      error = applyConfig(options, config, given);
    if (!error.empty())
      return wrong(error);
  }
  if (given.contains("offload"))
    chooseTiers(options, given);
  options.takesMesh = takesMesh(options, given);
  options.check = [](const CompilerOptions &all) { return checkFlags(all, all.given); };
  if (std::string error = checkFlags(options, given); !error.empty())
    return wrong(error);
  options.given = given;
  if (!options.noCache && options.cacheFolder.empty())
    options.cacheFolder = process::cacheFolder();
  if (std::string error = findDiskSpeed(options); !error.empty())
    return wrong(error);
  if (hasConfig)
    printConfig(config);
  return CommandLineResult::Run;
}

CommandLineResult parseCommandLine(ArrayRef<char *> arguments, CompilerOptions &options) {
  GivenFlags given;
  for (unsigned i = 0; i < arguments.size(); ++i) {
    StringRef argument = arguments[i];
    if (argument == "--help" || argument == "-h")
      return printCommonOptions(llvm::outs()), CommandLineResult::Done;
    if (argument == "--help-all")
      return printHelp(options.phases), CommandLineResult::Done;
    if (argument == "--version") {
      llvm::outs() << "zeroc " ZERO_VERSION "\n";
      return CommandLineResult::Done;
    }
    if (argument == "--list-frontends")
      return listFrontends(llvm::outs()), CommandLineResult::Done;
    if (argument == "--list-optimizers")
      return listOptimizers(llvm::outs()), CommandLineResult::Done;
    if (argument == "--list-flags")
      return printFlags(options.phases), CommandLineResult::Done;
    if (!argument.starts_with("-") || argument == "-") {
      if (!options.input.empty())
        return wrong("expected one model, got '" + Twine(options.input) + "' and '" + argument +
                     "'");
      options.input = argument.str();
      continue;
    }
    bool hasValue = argument.contains('=');
    auto [name, value] = argument.drop_while([](char c) { return c == '-'; }).split('=');
    auto own = llvm::find_if(flags(), [name = name](const Flag &f) { return f.name == name; });
    bool isOwn = own != flags().end();
    bool takesValue = isOwn ? !own->value.empty() : !options.phases.isSwitch(name);
    if (!isOwn && !options.phases.knows(name))
      return wrong("unknown option '" + argument + "'" + suggest(name, options.phases));
    if (hasValue && !takesValue)
      return wrong("option '--" + name + "' takes no value, got '" + value + "'");
    if (!hasValue && takesValue) {
      if (i + 1 == arguments.size())
        return wrong("'" + argument + "' needs a value");
      value = arguments[++i];
    }
    if (!takesValue)
      value = "true";
    // The second value would replace the first; patterns accumulate.
    if (!given.try_emplace(name, GivenFlag{("--" + name).str(), value.str()}).second &&
        !addsUp(name))
      return wrong("option '--" + name + "' is given twice");
    if (std::string error = setFlag(options, name, value); !error.empty())
      return wrong(error);
  }
  return complete(options, given);
}

} // namespace zero
