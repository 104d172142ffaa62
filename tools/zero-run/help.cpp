//===- help.cpp - the common options of zero-run --------------------------===//

#include "options.h"

std::string zero::run::commonHelpText() {
  return R"(usage: zero-run MODEL.zexe --data NAME=FILE,... [options]
       zero-run MODEL.onnx|.mlir --zero-stage=N --ranks=N --data ... [options]

Trains a compiled model. Compiles a model first, with the options of zeroc.

Data
  --data=NAME=FILE,...      .npy, .npz or .bin file of each input
  --shuffle=SEED            shuffle the samples of each epoch
  --eval-data=NAME=FILE,... compute the loss of held-out data (--eval-every=K)
Training
  --steps=N                 steps to train (1)
  --epochs=E                passes over the data, instead of --steps
  --lr=X                    learning rate (as compiled)
  --weights=FILE            initial weights: .safetensors or .npz
  --resume=DIR              continue from a checkpoint
Results
  --save=FILE               write the trained weights: .safetensors or .onnx
  --save-state=DIR          write checkpoints; --save-every=K steps
  --log=FILE                write the loss of each step as JSON lines
  --report-json=FILE        write memory, losses and times
  --profile                 print where the time of a step goes
  --quiet                   print only warnings and errors
Execution
  --threads-per-rank=N      threads of each rank (as compiled)
  --nvme-dir=DIR            directory of the nvme tier
  --timeout=SECONDS         longest wait for another rank (120)

Example
  zero-run gpt2.onnx --zero-stage=3 --ranks=4 --optimizer=adamw --lr=1e-3 \
    --data input_ids=tokens.npy,labels=labels.npy --steps=10 --save=out.npz

zero-run --help-all lists all options.
)";
}
