"""The peer of onnxruntime's training API, one process: ort_train.py CASE STEPS REPORT

generate_artifacts differentiates the graph of a case and writes the graphs of a step beside it.
"""

import sys
import types
from pathlib import Path

import onnx
import onnxruntime

# Its optimizers for PyTorch, which is not installed.
sys.modules["onnxruntime.training.optim"] = types.ModuleType("optim")
from onnxruntime.training import artifacts, onnxblock
from onnxruntime.training.api import CheckpointState, Module, Optimizer

from graphs import load_batch, load_graph, load_sizes
from measure import measure

LEARNING_RATE = 1e-4
# Optional outputs of nodes, which their gradients read.
SAVED = {"SoftmaxCrossEntropyLoss": ["log_prob"], "LayerNormalization": ["mean", "inverse"]}


def use_torch_adamw(path):
    """Changes the optimizer from Transformers' form of AdamW to PyTorch's, which adds epsilon after
    correcting the bias of the moments."""
    model = onnx.load(path)
    (mode,) = (a for node in model.graph.node for a in node.attribute if a.name == "adam_mode")
    mode.i = 0
    onnx.save(model, path)


def write_artifacts(folder):
    """Writes the graphs of the step and of the optimizer, and the parameters."""
    folder.mkdir(exist_ok=True)
    model, parameters = load_graph(folder.parent)
    for node in model.graph.node:
        node.output.extend(f"{node.output[0]}_{name}" for name in SAVED.get(node.op_type, ()))
    artifacts.generate_artifacts(model, requires_grad=parameters, artifact_directory=folder,
                                 optimizer=onnxblock.optim.AdamW(eps=1e-8, weight_decay=0.01))
    use_torch_adamw(folder / "optimizer_model.onnx")


def main():
    folder, steps, report = Path(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
    files = folder / "ort"
    write_artifacts(files)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = load_sizes(folder)["threads"]
    state = CheckpointState.load_checkpoint(files / "checkpoint")
    module = Module(files / "training_model.onnx", state, session_options=options)
    optimizer = Optimizer(files / "optimizer_model.onnx", module)
    optimizer.set_learning_rate(LEARNING_RATE)
    batch = load_batch(folder)
    inputs = [batch[name] for name in module.input_names()]

    def step():
        loss = module(*inputs)
        optimizer.step()
        module.lazy_reset_grad()
        return float(loss)
    measure(step, steps, report)


if __name__ == "__main__":
    main()
