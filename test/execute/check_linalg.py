"""Trains the ten lines of linalg of test/tools/linalg.mlir, and compares with NumPy.

usage: check_linalg.py PROGRAM WORK

The gradient of the program is a quarter of the column sums of x, whatever the parameter, and its
loss the sum of x w.
"""

import json
import sys
from pathlib import Path

import numpy as np

from zero_test import Checks, read_safetensors, run_tool

RANKS, STEPS, RATE = 4, 3, 0.01


def expected(x):
    w, losses = np.full((16, 8), 0.5), []
    for _ in range(STEPS):
        batches = x.reshape(RANKS, 4, 16).astype(np.float64)
        # Sums over ranks, as the program does not divide them.
        losses.append(np.sum([np.sum(batch @ w) for batch in batches]))
        w = w - RATE * sum(batch.T @ np.full((4, 8), 0.25) for batch in batches)
    return losses, w


def main():
    program, work = sys.argv[1], Path(sys.argv[2])
    work.mkdir(parents=True, exist_ok=True)
    checks = Checks()
    x = np.random.default_rng(0).normal(size=(RANKS * 4, 16)).astype(np.float32)
    np.save(work / "x.npy", x)
    losses, w = expected(x)
    first = None
    for stage in range(4):
        run_tool("zeroc", program, f"--zero-stage={stage}", f"--ranks={RANKS}", "--optimizer=sgd",
                 f"--lr={RATE}", "-o", work / "linalg.zexe")
        run_tool("zero-run", work / "linalg.zexe", f"--data=x={work / 'x.npy'}", f"--steps={STEPS}",
                 "--quiet", f"--log={work / 'log'}", f"--save={work / 'w.safetensors'}")
        got = [json.loads(line)["loss"] for line in (work / "log").read_text().splitlines()]
        saved = read_safetensors(work / "w.safetensors")["w"]
        checks.that(np.allclose(got, losses, rtol=1e-5), f"stage {stage}: {got}, not {losses}")
        checks.that(np.allclose(saved, w, rtol=1e-5), f"stage {stage}: other weights")
        first = saved.tobytes() if first is None else first
        checks.that(saved.tobytes() == first, f"stage {stage}: other bits than stage 0")
    checks.finish()


if __name__ == "__main__":
    main()
