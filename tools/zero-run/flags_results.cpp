//===- flags_results.cpp - flags of what a run writes ---------------------===//

#include "flags.h"

using namespace zero::rt;

namespace zero::run {

static Status addSave(Options &options, const std::string &text) {
  options.saves.push_back(text);
  return text.empty() ? expected("a file", text) : Status();
}

/// Also lists all items of the compiler's errors, if the model has to be compiled first.
static Status setVerbose(Options &options, const std::string &) {
  options.session.verbose = 1;
  options.compilerFlags.push_back("--verbose");
  return {};
}

std::vector<Flag> resultFlags() {
  return {
      {"Results", "save", "FILE",
       "write the trained weights as .safetensors, or, if FILE ends in .onnx,\n"
       "the model with new initializers. With --ort-checkpoint, a FILE without\n"
       "suffix is a checkpoint of onnxruntime-training. May be given twice",
       addSave, /*repeats=*/true},
      {"Results", "save-state", "DIR",
       "write a checkpoint for --resume at the end and when interrupted;\n"
       "DIR keeps the last two",
       toText(&Options::saveState)},
      {"Results", "save-every", "K", "write a checkpoint also after every K steps",
       toCount(&Options::saveEvery)},
      {"Results", "local-state", "",
       "DIR of --save-state is a directory of each node's own, with the parts\n"
       "of its ranks; --resume finds them there without a flag",
       toSwitch(&zero_rt_session_options::local_state)},
      {"Results", "log", "FILE",
       "write one line {\"step\":N,\"loss\":X} per step, with gradient_norm,\n"
       "learning_rate, loss_scale and skipped where they apply; exists from\n"
       "the first checkpoint on. A resumed run keeps the earlier lines",
       toText(&Options::log)},
      {"Results", "dump-gradients", "FILE",
       "write the gradients of step 0 as .safetensors, named like the\nparameters",
       toText(&Options::gradients)},
      {"Results", "save-outputs", "FILE",
       "write the outputs of the last step as .safetensors, the rows of the\nranks concatenated",
       toText(&Options::outputs)},
      {"Results", "report-json", "FILE",
       "write memory by role, elements received, losses and seconds", toText(&Options::report)},
      {"Results", "profile", "",
       "print the time of a step by kernel, and how close each is to the\n"
       "limits of this machine",
       toSwitch(&Options::profile)},
      {"Results", "trace", "FILE",
       "write a timeline of the commands of a step on each rank, and of the\n"
       "plan, as JSON for ui.perfetto.dev",
       toText(&Options::trace)},
      {"Results", "quiet", "", "print only warnings and errors", toSwitch(&Options::quiet)},
      {"Results", "verbose", "", "list all items of an error (-v)", setVerbose},
  };
}

} // namespace zero::run
