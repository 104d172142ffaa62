"""Features of 64-bit ARM: an executable is refused where one is missing, and computes the same bits
with scalable vectors of any length.

usage: check_features.py DATA WORK ZERO_RUN...

ZERO_RUN: the command that runs the runtime under QEMU, which reads the processor in QEMU_CPU.
"""

import sys

from zero_test import Checks, Graph, check_refused

STEPS = 2
BYTES = (16, 32, 256)


def main():
    data, work, *command = sys.argv[1:]
    checks = Checks()
    graph = Graph(data, "mlp", work)
    executable = graph.compile(0, 1, "--optimizer=adamw", "--lr=1e-3", "--target-cpu=aarch64:sve")
    results = []
    for length in BYTES:
        graph.runner = ["env", f"QEMU_CPU=max,sve-default-vector-length={length}", *command]
        results.append(graph.run(executable, STEPS, has_gradients=False))
        checks.that(results[0].same_bits(results[-1]), f"vectors of {length} bytes: other bits")
    check_refused(checks, "no scalable vectors",
                  ["needs the CPU feature 'fullfp16'", "--target-cpu"], "env",
                  "QEMU_CPU=cortex-a72", *command, executable, graph.data_flag, "--steps=1")
    checks.finish()


if __name__ == "__main__":
    main()
