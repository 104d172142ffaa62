"""Trains gpt2-mini with the installed wheel; compares the losses with PyTorch's.

usage: train.py DATA
"""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import zero

STEPS = 11
SETTINGS = {"optimizer": "adamw", "lr": 1e-3, "betas": (0.9, 0.999), "eps": 1e-8,
            "weight_decay": 0.01}


def run(*arguments):
    return subprocess.run([str(a) for a in arguments], check=True, capture_output=True,
                          text=True).stdout


def flags():
    for name, value in SETTINGS.items():
        text = ",".join(map(str, value)) if isinstance(value, tuple) else value
        yield f"--{name.replace('_', '-')}={text}"


def train_with_tools(data):
    """Losses of zero-run; the other tools read the same model and executable."""
    run("zeroc", data / "model.onnx", "--zero-stage=3", "--ranks=2", *flags(), "-o", "gpt2.zexe")
    run("zero-run", "gpt2.zexe", "--data", data / "groundtruth.npz", f"--steps={STEPS}",
        "--log=log.jsonl", "--quiet")
    # zero-run starts the zeroc beside it.
    run("zero-run", data / "model.onnx", "--data", data / "groundtruth.npz", "--steps=1")
    assert "memory per rank" in run("zero-sim", "gpt2.zexe"), "zero-sim"
    assert "onnx." in run("zero-translate", "--import-onnx", data / "model.onnx"), "zero-translate"
    assert "zero." in run("zero-opt", data / "model.onnx", "--zero-stage=3", "--ranks=2"), "zero-opt"
    return [json.loads(line)["loss"] for line in Path("log.jsonl").read_text().splitlines()]


def train_with_package(data):
    """Losses of a zero.Session."""
    truth = np.load(data / "groundtruth.npz")
    batch = {name: truth[f"input.{name}"] for name in ("input_ids", "labels")}
    program = zero.compile(data / "model.onnx", zero_stage=3, ranks=2, **SETTINGS)
    with program.session() as session:
        return [session.step(batch).loss for _ in range(STEPS)]


def check(losses, expected):
    assert len(losses) == len(expected) == STEPS, losses
    for loss, truth in zip(losses, expected):
        assert abs(loss - truth) <= 1e-3 * truth, (losses, expected)


def main():
    data = Path(sys.argv[1]).resolve()
    expected = np.load(data / "groundtruth.npz")["adamw_losses"]
    losses = train_with_tools(data)
    check(losses, expected)
    print(f"Python {sys.version.split()[0]}, tools: losses {losses[0]:.6f} to {losses[-1]:.6f}")
    if hasattr(zero, "compile"):
        again = train_with_package(data)
        assert np.allclose(losses, again, rtol=1e-6), (losses, again)
        print(f"package: losses {again[0]:.6f} to {again[-1]:.6f}")


if __name__ == "__main__":
    main()
