"""Twenty updates with each loss and each optimizer of generate_artifacts.

usage: losses.py FOLDER RESULT.npz
"""

import sys
from pathlib import Path

import numpy as np
from mlp import Samples, make_model, parameter_names, targets_of
from onnxruntime.training import artifacts
from onnxruntime.training.api import CheckpointState, Module, Optimizer

folder, result = Path(sys.argv[1]), sys.argv[2]
record = {}
for loss in artifacts.LossType:
    for optimizer_type in artifacts.OptimType:
        case = f"{loss.name}.{optimizer_type.name}."
        artifacts.generate_artifacts(
            make_model(), requires_grad=parameter_names(), loss=loss, optimizer=optimizer_type,
            artifact_directory=str(folder), prefix=case)
        state = CheckpointState.load_checkpoint(folder / f"{case}checkpoint")
        module = Module(folder / f"{case}training_model.onnx", state,
                        folder / f"{case}eval_model.onnx")
        optimizer = Optimizer(folder / f"{case}optimizer_model.onnx", module)
        record[case + "rate"] = optimizer.get_learning_rate()
        record[case + "input_names"] = module.input_names()
        optimizer.set_learning_rate(0.005 if optimizer_type.name == "AdamW" else 0.1)
        losses = []
        for data, labels in Samples(20, seed=3):
            target = labels if loss.name == "CrossEntropyLoss" else targets_of(labels)
            losses.append(module.train()(data, target))
            optimizer.step()
            module.lazy_reset_grad()
        record[case + "losses"] = np.array([float(value) for value in losses])
        record[case + "evaluated"] = module.eval()(data, target)
np.savez(result, **record)
