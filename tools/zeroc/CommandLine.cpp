//===- CommandLine.cpp - zeroc's flags ------------------------------------===//

#include "CommandLine.h"

#include "llvm/ADT/StringSet.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

#include <cmath>

using namespace mlir;

namespace zero {

namespace {

/// A flag of zeroc itself; those of the phases are StepOptions.
struct Flag {
  StringLiteral name;
  StringLiteral value; ///< what --help calls its value; empty: a switch
  StringLiteral help;
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

static const std::vector<Flag> &flags() {
  static const std::vector<Flag> all = {
      {"o", "FILE", "write the executable here", text(&CompilerOptions::output)},
      {"plan-only", "", "stop after the plan: need no data file, write nothing",
       flag(&CompilerOptions::planOnly)},
      {"lr", "X", "learning rate when zero-run is given none (1e-3)",
       [](CompilerOptions &o, StringRef v) {
         return !v.getAsDouble(o.learningRate) && std::isfinite(o.learningRate);
       }},
      {"shape", "NAME=4x32,...", "bind the symbolic dimensions of inputs",
       text(&CompilerOptions::shapes)},
      {"loss", "NAME", "train on this output of the model", text(&CompilerOptions::loss)},
      {"allow-symlinks", "", "follow symbolic links to external data",
       flag(&CompilerOptions::allowSymlinks)},
      {"dump-after", "PHASE", "print the program after this phase",
       text(&CompilerOptions::dumpAfter)},
      {"threads", "N", "threads that compile kernels (2)",
       [](CompilerOptions &o, StringRef v) { return !v.getAsInteger(10, o.threads) && o.threads; }},
  };
  return all;
}

static void printHelp(const StepOptions &step) {
  llvm::raw_ostream &os = llvm::outs();
  os << "zeroc compiles a training graph for ZeRO on several ranks and says what it will take.\n\n"
        "usage: zeroc MODEL.onnx|MODEL.mlir --zero-stage=3 --ranks=4 -o MODEL.zexe\n"
        "example: zeroc gpt2.onnx --shape input_ids=4x32 --zero-stage=3 --ranks=4 \\\n"
        "           --optimizer=adamw --lr=1e-3 --weight-decay=0.01 -o gpt2.zexe\n\nfiles and "
        "model:\n";
  for (const Flag &f : flags()) {
    std::string name = ((f.name.size() == 1 ? "-" : "--") + f.name +
                        (f.value.empty() ? "" : (f.name.size() == 1 ? " " : "=") + f.value))
                           .str();
    os << "  " << llvm::left_justify(name, 32) << "- " << f.help << "\n";
  }
  os << "\nphases:\n";
  step.printHelp(0, 34);
  os << "\nphase names for --dump-after:";
  for (Phase phase : allPhases())
    os << " " << phaseName(phase);
  os << "\n";
}

static CommandLineResult wrong(const Twine &message) {
  llvm::errs() << "zeroc: error: " << message << "; see zeroc --help\n";
  return CommandLineResult::Wrong;
}

/// Checks what depends on several flags or on a closed set of words.
static CommandLineResult check(const CompilerOptions &options) {
  const StepOptions &step = options.step;
  if (options.input.empty())
    return wrong("expected a model: MODEL.onnx or MODEL.mlir");
  if (step.betas.size() != 0 && step.betas.size() != 2)
    return wrong("--betas: expected two numbers, got " + Twine(step.betas.size()));
  if (step.betas.size() != 0 && step.optimizer == "sgd")
    return wrong("--betas has no effect with --optimizer=sgd");
  if (step.forwardOnly && !(options.loss.empty() && step.trainable.empty() && step.freeze.empty()))
    return wrong(
        "--forward-only trains nothing, so --loss, --trainable and --freeze have no effect");
  if (options.planOnly && !options.output.empty())
    return wrong("--plan-only writes nothing, so -o has no effect");
  if (!step.dataRoot.empty() && !llvm::sys::fs::is_directory(step.dataRoot))
    return wrong("--data-root: '" + step.dataRoot.getValue() + "' is no folder");
  if (step.bucketBytes == 0)
    return wrong("--bucket-bytes: expected at least 1, got 0");
  if (step.lossMean != "global" && step.lossMean != "local")
    return wrong("--loss-mean: expected global or local, got '" + step.lossMean.getValue() + "'");
  if (step.stage > 3)
    return wrong("--zero-stage: expected 0, 1, 2 or 3, got " + Twine(step.stage.getValue()));
  if (step.ranks == 0)
    return wrong("--ranks: expected at least 1, got 0");
  if (!options.dumpAfter.empty() &&
      llvm::none_of(allPhases(), [&](Phase p) { return phaseName(p) == options.dumpAfter; }))
    return wrong("--dump-after: unknown phase '" + options.dumpAfter + "'");
  if (std::string error = checkOutput(options); !error.empty())
    return wrong(error);
  return CommandLineResult::Run;
}

CommandLineResult parseCommandLine(ArrayRef<char *> arguments, CompilerOptions &options) {
  llvm::StringSet<> given;
  for (unsigned i = 0; i < arguments.size(); ++i) {
    StringRef argument = arguments[i];
    if (argument == "--help" || argument == "-h")
      return printHelp(options.step), CommandLineResult::Done;
    if (argument == "--version") {
      llvm::outs() << "zeroc " ZERO_VERSION "\n";
      return CommandLineResult::Done;
    }
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
    bool takesValue = isOwn ? !own->value.empty() : !options.step.isSwitch(name);
    if (!isOwn && !options.step.knows(name))
      return wrong("unknown option '" + argument + "'");
    // Of two values one would have no effect; patterns add up.
    if (!given.insert(name).second && name != "freeze")
      return wrong("option '--" + name + "' is given twice");
    if (!hasValue && takesValue) {
      if (i + 1 == arguments.size())
        return wrong("'" + argument + "' needs a value");
      value = arguments[++i];
    }
    if (isOwn) {
      if (!own->set(options, value))
        return wrong("--" + name + ": bad value '" + value + "'");
    } else if (std::string error = options.step.set(name, takesValue ? value : "true");
               !error.empty()) {
      return wrong(error);
    }
  }
  return check(options);
}

} // namespace zero
