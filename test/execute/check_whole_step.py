"""Trains graphs that are whole training steps, and compares losses with PyTorch's.

usage: check_whole_step.py DATA WORK GRAPH...

Limit: ten updates within 1e-3 of the losses. Stages, micro-batches' share, disks and checkpoints
leave the bits as they are.
"""

import json
import shutil
import sys
from pathlib import Path

import numpy as np
import onnx
from onnx import numpy_helper

from zero_test import Checks, Failed, check_refused, read_safetensors, run_tool

STEPS = 11
STATE = ["--carry=*=*.new", "--zeros=*.exp_avg,*.exp_avg_sq,step"]


class WholeStep:
    """A step of test/data/whole-step with the parameters and the batch of its forward graph."""

    state, truth = STATE, "adamw_losses"

    def __init__(self, data, name, work):
        self.name, self.work = name, Path(work)
        self.work.mkdir(parents=True, exist_ok=True)
        self.model = self.find_model(Path(data))
        truth = dict(np.load(Path(data) / name / "groundtruth.npz"))
        self.losses = truth[self.truth]
        self.gradients = {k[len("grad."):]: v for k, v in truth.items() if k.startswith("grad.")}
        self.inputs = {k[len("input."):]: v for k, v in truth.items() if k.startswith("input.")}
        forward = onnx.load(Path(data) / name / "model.onnx")
        names = {i.name for i in onnx.load(self.model).graph.input}
        self.weights = self.work / "weights.npz"
        np.savez(self.weights, **{t.name: numpy_helper.to_array(t)
                                  for t in forward.graph.initializer if t.name in names})

    def find_model(self, data):
        return data / "whole-step" / f"{self.name}.onnx"

    def data_flag(self, copies):
        """Data in which each rank and micro-batch gets the batch of the graph."""
        files = {}
        for name, value in self.inputs.items():
            files[name] = self.work / f"{name}.{copies}.npy"
            np.save(files[name], np.concatenate([value] * copies))
        return "--data=" + ",".join(f"{name}={file}" for name, file in files.items())

    def compile(self, *flags):
        path = self.work / "step.zexe"
        self.report = run_tool("zeroc", self.model, *self.state, *flags, "-o", path)
        return path

    def train(self, ranks, *flags, micro_batches=1, steps=STEPS, run=()):
        """Losses, and the trained weights."""
        log, saved = self.work / "log.jsonl", self.work / "saved.safetensors"
        executable = self.compile(f"--ranks={ranks}", f"--micro-batches={micro_batches}", *flags)
        begin = [] if any(flag.startswith("--resume") for flag in run) else \
            [f"--weights={self.weights}"]
        run_tool("zero-run", executable, self.data_flag(ranks * micro_batches), f"--steps={steps}",
                 "--quiet", f"--log={log}", f"--save={saved}", f"--nvme-dir={self.work}", *begin,
                 *run)
        losses = [json.loads(line)["loss"] for line in log.read_text().splitlines()]
        return np.array(losses), saved.read_bytes()


def check_stages(checks, step):
    for ranks in (1, 2, 4):
        first = None
        for stage in range(4):
            label = f"{step.name} stage {stage} on {ranks}"
            losses, weights = step.train(ranks, f"--zero-stage={stage}")
            error = np.max(np.abs(losses / step.losses - 1))
            checks.that(error <= 1e-3, f"{label}: losses off by {error:.2e}: {losses}")
            first = first or (losses.tobytes(), weights)
            checks.that(first == (losses.tobytes(), weights), f"{label}: other bits than stage 0")


def check_tiers(checks, step):
    """Resumed, recomputed, in micro-batches and with state on disk: the same bits."""
    losses, weights = step.train(2, "--zero-stage=3")
    state = step.work / "state"
    shutil.rmtree(state, ignore_errors=True)
    step.train(2, "--zero-stage=3", steps=4, run=[f"--save-state={state}"])
    ways = {
        "resumed": ([], [f"--resume={state}"]),
        "on disk": (["--offload-optimizer=nvme"], []),
        "recomputed": (["--checkpoint=layer"], []),
        "all on disk": (["--offload-optimizer=nvme", "--offload-params=nvme"], []),
    }
    for label, (flags, run) in ways.items():
        got, saved = step.train(2, "--zero-stage=3", *flags, run=run)
        checks.that(np.array_equal(got, losses), f"{step.name} {label}: {got}, not {losses}")
        checks.that(saved == weights, f"{step.name} {label}: other weights")


