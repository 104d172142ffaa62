//===- help.cpp - the common options of zero-run --------------------------===//

#include "flags.h"

std::string zero::run::commonHelpText(const Flags &flags) {
  return R"(usage: zero-run MODEL.zexe --data NAME=FILE,... [options]
       zero-run MODEL.onnx|.mlir --zero-stage=N --ranks=N --data ... [options]

Trains a compiled model. Compiles a model first, with the options of zeroc.

)" + shortHelpOf(flags, {"Data", "Training", "Results", "Execution"}) +
         R"(
Example
  zero-run gpt2.onnx --zero-stage=3 --ranks=4 --optimizer=adamw --lr=1e-3 \
    --data input_ids=tokens.npy,labels=labels.npy --steps=10 --save=out.onnx

zero-run --help-all lists all options.
)";
}
