"""A finite loss with a gradient that is NaN or infinite: the run stops with the name of the parameter
and writes nothing, or skips the step, which then changes nothing. State that is not finite is not
saved.

usage: check_nonfinite.py WORK
"""

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from zero_test import Checks, check_refused, read_safetensors

GOOD = np.array([[1.0, 0.25], [4.0, 2.0]], np.float32)
# Where x is 0, u is 0: the derivative of its square root is infinite, and 0 times infinity is NaN.
NAN = np.array([[1.0, 0.25], [4.0, 0.0]], np.float32)
ADAMW = ["--optimizer=adamw", "--lr=0.1", "--weight-decay=0.01"]


def write_model(path, nodes):
    """loss = mean(f(x * a) * b), where `nodes` make "v" of "u" with the constant "one"."""
    weights = {"b.weight": np.array([2, 3], np.float32), "a.weight": np.array([1, 1], np.float32),
               "one": np.array(1, np.float32)}
    graph = helper.make_graph(
        [helper.make_node("Mul", ["x", "a.weight"], ["u"]), *nodes,
         helper.make_node("Mul", ["v", "b.weight"], ["w"]),
         helper.make_node("ReduceMean", ["w"], ["loss"], keepdims=0)],
        "g", [helper.make_tensor_value_info("x", TensorProto.FLOAT, [2, 2])],
        [helper.make_tensor_value_info("loss", TensorProto.FLOAT, [])],
        [numpy_helper.from_array(value, name) for name, value in weights.items()])
    onnx.save(helper.make_model(graph, ir_version=9,
                                opset_imports=[helper.make_opsetid("", 18)]), path)


class Runs:
    def __init__(self, checks, model, work):
        self.checks, self.model, self.work = checks, model, work
        shutil.rmtree(work, ignore_errors=True)
        work.mkdir(parents=True)

    def command(self, batches, *flags):
        np.save(self.work / "x.npy", np.concatenate(batches))
        return [self.model, f"--data=x={self.work}/x.npy", *flags]

    def train(self, batches, steps, *flags):
        """Returns the lines of the log and the weights."""
        log, weights = self.work / "log.jsonl", self.work / "w.safetensors"
        done = subprocess.run(["zero-run", *map(str, self.command(batches, *flags)),
                               f"--steps={steps}", f"--log={log}", f"--save={weights}"],
                              capture_output=True, text=True)
        self.checks.that(done.returncode == 0, f"{flags}: {done.stderr}")
        self.warnings = done.stderr
        return [json.loads(line) for line in log.read_text().splitlines()], read_safetensors(weights)

    def refuses(self, label, words, batches, steps, *flags):
        """The run fails, and neither weights nor checkpoints of bad state exist."""
        weights, state = self.work / "bad.safetensors", self.work / "state"
        shutil.rmtree(state, ignore_errors=True)
        check_refused(self.checks, label, words, "zero-run",
                      *self.command(batches, *flags, f"--steps={steps}", f"--save={weights}",
                                    f"--save-state={state}", "--save-every=1"))
        self.checks.that(not weights.exists(), f"{label}: saved its weights")
        found = sorted(p.name for p in state.glob("*") if p.is_dir())
        expected = [f"step-{step:08}" for step in range(max(1, steps - 2), steps)]
        self.checks.that(found == expected, f"{label}: checkpoints {found}, expected {expected}")


def check_stop(checks, model, work):
    runs = Runs(checks, model, work)
    two = [GOOD] * 2
    for flags in (ADAMW, [*ADAMW, "--clip-norm=1"], [*ADAMW, "--precision=bf16"],
                  [*ADAMW, "--zero-stage=2", "--offload-optimizer=host"],
                  ["--optimizer=sgd", "--lr=0.1"], ["--optimizer=lion", "--lr=0.1"],
                  ["--optimizer=lamb", "--lr=0.1"], ["--optimizer=adafactor", "--lr=0.1"]):
        runs.refuses(str(flags), ["step 1", "the gradient of 'a.weight' is NaN", "--nonfinite=skip"],
                     [GOOD, NAN], 2, *flags)
    for stage in range(4):
        # The bad rows are those of rank 1.
        runs.refuses(f"stage {stage}", ["step 1", "the gradient of 'a.weight' is NaN"],
                     [*two, GOOD, NAN], 2, *ADAMW, f"--zero-stage={stage}", "--ranks=2")
    runs.refuses("micro-batches", ["step 1", "the gradient of 'a.weight' is NaN"],
                 [*two, NAN, GOOD], 2, *ADAMW, "--micro-batches=2")


def check_norm(checks, model, work):
    """Finite gradients whose squares are not: clipping would make them zero."""
    Runs(checks, model, work).refuses(
        "a norm that overflows", ["step 1", "the norm of the gradients is infinite"],
        [GOOD, GOOD * np.float32(1e30)], 2, *ADAMW, "--clip-norm=1")


def check_infinite(checks, model, work):
    ones = np.ones((2, 2), np.float32)
    runs = Runs(checks, model, work)
    for flags in (ADAMW, ["--optimizer=lion", "--lr=0.1"], [*ADAMW, "--clip-norm=1"]):
        runs.refuses(str(flags), ["step 0", "the gradient of 'a.weight' is infinite"], [ones], 1,
                     *flags)


# What skips a step, a batch that it skips, and what is said.
GUARDS = (("--nonfinite=skip", NAN, "the gradient of 'a.weight' is not finite"),
          ("--skip-above=20", GOOD * 1e4, "its loss is"), ("--skip-above=20", NAN, "not finite"),
          ("--skip-spikes=10", GOOD * 1e4, "the norm of its gradients is"))