def check_micro_batches(checks, step):
    """Two equal micro-batches have the gradient of one; a limit that nothing reaches has no effect,
    and one below the norm has."""
    losses, _ = step.train(2, "--zero-stage=2")
    for order in ("horizontal", "vertical"):
        got, _ = step.train(2, "--zero-stage=2", f"--micro-batch-order={order}", micro_batches=2)
        checks.that(np.allclose(got, losses, rtol=1e-5), f"{step.name} micro-batches: {got}")
    free, _ = step.train(2, "--zero-stage=2", "--clip-norm=1e9")
    checks.that(np.allclose(free, losses, rtol=1e-6), f"{step.name}: not clipped, but {free}")
    clipped, _ = step.train(2, "--zero-stage=2", "--clip-norm=1e-4")
    checks.that(not np.allclose(clipped, losses, rtol=1e-4), f"{step.name}: no effect of the limit")


def check_gradients(checks, step):
    """--dump-gradients writes means over ranks."""
    file = step.work / "gradients.safetensors"
    step.train(2, steps=1, run=[f"--dump-gradients={file}"])
    for name, value in read_safetensors(file).items():
        expected = step.gradients[name]
        error = np.linalg.norm(value - expected) / max(np.linalg.norm(expected), 1e-4)
        checks.that(error <= 1e-4, f"{step.name}: gradient of {name} off by {error:.2e}")


def check_certificate(checks, step):
    """Optimizer state of the graph is divided by the ranks, as Zero's own is."""
    for stage, shards in ((0, 1), (1, 2), (3, 2)):
        step.compile(f"--zero-stage={stage}", "--ranks=2")
        line = next(line for line in step.report.splitlines() if "optimizer state" in line)
        states = 2 * 4 * sum(g.size for g in step.gradients.values()) / shards
        checks.that(states <= int(line.split()[2]) <= states * 1.05 + 4096,
                    f"{step.name} stage {stage}: {states} bytes of state, certificate {line}")


def check_errors(checks, step):
    data = step.data_flag(1)
    check_refused(checks, "no weights", ["without an initial value", "'fc1.weight'", "--weights"],
                  "zero-run", step.compile("--ranks=1"), data, "--quiet")
    refused = {
        "--optimizer=sgd": "has its own update", "--betas=0.9,0.99": "has its own update",
        "--precision=bf16": "has its own gradients", "--lr=1e-3": "constant of the graph",
        "--freeze=fc1*": "trains what it carries", "--tile-params-over=1KB": "whole parameters",
    }
    for flag, words in refused.items():
        check_refused(checks, flag, [flag, words], "zeroc", step.model, *STATE, flag, "-o",
                      step.work / "refused.zexe")
    carried = {
        "--carry=x=nothing": "no output 'nothing'", "--carry=*.a=*.b": "matches no input",
        "--carry=fc1.weight=fc1.bias.new --loss=loss": "expected a new value of its own type",
        "--carry=fc1.weight": "expected INPUT=OUTPUT", "--carry=a*b*=c": "or one on each side",
        "--carry=@missing.txt": "cannot read 'missing.txt'",
    }
    for flags, words in carried.items():
        try:
            run_tool("zeroc", step.model, *flags.split(), "-o", step.work / "refused.zexe")
            checks.that(False, f"{flags}: not refused")
        except Failed as error:
            checks.that(words in str(error), f"{flags}: {error}")
    check_refused(checks, "zeros", ["matches no carried input"], "zeroc", step.model, STATE[0],
                  "--zeros=nothing*", "-o", step.work / "refused.zexe")
    pairs = step.work / "pairs.txt"
    names = [o.name for o in onnx.load(step.model).graph.output if o.name != "loss"]
    pairs.write_text("# state\n" + "".join(f"{n.removesuffix('.new')}={n}\n" for n in names))
    run_tool("zeroc", step.model, f"--carry=@{pairs}", "-o", step.work / "listed.zexe")


def main():
    data, work, *names = sys.argv[1:]
    checks = Checks()
    for name in names:
        step = WholeStep(data, name, f"{work}/{name}")
        check_stages(checks, step)
        check_tiers(checks, step)
        check_certificate(checks, step)
        if name == "mlp":
            check_micro_batches(checks, step)
            check_gradients(checks, step)
            check_errors(checks, step)
    checks.finish()


if __name__ == "__main__":
    main()
