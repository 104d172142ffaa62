//===- flags_results.cpp - what a run writes ------------------------------===//

#include "flags.h"

using namespace zero::rt;

namespace zero::run {

static Status addSave(Options &options, const std::string &text) {
  options.saves.push_back(text);
  return text.empty() ? expected("a file", text) : Status();
}

/// Also the compiler's errors, if the model still has to be compiled.
static Status setVerbose(Options &options, const std::string &) {
  options.session.verbose = 1;
  options.compilerFlags.push_back("--verbose");
  return {};
}

std::vector<Flag> resultFlags() {
  return {
      {"Results", "save", "FILE",
       "write the trained weights as .safetensors, or, where FILE ends so, as\n"
       ".onnx: the model itself with new initializers. May be given twice",
       addSave, /*repeats=*/true},
      {"Results", "save-state", "DIR",
       "write a checkpoint that --resume goes on from, at the end and when\n"
       "interrupted; DIR keeps the last two",
       toText(&Options::saveState)},
      {"Results", "save-every", "K", "and after every K steps", toCount(&Options::saveEvery)},
      {"Results", "log", "FILE",
       "write {\"step\":N,\"loss\":X} for each step, a line each, with what else\n"
       "it tells: gradient_norm, learning_rate, loss_scale, skipped; there from\n"
       "the first checkpoint on. A resumed run keeps the lines before it",
       toText(&Options::log)},
      {"Results", "dump-gradients", "FILE",
       "write the gradients of step 0 as .safetensors, under the\nparameters' names",
       toText(&Options::gradients)},
      {"Results", "save-outputs", "FILE",
       "write the outputs of the last step as .safetensors, one rank's rows\nafter the other's",
       toText(&Options::outputs)},
      {"Results", "report-json", "FILE",
       "write memory by role, elements received, losses and seconds", toText(&Options::report)},
      {"Results", "profile", "",
       "print where the time of a step goes, by kernel, and how near that is\n"
       "to what this machine can do",
       toSwitch(&Options::profile)},
      {"Results", "trace", "FILE",
       "write when each command of a step ran, on each rank, and when it was\n"
       "planned to, as JSON for ui.perfetto.dev",
       toText(&Options::trace)},
      {"Results", "quiet", "", "print nothing but warnings and errors", toSwitch(&Options::quiet)},
      {"Results", "verbose", "", "list everything that an error is about (-v)", setVerbose},
  };
}

} // namespace zero::run
