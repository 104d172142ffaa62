"""A byte-level GPT-2 on real text for 1,000 steps: with states of 8 bits, and with bf16 weights that
have no f32 masters, the smoothed loss stays near that of fp32. Without random rounding it does not.

usage: check_state_curves.py DATA WORK [--steps 1000]
"""

import argparse

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


def smooth(losses):
    return np.convolve(losses, np.full(SMOOTHED, 1 / SMOOTHED), "valid")


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
    for flags, most in CURVES:
        losses = curve(*flags)
        off[tuple(flags)] = error = np.abs(losses / expected - 1).max()
        print(f"{' '.join(flags)}: smoothed loss {losses[-1]:.4f} at last, fp32 {expected[-1]:.4f}; "
              f"at most {100 * error:.2f} % off", flush=True)
        checks.that(most is None or error <= most, f"{flags}: {error:.1e} off")
    checks.that(off[(*BF16, "--master-weights=nearest")] > off[(*BF16, "--master-weights=none")],
                "rounding to nearest is no worse")
    checks.finish()


if __name__ == "__main__":
    main()
