//===- zero-translate.cpp - convert ONNX to MLIR, write GPTs --------------===//

#include "MakeGpt.h"
#include "Options.h"
#include "Translate.h"

#include "tools/process/process.h"

extern "C" int zeroTranslateMain(int argc, char **argv) {
  zero::process::begin("zero-translate", zero::process::Ending::AtOnce);
  zero::TranslateOptions options;
  if (zero::rt::Status read = zero::parseOptions({argv + 1, argv + argc}, options); !read.ok()) {
    llvm::errs() << "zero-translate: error: " << read.getMessage() << "\n";
    return 1;
  }
  if (options.isDone)
    return 0;
  if (options.list) {
    zero::listOperators(llvm::outs());
    return 0;
  }
  if (options.makesGpt)
    return zero::makeGpt(options.gpt, options.output) ? 0 : 1;
  if (!options.import || options.input.empty()) {
    llvm::errs() << "zero-translate: expected --import-onnx model.onnx, --make-gpt, or "
                    "--list-operators\n";
    return 1;
  }
  zero::ImportOptions import;
  import.loss = options.loss;
  import.allowSymlinks = options.allowSymlinks;
  return zero::translate(options.input, import, options.shapes, options.output, options.locations)
             ? 0
             : 1;
}
