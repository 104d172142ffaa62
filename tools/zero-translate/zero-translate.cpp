//===- zero-translate.cpp - convert ONNX to MLIR, write GPTs --------------===//

#include "Flags.h"
#include "MakeGpt.h"
#include "Translate.h"

#include "tools/process/process.h"

namespace cl = llvm::cl;

extern "C" int zeroTranslateMain(int argc, char **argv) {
  zero::process::begin("zero-translate", zero::process::Ending::AtOnce);
  zero::Flags flags;
  cl::HideUnrelatedOptions(flags.category);
  cl::SetVersionPrinter([](llvm::raw_ostream &os) { os << "zero-translate " ZERO_VERSION "\n"; });
  cl::ParseCommandLineOptions(
      argc, argv,
      "Translates an ONNX model to MLIR, or writes the model of a GPT.\n\n"
      "The output refers to the weights of the model by file and offset.\n");
  if (flags.list) {
    zero::listOperators(llvm::outs());
    return 0;
  }
  if (flags.gpt.getNumOccurrences() > 0)
    return zero::makeGpt(flags.gpt, flags.output) ? 0 : 1;
  if (!flags.import || flags.input.empty()) {
    llvm::errs() << "zero-translate: expected --import-onnx model.onnx, --make-gpt, or "
                    "--list-operators\n";
    return 1;
  }
  zero::ImportOptions options;
  options.loss = flags.loss;
  options.allowSymlinks = flags.symlinks;
  return zero::translate(flags.input, options, flags.shapes, flags.output, flags.locations) ? 0 : 1;
}
