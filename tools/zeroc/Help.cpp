//===- Help.cpp - the common options of zeroc -----------------------------===//

#include "Help.h"

void zero::printCommonOptions(llvm::raw_ostream &os) {
  os << R"(usage: zeroc MODEL.onnx|MODEL.mlir [options] -o MODEL.zexe

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
