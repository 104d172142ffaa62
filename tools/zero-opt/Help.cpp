//===- Help.cpp - the common options of zero-opt --------------------------===//

#include "CommandLine.h"

#include "zero/Driver/Phases.h"

#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

std::string zero::optHelp() {
  std::string text;
  llvm::raw_string_ostream os(text);
  os << R"(usage: zero-opt MODEL.mlir|MODEL.onnx [options] [-o FILE]

Runs passes and phases on a program: mlir-opt with Zero's dialects and passes.

All phases up to the schedule
  --zero-stage=N --ranks=M     partition a step (all phase options work)
Phases, in this order; options as in --zero-phase-step='optimizer=sgd lr=0.1'
)";
  for (Phase phase : allPhases())
    os << llvm::format("  --zero-phase-%-15s %s\n", phaseName(phase).str().c_str(),
                       phaseSummary(phase).str().c_str());
  os << R"(Passes
  --zero-partition-step        one pass, by its name
  --pass-pipeline=PIPELINE     several: 'builtin.module(zero-phase-import,cse)'
Import of a model
  --shape=NAME=4x32,...        sizes of inputs with symbolic dimensions
  --loss=NAME                  output that is the loss
See what happens
  --mlir-print-ir-after-all    print the program after each pass
  --mlir-timing                print the time of each pass

Example
  zero-opt gpt2.onnx --zero-stage=3 --ranks=4

zero-opt --help-all lists all options and passes, with those of MLIR and LLVM.
)";
  return text;
}
