"""Trains whole training steps and compares them with PyTorch and with each other."""

import json
import shutil
from pathlib import Path

import numpy as np
import onnx
from onnx import numpy_helper

from zero_test import read_safetensors, run_tool

STEPS = 11


def write_forward_weights(data, name, model, path):
    """Writes the parameters of the forward graph that `model` has, too."""
    forward = onnx.load(Path(data) / name / "model.onnx")
    names = {i.name for i in onnx.load(model).graph.input}
    np.savez(path, **{t.name: numpy_helper.to_array(t)
                      for t in forward.graph.initializer if t.name in names})


class WholeStep:
    """A step that needs `flags` to be compiled, with the batch and the losses of the graph `name`.

    Runs that do not resume get the flags `begin`.
    """

    def __init__(self, data, name, work, model, flags, begin=(), truth="adamw_losses"):
        self.name, self.work, self.model = name, Path(work), model
        self.flags, self.begin = list(flags), list(begin)
        self.work.mkdir(parents=True, exist_ok=True)
        arrays = dict(np.load(Path(data) / name / "groundtruth.npz"))
        self.losses = arrays[truth]
        self.gradients = {k[len("grad."):]: v for k, v in arrays.items() if k.startswith("grad.")}
        self.inputs = {k[len("input."):]: v for k, v in arrays.items() if k.startswith("input.")}
        # Of AdamW.
        self.state_bytes = 2 * 4 * sum(g.size for g in self.gradients.values())

    def data_flag(self, copies):
        """Data in which each rank and micro-batch gets the batch of the graph."""
        files = {}
        for name, value in self.inputs.items():
            files[name] = self.work / f"{name}.{copies}.npy"
            np.save(files[name], np.concatenate([value] * copies))
        return "--data=" + ",".join(f"{name}={file}" for name, file in files.items())

    def compile(self, *flags):
        path = self.work / "step.zexe"
        self.report = run_tool("zeroc", self.model, *self.flags, *flags, "-o", path)
        return path

    def train(self, ranks, *flags, micro_batches=1, steps=STEPS, run=()):
        """Losses, and the trained weights."""
        log, saved = self.work / "log.jsonl", self.work / "saved.safetensors"
        executable = self.compile(f"--ranks={ranks}", f"--micro-batches={micro_batches}", *flags)
        begin = [] if any(flag.startswith("--resume") for flag in run) else self.begin
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


def check_tiers(checks, step, without=()):
    """Resumed, recomputed and with state on disk, except the ways `without`: the same bits."""
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
        if label in without:
            continue
        got, saved = step.train(2, "--zero-stage=3", *flags, run=run)
        checks.that(np.array_equal(got, losses), f"{step.name} {label}: {got}, not {losses}")
        checks.that(saved == weights, f"{step.name} {label}: other weights")


def check_certificate(checks, step):
    """Optimizer state of the graph is divided by the ranks, as Zero's own is."""
    for stage, shards in ((0, 1), (1, 2), (3, 2)):
        step.compile(f"--zero-stage={stage}", "--ranks=2")
        line = next(line for line in step.report.splitlines() if "optimizer state" in line)
        states = step.state_bytes / shards
        checks.that(states <= int(line.split()[2]) <= states * 1.05 + 4096,
                    f"{step.name} stage {stage}: {states} bytes of state, certificate {line}")


def check_gradients(checks, step):
    """--dump-gradients writes means over ranks."""
    file = step.work / "gradients.safetensors"
    step.train(2, steps=1, run=[f"--dump-gradients={file}"])
    for name, value in read_safetensors(file).items():
        expected = step.gradients[name]
        error = np.linalg.norm(value - expected) / max(np.linalg.norm(expected), 1e-4)
        checks.that(error <= 1e-4, f"{step.name}: gradient of {name} off by {error:.2e}")
