//===- zeroc.cpp - compile a training graph -------------------------------===//

#include "CommandLine.h"
#include "Failures.h"
#include "Prices.h"

#include "llvm/Support/raw_ostream.h"

/// Whether there was nothing wrong with the command line, or the model.
static bool run(llvm::ArrayRef<char *> arguments) {
  zero::CompilerOptions options;
  switch (zero::parseCommandLine(arguments, options)) {
  case zero::CommandLineResult::Run:
    return succeeded(options.prices ? zero::priceModel(options, llvm::outs())
                                    : zero::compileModel(options, llvm::outs()));
  case zero::CommandLineResult::Done:
    return true;
  case zero::CommandLineResult::Wrong:
    return false;
  }
}

extern "C" int zerocMain(int argc, char **argv) {
  zero::beginProcess();
  const bool succeeded = run(llvm::ArrayRef(argv + 1, argc - 1));
  return zero::finishOutput() && succeeded ? 0 : 1;
}
