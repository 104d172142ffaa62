"""Options that change the numbers and differ on resume are listed in one line. A schedule or a
dampening of the momentum may begin on resume: its counter starts as after so many steps.

usage: check_resume_options.py WORK
"""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from zero_test import Checks, check_refused, read_safetensors

X = np.array([[1.0, 2.0], [3.0, 4.0]], np.float32)


def write_model(path, name="l.weight"):
    """loss = mean(x * w): the gradient of w is constant."""
    graph = helper.make_graph(
        [helper.make_node("Mul", ["x", name], ["y"]),
         helper.make_node("ReduceMean", ["y"], ["loss"], keepdims=0)],
        "g", [helper.make_tensor_value_info("x", TensorProto.FLOAT, [2, 2])],
        [helper.make_tensor_value_info("loss", TensorProto.FLOAT, [])],
        [numpy_helper.from_array(np.array([1, 2], np.float32), name)])
    onnx.save(helper.make_model(graph, ir_version=9,
                                opset_imports=[helper.make_opsetid("", 18)]), path)


class Runs:
    def __init__(self, checks, work):
        self.checks, self.work, self.model = checks, work, work / "model.onnx"
        write_model(self.model)
        np.save(work / "x.npy", X)

    def run(self, steps, *flags):
        """Returns the messages, the lines of the log and the weight."""
        log, weights = self.work / "log.jsonl", self.work / "w.safetensors"
        done = subprocess.run(["zero-run", str(self.model), f"--data=x={self.work}/x.npy",
                               f"--steps={steps}", f"--log={log}", f"--save={weights}", *flags],
                              capture_output=True, text=True)
        self.checks.that(done.returncode == 0, f"{flags}: {done.stderr}")
        lines = [json.loads(line) for line in log.read_text().splitlines()]
        return done.stderr, lines, read_safetensors(weights)["l.weight"]


def check_remark(checks, runs):
    state = runs.work / "remark"
    sgd = ["--optimizer=sgd", "--lr=0.1"]
    runs.run(2, *sgd, f"--save-state={state}")
    text, _, _ = runs.run(3, *sgd, f"--resume={state}")
    checks.that(text == "", f"resumed with the same options: {text}")
    text, _, _ = runs.run(3, *sgd, f"--resume={state}", "--clip-norm=0.5", "--no-decay=l.*",
                          "--weight-decay=0.1")
    expected = ("resumed with other options: --clip-norm=0.5 (saved with 0), --no-decay=l.* "
                "(saved with none)")
    checks.that(expected in text, f"no '{expected}' in {text}")


def check_schedule(checks, runs):
    """With warm-up over 4 updates, the rate of update t is t / 4 of the whole."""
    state = runs.work / "schedule"
    sgd = ["--optimizer=sgd", "--lr=0.1"]
    runs.run(2, *sgd, f"--save-state={state}")
    text, lines, _ = runs.run(5, *sgd, f"--resume={state}", "--warmup-steps=4")
    rates = [line["learning_rate"] for line in lines[-3:]]
    checks.that(np.allclose(rates, [0.05, 0.075, 0.1], rtol=1e-6), f"rates {rates}")
    checks.that("set as after so many steps: 'optimizer.updates'" in text and
                "--warmup-steps=4 (saved with 0)" in text, f"a schedule on resume: {text}")


def check_dampening(checks, runs):
    """Only the first step of a run takes the whole gradient."""
    state = runs.work / "dampening"
    sgd = ["--optimizer=sgd", "--lr=0.1", "--momentum=0.9"]
    runs.run(2, *sgd, f"--save-state={state}")
    text, _, weight = runs.run(4, *sgd, f"--resume={state}", "--dampening=0.5")
    expected, moment, gradient = np.array([1.0, 2.0]), 0, X.astype(np.float64).sum(0) / 4
    for share in (1, 1, 0.5, 0.5):
        moment = 0.9 * moment + share * gradient
        expected = expected - 0.1 * moment
    checks.that(np.allclose(weight, expected, rtol=1e-6), f"weight {weight}, not {expected}")
    checks.that("'optimizer.gradient_share'" in text, f"a dampening on resume: {text}")
    check_refused(checks, "momentum on resume", ["missing: 'l.weight.momentum_buffer'"], "zero-run",
                  runs.model, f"--data=x={runs.work}/x.npy", "--steps=4", "--optimizer=sgd",
                  "--momentum=0.9", f"--resume={runs.work / 'remark'}")


def check_reserved_name(checks, work):
    """A tensor '__metadata__' cannot be in a .safetensors file: an error before the first step."""
    model, out = work / "reserved.onnx", work / "reserved.safetensors"
    write_model(model, "__metadata__")
    check_refused(checks, "__metadata__", ["'__metadata__'", ".safetensors reserves"], "zero-run",
                  model, f"--data=x={work}/x.npy", "--steps=1", "--optimizer=sgd", f"--save={out}",
                  f"--trainable={work}/names.txt")
    checks.that(not out.exists(), "__metadata__: wrote a file")


def main():
    work = Path(sys.argv[1])
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir(parents=True)
    checks = Checks()
    runs = Runs(checks, work)
    (work / "names.txt").write_text("__metadata__\n")
    check_remark(checks, runs)
    check_schedule(checks, runs)
    check_dampening(checks, runs)
    check_reserved_name(checks, work)
    checks.finish()


if __name__ == "__main__":
    main()
