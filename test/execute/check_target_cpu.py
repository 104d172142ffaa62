"""--target-cpu: executables run on processors that have the features, keep their certificate, and
compute what the native one computes. Others are refused by the name of the feature.

usage: check_target_cpu.py DATA WORK
"""

import re
import sys
from pathlib import Path

import numpy as np

from zero_test import Checks, Failed, Graph, run_tool

# The feature that a processor adds, as LLVM and as the kernel call it.
TARGETS = {"native": None, "x86-64-v3": None, "haswell": None, "x86-64-v4": ("avx512bw", "avx512bw"),
           "znver4": ("avx512bf16", "avx512_bf16"), "sapphirerapids": ("avx512bf16", "avx512_bf16")}
STEPS = 4


def has(flag):
    return flag in Path("/proc/cpuinfo").read_text().split()


def check_target(checks, graph, target, precision):
    """Returns the losses of a run, or nothing where it is refused."""
    label = f"{graph.name}, {precision}, {target}"
    executable = graph.compile(3, 1, f"--target-cpu={target}", f"--precision={precision}")
    multiplies = "library calls per step multiply" in graph.report
    if target != "native":
        expected = precision == "bf16" and target in ("znver4", "sapphirerapids")
        checks.that(multiplies == expected, f"{label}: products of bf16: {multiplies}")
    feature = TARGETS[target]
    if feature and not has(feature[1]):
        try:
            graph.run(executable, 1)
            checks.that(False, f"{label}: runs without {feature[0]}")
        except Failed as error:
            checks.that("avx512" in str(error), f"{label}: {error}")
        return None
    result = graph.run(executable, STEPS, "--check-memory")
    planned = int(re.search(r"^ *arena +(\d+)", graph.report, re.MULTILINE)[1])
    peak = result.report["memory"]["device"]["peak"]
    checks.that(peak == planned, f"{label}: {peak} bytes, planned {planned}")
    return result.losses


def main():
    data, work = sys.argv[1:]
    checks = Checks()
    for name in ("gpt2-tiny", "mlp"):
        graph = Graph(data, name, work)
        for precision, tolerance in (("fp32", 1e-5), ("bf16", 1e-2)):
            losses = {target: check_target(checks, graph, target, precision) for target in TARGETS}
            for target, each in losses.items():
                if each is not None:
                    checks.that(np.allclose(each, losses["native"], rtol=tolerance),
                                f"{name}, {precision}, {target}: {each}, {losses['native']}")
    # The plan is the same on every machine.
    first, second = (run_tool("zeroc", graph.folder / "model.onnx", "--plan-only",
                              f"--target-cpu={target}") for target in ("haswell", "x86-64-v3"))
    checks.that(first == second, "haswell and x86-64-v3 differ")
    checks.finish()


if __name__ == "__main__":
    main()
