"""On-device training as its documentation begins: artifacts are made offline, then epochs of
training and evaluation, a checkpoint in between, and an export for inference.

usage: train_classifier.py FOLDER RESULT.npz
"""

import sys
from pathlib import Path

import numpy as np
from mlp import Samples, make_model, parameter_names
from onnxruntime import InferenceSession
from onnxruntime.training import artifacts
from onnxruntime.training.api import CheckpointState, LinearLRScheduler, Module, Optimizer

EPOCHS, BATCHES = 4, 5
folder, result = Path(sys.argv[1]), sys.argv[2]
train_loader, test_loader = Samples(BATCHES, seed=1), Samples(2, seed=2)
record = {"losses": [], "rates": [], "eval_losses": [], "accuracies": []}

# Offline: generate the artifacts.
artifacts.generate_artifacts(
    make_model(),
    requires_grad=parameter_names(),
    loss=artifacts.LossType.CrossEntropyLoss,
    optimizer=artifacts.OptimType.AdamW,
    artifact_directory=str(folder),
    additional_output_names=["output"],
)


def load(checkpoint):
    state = CheckpointState.load_checkpoint(str(folder / checkpoint))
    module = Module(str(folder / "training_model.onnx"), state, str(folder / "eval_model.onnx"))
    return state, module, Optimizer(str(folder / "optimizer_model.onnx"), module)


def train_epoch(module, optimizer, scheduler):
    module.train()
    losses = []
    for data, target in train_loader:
        record["rates"].append(optimizer.get_learning_rate())
        loss, _ = module(data, target)
        optimizer.step()
        module.lazy_reset_grad()
        if scheduler is not None:
            scheduler.step()
        losses.append(loss)
    record["losses"] += [float(loss) for loss in losses]
    print(f"train loss {sum(losses) / len(losses):.4f}")


def test_epoch(module):
    module.eval()
    losses, correct = [], 0
    for data, target in test_loader:
        loss, logits = module(data, target)
        correct += np.sum(np.argmax(logits, axis=1) == target)
        losses.append(loss)
    record["eval_losses"] += [float(loss) for loss in losses]
    record["accuracies"].append(correct / sum(len(target) for _, target in test_loader))
    print(f"test loss {sum(losses) / len(losses):.4f}, accuracy {record['accuracies'][-1]:.2f}")


# Training and evaluation.
state, module, optimizer = load("checkpoint")
record["input_names"], record["output_count"] = module.input_names(), len(module.output_names())
optimizer.set_learning_rate(0.01)
for epoch in range(EPOCHS // 2):
    train_epoch(module, optimizer, None)
    test_epoch(module)

# A checkpoint, and training that continues from it with a schedule of the rate.
state.properties["epoch"] = EPOCHS // 2
state.properties["loss"] = float(record["losses"][-1])
state.properties["name"] = "classifier"
CheckpointState.save_checkpoint(state, str(folder / "trained"), include_optimizer_state=True)
state, module, optimizer = load("trained")
record["properties"] = [f"{name}={value:.5}" if isinstance(value, float) else f"{name}={value}"
                        for name, value in sorted(state.properties)]
record["loaded_rate"] = optimizer.get_learning_rate()
scheduler = LinearLRScheduler(optimizer, 2, EPOCHS * BATCHES, 0.01)
for epoch in range(EPOCHS // 2, EPOCHS):
    train_epoch(module, optimizer, scheduler)
    test_epoch(module)

# Export for inference.
module.export_model_for_inferencing(str(folder / "inference_model.onnx"), ["output"])
session = InferenceSession(str(folder / "inference_model.onnx"), providers=["CPUExecutionProvider"])
record["input_of_inference"] = [value.name for value in session.get_inputs()]
record["outputs"] = session.run(["output"], {"input": next(iter(test_loader))[0]})[0]
for name, parameter in state.parameters:
    record[f"parameter.{name}"] = parameter.data
np.savez(result, **record)
