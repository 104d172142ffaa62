"""Gives forward graphs a training_info with SGD and momentum: losses of PyTorch, random initial
values.

usage: check_made_training_info.py DATA WORK GRAPH...
"""

import sys
from pathlib import Path

import numpy as np
import onnx
from onnx import helper, numpy_helper

from training_info import add_initialization, add_momentum, batch_statistics
from zero_test import Checks, read_safetensors, run_tool

STEPS = 11
LIMIT = 1e-3


class Made:
    """The forward graph `name` with an algorithm."""

    def __init__(self, data, name, work):
        self.name, self.work = name, Path(work)
        self.work.mkdir(parents=True, exist_ok=True)
        truth = dict(np.load(Path(data) / name / "groundtruth.npz"))
        self.losses = truth["sgdm_losses"]
        self.inputs = {k[len("input."):]: v for k, v in truth.items() if k.startswith("input.")}
        self.model = onnx.load(Path(data) / name / "model.onnx")
        self.names = [str(n) for n in truth["parameters"]]
        self.info = add_momentum(self.model, self.names, updates=batch_statistics(self.model))

    def data_flag(self, copies):
        files = {n: self.work / f"{n}.{copies}.npy" for n in self.inputs}
        for name, file in files.items():
            np.save(file, np.concatenate([self.inputs[name]] * copies))
        return "--data=" + ",".join(f"{name}={file}" for name, file in files.items())

    def train(self, ranks, *flags, steps=STEPS):
        """Losses and saved weights."""
        path, log = self.work / "made.onnx", self.work / "log.jsonl"
        saved = self.work / "saved.safetensors"
        path.write_bytes(self.model.SerializeToString())
        run_tool("zero-run", path, self.data_flag(ranks), f"--ranks={ranks}", f"--steps={steps}",
                 "--quiet", f"--log={log}", f"--save={saved}", *flags)
        losses = [float(line.split('"loss":')[1].split(",")[0].rstrip("}\n"))
                  for line in log.open()]
        return np.array(losses), read_safetensors(saved)


def check_losses(checks, made):
    first = None
    for ranks, stage in ((1, 0), (2, 0), (2, 1), (2, 3)):
        losses, _ = made.train(ranks, f"--zero-stage={stage}")
        error = np.max(np.abs(losses / made.losses - 1))
        checks.that(error <= LIMIT, f"{made.name} stage {stage}: off by {error:.1e}: {losses}")
        first = losses if ranks == 2 and stage == 0 else first
        checks.that(ranks == 1 or np.array_equal(losses, first),
                    f"{made.name} stage {stage}: other bits")


def check_random(checks, made):
    """Parameters that an initialization graph draws are the same at every stage."""
    name = "fc1.weight"
    shape = list(next(t.dims for t in made.model.graph.initializer if t.name == name))
    bias = list(next(t.dims for t in made.model.graph.initializer if t.name == "fc1.bias"))
    add_initialization(made.info, [
        helper.make_node("RandomNormal", [], ["w"], shape=shape, mean=0.5, scale=0.25),
        helper.make_node("Constant", [], ["s"], value=numpy_helper.from_array(np.array(bias))),
        helper.make_node("ConstantOfShape", ["s"], ["zeros"]),
        helper.make_node("RandomUniformLike", ["zeros"], ["b"], low=-1.0, high=3.0),
    ], [(name, "w"), ("fc1.bias", "b")])
    # One update of rate 0: the values as they were drawn.
    rate = next(t for t in made.info.algorithm.initializer if t.name == "rate")
    rate.CopyFrom(numpy_helper.from_array(np.array(0, np.float32), "rate"))
    _, first = made.train(1, steps=1)
    weight, drawn = first[name].astype(np.float64), first["fc1.bias"].astype(np.float64)
    spread = 0.25 / np.sqrt(weight.size)
    checks.that(abs(weight.mean() - 0.5) < 5 * spread, f"mean {weight.mean()}")
    checks.that(abs(weight.std() - 0.25) < 5 * spread, f"standard deviation {weight.std()}")
    checks.that(np.unique(weight).size > 0.99 * weight.size, "values are drawn twice")
    checks.that(-1 <= drawn.min() < -0.5 and 2.5 < drawn.max() <= 3,
                f"uniform between {drawn.min()} and {drawn.max()}")
    for flags in (["--zero-stage=3"], ["--zero-stage=1"]):
        _, others = made.train(2, *flags, steps=1)
        checks.that(all(np.array_equal(others[n], first[n]) for n in made.names),
                    f"{flags}: other random values")
    _, seeded = made.train(1, "--seed=1", steps=1)
    checks.that(not np.array_equal(seeded[name], first[name]), "--seed changes nothing")


def main():
    data, work, *names = sys.argv[1:]
    checks = Checks()
    for name in names:
        made = Made(data, name, f"{work}/{name}")
        check_losses(checks, made)
        if name == "mlp":
            check_random(checks, made)
    checks.finish()


if __name__ == "__main__":
    main()
