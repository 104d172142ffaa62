"""A byte-level GPT-2 on real text: the loss curve in bf16 matches that of PyTorch's bf16 autocast,
and the curve in fp32 matches PyTorch's fp32.

usage: check_bf16_curve.py DATA WORK [--steps 200] [--stage 3] [--ranks 2]

The requirement is 2 % at every step, smoothed over ten steps. The test checks tighter limits: in
PyTorch, bf16 weights and activations with an fp32 master are at most 0.03 % off autocast, and 0.9 %
without a master.
"""

import argparse
import json
from pathlib import Path

import numpy as np

from zero_test import Checks, Graph

SMOOTHED = 10
# The precision, the curve to compare with, and the limits of each step and of the smoothed curve.
CURVES = (("fp32", "fp32", 1e-4, 1e-4), ("bf16", "bf16_autocast", 2e-2, 4e-3))


class TextGraph(Graph):
    """The model and its text. Tokens are bytes, read in order."""

    def __init__(self, data, work):
        self.name, self.work = "gpt-bytes", Path(work)
        self.folder = Path(data) / self.name
        self.work.mkdir(parents=True, exist_ok=True)
        self.curves = json.loads((self.folder / "curves.json").read_text())

    @property
    def data_flag(self):
        text = self.folder / "text.txt"
        return f"--data=input_ids={text}:uint8,labels={text}:uint8"

    def flags(self, ranks):
        c = self.curves
        batch = f"{c['batch'] // ranks}x{c['sequence']}"
        return ["--optimizer=adamw", f"--lr={c['lr']}", f"--eps={c['eps']}",
                f"--betas={c['betas'][0]},{c['betas'][1]}", f"--weight-decay={c['weight_decay']}",
                f"--clip-norm={c['clip_norm']}", "--lr-schedule=linear",
                f"--warmup-steps={c['warmup_steps']}", f"--total-steps={c['total_steps']}",
                f"--shape=input_ids={batch},labels={batch}"]


def smooth(losses):
    return np.convolve(losses, np.full(SMOOTHED, 1 / SMOOTHED), "valid")


def check_curve(checks, label, losses, expected, each, smoothed):
    checks.that(len(losses) == len(expected), f"{label}: {len(losses)} steps")
    step = np.abs(losses / expected - 1)
    curve = np.abs(smooth(losses) / smooth(expected) - 1)
    print(f"{label}: {losses[0]:.6f} -> {losses[-1]:.6f}; off PyTorch's by {step.max():.2e} at step "
          f"{step.argmax()}, smoothed {curve.max():.2e} at {curve.argmax()}")
    checks.that(step.max() <= each, f"{label}: step {step.argmax()} is off by {step.max():.2e}")
    checks.that(curve.max() <= smoothed, f"{label}: smoothed off by {curve.max():.2e}")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("data")
    parser.add_argument("work")
    parser.add_argument("--steps", type=int, default=200)
    parser.add_argument("--stage", type=int, default=3)
    parser.add_argument("--ranks", type=int, default=2)
    args = parser.parse_args()
    graph, checks, losses = TextGraph(args.data, args.work), Checks(), {}
    for precision, curve, each, smoothed in CURVES:
        executable = graph.compile(args.stage, args.ranks, *graph.flags(args.ranks),
                                   f"--precision={precision}")
        losses[precision] = graph.run(executable, args.steps).losses
        check_curve(checks, f"{precision}, {args.steps} steps", losses[precision],
                    np.array(graph.curves[curve][:args.steps]), each, smoothed)
    apart = np.abs(losses["bf16"] / losses["fp32"] - 1).max()
    checks.that(apart > 1e-5, f"bf16 is only {apart:.1e} from fp32: is it 16 bits at all?")
    checks.finish()


if __name__ == "__main__":
    main()
