"""A byte-level GPT-2 on real text for 1,000 steps: with states of 8 bits, and with bf16 weights that
have no f32 masters, the smoothed loss stays near that of fp32. Without random rounding it does not.
Then norms and biases are trained beside the frozen matrices of the fp32 run, in 16, 8 and 4 bits.

usage: check_state_curves.py DATA WORK [--steps 1000]
"""

import argparse
import shutil

import numpy as np

from check_bf16_curve import TextGraph
from zero_test import Checks

SMOOTHED = 50
BF16 = ["--precision=bf16"]
CURVES = (  # flags, the largest difference of the smoothed loss from that of fp32
    (["--state-precision=8bit"], 1e-2),
    ([*BF16, "--master-weights=none"], 1e-2),
    ([*BF16, "--master-weights=none", "--state-precision=8bit"], 1e-2),
    (["--state-precision=4bit"], None),
    ([*BF16, "--master-weights=nearest"], None),
)


# The largest difference with frozen matrices.
FROZEN = {"bf16": 1e-4, "int8": 1e-4, "fp8": 5e-4, "nf4": 2e-3}
FROZEN_STEPS = 300


def smooth(losses):
    return np.convolve(losses, np.full(SMOOTHED, 1 / SMOOTHED), "valid")


def check_frozen(checks, graph, base):
    """Norms and biases are trained beside the matrices of a file of weights."""
    def curve(*flags):
        executable = graph.compile(3, 2, *graph.flags(2), "--freeze-all-but=*.ln_*,*.bias", *flags)
        return smooth(graph.run(executable, FROZEN_STEPS, f"--weights={base}",
                                has_gradients=False).losses)

    expected = curve()
    for precision, most in FROZEN.items():
        error = np.abs(curve(f"--frozen-precision={precision}") / expected - 1).max()
        print(f"frozen matrices in {precision}: smoothed loss at most {100 * error:.3f} % off that "
              f"of fp32, {expected[-1]:.4f} at last", flush=True)
        checks.that(error <= most, f"{precision}: {error:.1e} off")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("data")
    parser.add_argument("work")
    parser.add_argument("--steps", type=int, default=1000)
    args = parser.parse_args()
    graph, checks, off = TextGraph(args.data, args.work), Checks(), {}
    graph.curves["total_steps"] = args.steps

    def curve(*flags):
        executable = graph.compile(3, 2, *graph.flags(2), *flags)
        return smooth(graph.run(executable, args.steps, has_gradients=False).losses)

    expected = curve()
    base = graph.work / "base.safetensors"
    shutil.copy(graph.work / "weights.safetensors", base)
    for flags, most in CURVES:
        losses = curve(*flags)
        off[tuple(flags)] = error = np.abs(losses / expected - 1).max()
        print(f"{' '.join(flags)}: smoothed loss {losses[-1]:.4f} at last, fp32 {expected[-1]:.4f}; "
              f"at most {100 * error:.2f} % off", flush=True)
        checks.that(most is None or error <= most, f"{flags}: {error:.1e} off")
    checks.that(off[(*BF16, "--master-weights=nearest")] > off[(*BF16, "--master-weights=none")],
                "rounding to nearest is no worse")
    check_frozen(checks, graph, base)
    checks.finish()


if __name__ == "__main__":
    main()