def check_skip(checks, model, work, guard, bad, told):
    """A skipped step changes nothing: the others are bitwise those of a run without it."""
    runs = Runs(checks, model, work)
    first = None
    for flags in ([], ["--precision=bf16"], ["--clip-norm=1"], ["--optimizer=sgd"]):
        for stage in (0, 1, 2, 3) if flags == ["--clip-norm=1"] else (0, 3):
            label = f"{guard}, {flags}, stage {stage}"
            common = [*ADAMW[1 if "--optimizer=sgd" in flags else 0:], *flags, guard,
                      f"--zero-stage={stage}", "--ranks=2", "--lr-schedule=linear",
                      "--warmup-steps=2", "--total-steps=9"]
            pairs = [GOOD, GOOD * 2], [GOOD, bad], [GOOD * 3, GOOD]
            log, weights = runs.train([*pairs[0], *pairs[1], *pairs[2]], 3, *common)
            checks.that("step 1 is skipped: " in runs.warnings and told in runs.warnings,
                        f"{label}: {runs.warnings}")
            plain, without = runs.train([*pairs[0], *pairs[2]], 2, *common)
            checks.that([line["skipped"] for line in log] == [False, True, False], f"{label}: {log}")
            checks.that([log[0]["loss"], log[2]["loss"]] == [line["loss"] for line in plain],
                        f"{label}: {log} and {plain}")
            checks.that(all(weights[name].tobytes() == value.tobytes()
                            for name, value in without.items()), f"{label}: {weights}, {without}")
            if stage == 0:
                first = weights
            checks.that(all(weights[name].tobytes() == value.tobytes()
                            for name, value in first.items()), f"{label}: another than stage 0")
    # Without the option, the same numbers: it adds nothing to a step that counts.
    _, skip = runs.train([GOOD, GOOD * 2], 2, *ADAMW, guard)
    _, stop = runs.train([GOOD, GOOD * 2], 2, *ADAMW)
    checks.that(all(skip[name].tobytes() == value.tobytes() for name, value in stop.items()),
                f"{guard} changes bits: {skip}, {stop}")


def check_find_nan(checks, model, work):
    """The first kernel that writes NaN, its rank, and what it has read; the same bits without NaN."""
    runs = Runs(checks, model, work)
    for stage, ranks, flags in ((0, 1, []), (3, 2, []), (3, 2, ["--processes=2"])):
        batches = [GOOD] * ranks + [*[GOOD] * (ranks - 1), NAN]
        command = runs.command(batches, *ADAMW, f"--zero-stage={stage}", f"--ranks={ranks}", "--steps=2",
                               "--find-nan", *flags)
        done = subprocess.run(["zero-run", *map(str, command)], capture_output=True, text=True)
        # The derivative of the root is infinite, and 0 times it NaN, in one kernel.
        told = re.search(r"step 1: rank (\d), micro-batch 0: '(\w+)' \(kernel \w+\) is the first to write "
                         r"NaN, to element \d+ of its argument \d of \d+; before it, (.*)", done.stderr)
        checks.that(done.returncode != 0 and told and told.groups() ==
                    (str(ranks - 1), "u", "all that it reads is finite"),
                    f"--find-nan, stage {stage} {flags}: {done.stderr}")
    # A NaN of the data is there before any kernel.
    data = np.where(GOOD == 4, np.float32(np.nan), GOOD)
    done = subprocess.run(["zero-run", *map(str, runs.command([data], *ADAMW, "--find-nan"))],
                          capture_output=True, text=True)
    checks.that("before it, argument 0 has NaN at element 2" in done.stderr, f"NaN in data: {done.stderr}")
    _, found = runs.train([GOOD, GOOD * 2], 2, *ADAMW, "--find-nan")
    _, plain = runs.train([GOOD, GOOD * 2], 2, *ADAMW)
    checks.that(all(found[name].tobytes() == value.tobytes() for name, value in plain.items()),
                "--find-nan changes bits")


def check_allowed(checks, model, work):
    """--allow-nan goes on and saves weights, but no checkpoint."""
    runs = Runs(checks, model, work)
    log, weights = runs.train([GOOD, NAN], 2, *ADAMW, "--allow-nan")
    checks.that(len(log) == 2 and np.isnan(weights["a.weight"]).any(), f"--allow-nan: {weights}")
    state = work / "state"
    done = subprocess.run(["zero-run", *map(str, runs.command([GOOD, NAN], *ADAMW, "--allow-nan")),
                           "--steps=2", f"--save-state={state}"], capture_output=True, text=True)
    checks.that(done.returncode != 0 and "'a.weight" in done.stderr and
                "is not finite" in done.stderr and not list(state.glob("step-*")),
                f"a checkpoint of NaN: {done.stderr}")


def main():
    work = Path(sys.argv[1])
    work.mkdir(parents=True, exist_ok=True)
    checks = Checks()
    node = helper.make_node
    where = work / "where.onnx"
    write_model(where, [node("Sqrt", ["u"], ["r"]), node("Less", ["u", "one"], ["small"]),
                        node("Where", ["small", "u", "r"], ["v"])])
    root = work / "root.onnx"
    write_model(root, [node("Sub", ["u", "one"], ["d"]), node("Sqrt", ["d"], ["v"])])
    line = work / "line.onnx"
    write_model(line, [node("Identity", ["u"], ["v"])])
    check_stop(checks, where, work / "stop")
    check_norm(checks, line, work / "norm")
    check_infinite(checks, root, work / "infinite")
    for guard, bad, told in GUARDS:
        check_skip(checks, where, work / "skip", guard, bad, told)
    check_find_nan(checks, where, work / "find")
    check_allowed(checks, where, work / "allowed")
    checks.finish()


if __name__ == "__main__":
    main()
