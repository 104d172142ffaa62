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

std::string zero::commonOptions() {
  return R"(usage: zeroc MODEL.onnx|MODEL.mlir [options] -o MODEL.zexe

Compiles a training step for data-parallel ranks and prints the memory of each.

Model
  --shape=NAME=4x32,...     sizes of inputs with symbolic dimensions
  --freeze=PATTERN,...      parameters that are not trained
  --precision=bf16|fp16     store values in 16 bits (fp32)
Partition
  --zero-stage=N            ZeRO stage: 0, 1, 2 or 3 (0)
  --ranks=N                 data-parallel ranks (1)
  --micro-batches=N         micro-batches of a step (1)
Optimizer
  --optimizer=NAME          adamw, sgd, lamb, ... (adamw)
  --lr=X                    learning rate (1e-3)
  --weight-decay=X          weight decay (0)
  --clip-norm=X             largest global norm of the gradients
  --config=FILE             read settings from a DeepSpeed JSON file
Fit into memory
  --memory-budget=BYTES     bytes of a rank: the fastest plan that fits
  --zero=auto               with a budget: choose the stage as well
  --checkpoint=layer|sqrt   recompute activations in the backward pass
  --offload-optimizer=TIER  host or nvme; see also --offload-params
Output
  -o FILE                   write the executable
  --plan-only               stop after planning
  --report=FILE,...         write the plan as a web page (.html) or JSON (.json)
  -v                        list all trained parameters

Example
  zeroc gpt2.onnx --zero-stage=3 --ranks=4 --optimizer=adamw -o gpt2.zexe

zeroc --help-all lists all options.
)";
}
