//===- Options.cpp - zero-translate's command line ------------------------===//

#include "Options.h"

namespace zero {

static std::string helpText(const Flags &flags) {
  return "OVERVIEW: Translates an ONNX model to MLIR, or writes the model of a GPT.\n"
         "\n"
         "The output refers to the weights of the model by file and offset.\n"
         "\n"
         "USAGE: zero-translate [options] [model.onnx]\n" +
         helpOf(flags);
}

static void addFlags(TranslateOptions &options, Flags &flags) {
  const char *group = "Options of zero-translate";
  flags = {
      {group, "allow-symlinks", "", "follow symbolic links to external data",
       toSwitch(options.allowSymlinks)},
      {group, "import-onnx", "", "import an ONNX model", toSwitch(options.import)},
      {group, "list-operators", "", "print the table of supported operators",
       toSwitch(options.list)},
      {group, "locations", "", "print where each op comes from", toSwitch(options.locations)},
      {group, "loss", "NAME", "train on this output of the model", toText(options.loss, nullptr)},
      {group, "make-gpt", "layers=N,...", "write a GPT-2 without weights to -o FILE.onnx",
       toText(options.gpt, nullptr)},
      {group, "o", "FILE", "write to FILE instead of standard output", toText(options.output)},
      {group, "shape", "NAME=4x32,...", "bind the symbolic dimensions of inputs",
       toText(options.shapes, nullptr)}};
  addTextFlags(flags, "zero-translate", group, [&flags] { return helpText(flags); });
}

rt::Status parseOptions(const std::vector<std::string> &arguments, TranslateOptions &options) {
  Flags flags;
  addFlags(options, flags);
  CommandLine line;
  ZERO_RT_TRY(readCommandLine(arguments, flags, line));
  options.input = line.model;
  options.makesGpt = line.given.count("make-gpt") != 0;
  options.isDone = line.isDone;
  return {};
}

} // namespace zero
