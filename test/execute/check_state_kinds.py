"""What --weights may replace, --save writes and a checkpoint has: parameters, frozen parameters,
buffers that the step writes or only reads, and, in checkpoints, state of the optimizer. Only
constants without a name in the model are in none.

usage: check_state_kinds.py WORK
"""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from checkpoints import newest, read_manifest, read_tensors, write_manifest
from zero_test import Checks, read_safetensors, run_tool

SHAPES = {"l1.weight": (4, 6), "l2.weight": (6, 3), "bn.weight": (6,), "bn.bias": (6,),
          "bn.running_mean": (6,), "bn.running_var": (6,), "fixed.running_mean": (6,),
          "fixed.running_var": (6,), "fixed.weight": (6,), "fixed.bias": (6,), "scale": (6,)}
TRAINED = ["l1.weight", "bn.weight", "bn.bias", "fixed.weight", "fixed.bias"]
FLAGS = ["--optimizer=adamw", "--lr=0.05"]  # and --trainable, which freezes l2.weight
EPSILON = 1e-5


def make_values(seed):
    random = np.random.default_rng(seed)
    return {name: (random.random(shape) + 0.5).astype(np.float32) for name, shape in SHAPES.items()}


def write_model(path, values, made_up):
    node = helper.make_node
    nodes = [node("MatMul", ["x", "l1.weight"], ["a"]),
             node("Mul", ["a", "scale"], ["b"]),  # a buffer that the step only reads
             node("Add", ["b", "val_3"], ["c"]),  # a constant of the exporter
             node("BatchNormalization",
                  ["c", *(f"bn.{n}" for n in ("weight", "bias", "running_mean", "running_var"))],
                  ["d", "mean", "var"], training_mode=1, momentum=0.9, epsilon=EPSILON),
             node("BatchNormalization",
                  ["d", *(f"fixed.{n}" for n in ("weight", "bias", "running_mean", "running_var"))],
                  ["e"], epsilon=EPSILON),
             node("MatMul", ["e", "l2.weight"], ["f"]), node("Mul", ["f", "f"], ["g"]),
             node("ReduceMean", ["g"], ["loss"], keepdims=0)]
    info = helper.make_tensor_value_info
    graph = helper.make_graph(
        nodes, "g", [info("x", TensorProto.FLOAT, [8, 4])], [info("loss", TensorProto.FLOAT, [])],
        [numpy_helper.from_array(value, name) for name, value in {**values, "val_3": made_up}.items()])
    onnx.save(helper.make_model(graph, ir_version=9,
                                opset_imports=[helper.make_opsetid("", 18)]), path)


def first_loss(x, values, made_up):
    """In fp64."""
    v = {name: value.astype(np.float64) for name, value in values.items()}
    c = x.astype(np.float64) @ v["l1.weight"] * v["scale"] + made_up
    d = (c - c.mean(0)) / np.sqrt(c.var(0) + EPSILON) * v["bn.weight"] + v["bn.bias"]
    e = ((d - v["fixed.running_mean"]) / np.sqrt(v["fixed.running_var"] + EPSILON) *
         v["fixed.weight"] + v["fixed.bias"])
    return np.mean((e @ v["l2.weight"]) ** 2)


class Case:
    def __init__(self, checks, work):
        self.checks, self.work = checks, work
        random = np.random.default_rng(5)
        self.made_up = random.random(6).astype(np.float32)
        self.model, self.values = work / "model.onnx", make_values(2)
        self.x = random.standard_normal((8, 4)).astype(np.float32)
        write_model(self.model, make_values(1), self.made_up)
        np.save(work / "x.npy", self.x)
        np.savez(work / "given.npz", **self.values)
        (work / "names.txt").write_text("\n".join(TRAINED) + "\n")
        self.flags = [*FLAGS, f"--trainable={work}/names.txt"]

    def run(self, steps, *flags, save="saved.safetensors"):
        """Returns the text, the losses and the saved weights."""
        log, path = self.work / "log.jsonl", self.work / save
        text = run_tool("zero-run", self.model, f"--data=x={self.work}/x.npy", f"--steps={steps}",
                        f"--log={log}", f"--save={path}", *self.flags, *flags)
        losses = [json.loads(line)["loss"] for line in log.read_text().splitlines()]
        return text, losses, path


