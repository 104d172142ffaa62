//===- Help.cpp - the common options of zeroc -----------------------------===//

#include "Help.h"

#include "zero/Driver/Phases.h"

std::string zero::allOptions(const Flags &flags) {
  std::string names;
  for (Phase phase : allPhases())
    names += " " + phaseName(phase).str();
  return "zeroc compiles a training graph for ZeRO on several ranks and prints the memory that it "
         "needs.\n"
         "\n"
         "usage: zeroc MODEL.onnx|MODEL.mlir --zero-stage=3 --ranks=4 -o MODEL.zexe\n"
         "example: zeroc gpt2.onnx --shape input_ids=4x32 --zero-stage=3 --ranks=4 \\\n"
         "           --optimizer=adamw --lr=1e-3 --weight-decay=0.01 -o gpt2.zexe\n" +
         helpOf(flags, 34) + "\nphase names for --dump-after:" + names + "\n";
}

std::string zero::commonOptions(const Flags &flags) {
  return R"(usage: zeroc MODEL.onnx|MODEL.mlir [options] -o MODEL.zexe

Compiles a training step for data-parallel ranks and prints the memory of each.

)" + shortHelpOf(flags, {"Model", "Partition", "Optimizer", "Fit into memory", "Output"}) +
         R"(
Example
  zeroc gpt2.onnx --zero-stage=3 --ranks=4 --optimizer=adamw -o gpt2.zexe

zeroc --help-all lists all options.
)";
}
