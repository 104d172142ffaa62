//===- zero-translate.cpp - convert ONNX to MLIR --------------------------===//

#include "Translate.h"

#include "tools/process/process.h"

#include "llvm/Support/CommandLine.h"

namespace cl = llvm::cl;

namespace {
/// Options of zero-translate. They are created by its main function: the wheel has all tools in one
/// library, where the options of one tool must not exist for another.
struct Flags {
  cl::OptionCategory category{"Options of zero-translate"};
  cl::opt<bool> import{"import-onnx", cl::desc("Import an ONNX model"), cl::cat(category)};
  cl::opt<bool> list{"list-operators", cl::cat(category),
                     cl::desc("Print the table of supported operators")};
  cl::opt<std::string> input{cl::Positional, cl::desc("[model.onnx]"), cl::cat(category)};
  cl::opt<std::string> output{"o", cl::desc("Write to FILE instead of standard output"),
                              cl::value_desc("FILE"), cl::init("-"), cl::cat(category)};
  cl::opt<std::string> shapes{"shape", cl::value_desc("NAME=4x32,..."), cl::cat(category),
                              cl::desc("Bind the symbolic dimensions of inputs")};
  cl::opt<std::string> loss{"loss", cl::value_desc("NAME"), cl::cat(category),
                            cl::desc("Train on this output of the model")};
  cl::opt<bool> symlinks{"allow-symlinks", cl::cat(category),
                         cl::desc("Follow symbolic links to external data")};
  cl::opt<bool> locations{"locations", cl::desc("Print where each op comes from"),
                          cl::cat(category)};
};
} // namespace

extern "C" int zeroTranslateMain(int argc, char **argv) {
  zero::process::begin("zero-translate", zero::process::Ending::AtOnce);
  Flags flags;
  cl::HideUnrelatedOptions(flags.category);
  cl::SetVersionPrinter([](llvm::raw_ostream &os) { os << "zero-translate " ZERO_VERSION "\n"; });
  cl::ParseCommandLineOptions(
      argc, argv,
      "Translates an ONNX model to MLIR.\n\n"
      "The output refers to the weights of the model by file and offset.\n");
  if (flags.list) {
    zero::listOperators(llvm::outs());
    return 0;
  }
  if (!flags.import || flags.input.empty()) {
    llvm::errs() << "zero-translate: expected --import-onnx model.onnx, or --list-operators\n";
    return 1;
  }
  zero::ImportOptions options;
  options.loss = flags.loss;
  options.allowSymlinks = flags.symlinks;
  if (std::string error = zero::parseShapeBindings(flags.shapes, options.shapes); !error.empty()) {
    llvm::errs() << "zero-translate: --shape: " << error << "\n";
    return 1;
  }
  return zero::translate(flags.input, options, flags.output, flags.locations) ? 0 : 1;
}