def check_saved(case, given, first):
    """The files have the tensors of the table, with the values that the file gave them."""
    checks, values = case.checks, case.values
    saved = read_safetensors(first)
    checks.that(saved.keys() == values.keys(), f"saved {sorted(saved)}, not {sorted(values)}")
    for name, value in saved.items():
        changes = name in TRAINED or name.startswith("bn.running")
        checks.that((value.tobytes() != values[name].tobytes()) == changes,
                    f"saved {name}: {value}, given {values[name]}")
    _, _, model = case.run(4, given, save="saved.onnx")
    initializers = {t.name: numpy_helper.to_array(t) for t in onnx.load(model).graph.initializer}
    checks.that(all(initializers[name].tobytes() == value.tobytes() for name, value in saved.items())
                and initializers["val_3"].tobytes() == case.made_up.tobytes(),
                f"other values in the .onnx file: {initializers}")


def check_resumed(case, given, stage):
    """A resumed run has them from the checkpoint."""
    checks, state = case.checks, case.work / f"state-{stage}"
    flags = [f"--zero-stage={stage}"] + (["--ranks=2"] if stage else [])
    _, whole, first = case.run(4, given, *flags)
    expected = read_safetensors(first)
    case.run(2, given, *flags, f"--save-state={state}")
    text, losses, second = case.run(4, *flags, f"--resume={state}")
    checks.that(losses[-2:] == whole[2:], f"stage {stage}: resumed with {losses}, not {whole}: {text}")
    checks.that(all(read_safetensors(second)[name].tobytes() == value.tobytes()
                    for name, value in expected.items()), f"stage {stage}: other weights")
    tensors = read_tensors(newest(state))
    checks.that(tensors["scale"].tobytes() == case.values["scale"].tobytes() and
                "val_3" not in tensors and "optimizer.beta1_power" in tensors and
                "l1.weight.exp_avg" in tensors, f"stage {stage}: checkpoint of {sorted(tensors)}")
    return state


def check_older(case, state):
    """A checkpoint of a version that left out constants resumes with a warning that names them."""
    folder = newest(state)
    manifest = read_manifest(folder)
    manifest["tensors"] = [t for t in manifest["tensors"] if t["name"] != "scale"]
    write_manifest(folder, manifest)
    log = case.work / "older.jsonl"
    done = subprocess.run(["zero-run", str(case.model), f"--data=x={case.work}/x.npy", "--steps=3",
                           f"--log={log}", *case.flags, f"--resume={state}", "--zero-stage=0"],
                          capture_output=True, text=True)
    case.checks.that(done.returncode == 0 and
                     "not saved, set to their initial values: 'scale'" in done.stderr,
                     f"an older checkpoint: {done.stderr}")


def main():
    work = Path(sys.argv[1])
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir(parents=True)
    checks = Checks()
    case = Case(checks, work)
    given = f"--weights={work}/given.npz"
    _, losses, first = case.run(4, given)
    expected = first_loss(case.x, case.values, case.made_up)
    checks.that(abs(losses[0] - expected) < 1e-5 * expected, f"loss {losses[0]}, not {expected}")
    check_saved(case, given, first)
    older = check_resumed(case, given, 0)
    check_resumed(case, given, 3)
    # A run from the file of --save starts where the other has ended.
    _, _, first = case.run(2, given)
    values = read_safetensors(first)
    _, losses, _ = case.run(1, f"--weights={first}", save="next.safetensors")
    expected = first_loss(case.x, values, case.made_up)
    checks.that(abs(losses[0] - expected) < 1e-5 * expected, f"next {losses[0]}, not {expected}")
    np.savez(work / "more.npz", **case.values, val_3=case.made_up)
    said = run_tool("zero-run", case.model, f"--data=x={work}/x.npy", "--steps=1", *case.flags,
                    f"--weights={work}/more.npz")
    checks.that("weights: left out 1 that the model does not have: 'val_3'" in said, said)
    check_older(case, older)
    checks.finish()


if __name__ == "__main__":
    main()
