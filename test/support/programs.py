"""Programs in MLIR as whole steps: torch-mlir's joint graphs and JAX's steps of test/data."""

import json
from pathlib import Path

import numpy as np
import onnx
from onnx import numpy_helper

from whole_step import WholeStep

ADAMW = ["--optimizer=adamw", "--lr=1e-3", "--weight-decay=0.01"]


class Joint(WholeStep):
    """A joint graph of torch-mlir. Its parameters have the names of the forward graph behind "m.";
    tied ones are two arguments. The batch is that of the forward graph, in the same order."""

    def __init__(self, data, name, work):
        folder = Path(data) / "linalg" / name
        self.roles = json.loads((folder / "args.json").read_text())
        weights = Path(work) / "weights.npz"
        super().__init__(data, name, work, folder / "joint.linalg.mlir",
                         [f"--roles={folder / 'args.json'}", *ADAMW], [f"--weights={weights}"])
        values = {f"m.{t.name}": numpy_helper.to_array(t)
                  for t in onnx.load(Path(data) / name / "model.onnx").graph.initializer}
        modules = [a["target"] for a in self.roles["args"] if a["target"] != a["name"]]
        trained = set(self.roles["grad_of"].values())
        tied = [name for name in modules if name in trained and name not in values]
        if tied:
            self.flags.append("--tie=" + ",".join(f"{a}=m.model.lm_head.weight" for a in tied))
        np.savez(weights, **{name: values[name] for name in modules if name in values})
        names = [a["name"] for a in self.roles["args"] if a["target"] == a["name"]]
        self.inputs = dict(zip(names, self.inputs.values(), strict=True))
        self.gradients = {f"m.{name}": value for name, value in self.gradients.items()}
        for name in tied:
            self.gradients[name] = self.gradients["m.model.lm_head.weight"]


class JaxStep(WholeStep):
    """A whole step of JAX, whose arguments are called arg0, arg1 and so on."""

    def __init__(self, data, name, work, flags=()):
        folder = Path(data) / "stablehlo" / name
        weights = Path(work) / "weights.npz"
        super().__init__(folder.parent, name, work, folder / "step.generic.mlir", flags,
                         [f"--weights={weights}"])
        arrays = np.load(folder / "groundtruth.npz")
        values = {f"arg{key.removeprefix('arg.')}": arrays[key] for key in arrays.files
                  if key.startswith("arg.")}
        batch = sorted(values, key=lambda name: int(name[3:]))[-2:]
        self.inputs = {name: values.pop(name) for name in batch}
        np.savez(weights, **values)
        # Parameters, two states of each, and the counter.
        self.state_bytes = sum(v.nbytes for v in values.values()) // 3 * 2
