//===- zeroc.cpp - compiles a training graph to an executable -------------===//

#include "CommandLine.h"

#include "llvm/Support/raw_ostream.h"

int main(int argc, char **argv) {
  zero::CompilerOptions options;
  switch (zero::parseCommandLine(llvm::ArrayRef(argv + 1, argc - 1), options)) {
  case zero::CommandLineResult::Run:
    return failed(zero::compileModel(options, llvm::outs())) ? 1 : 0;
  case zero::CommandLineResult::Done:
    return 0;
  case zero::CommandLineResult::Wrong:
    return 1;
  }
}
