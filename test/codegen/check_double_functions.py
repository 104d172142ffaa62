"""Runs exp, log and powers of doubles in code for a GPU, and compares with the C library.

usage: check_double_functions.py WORK

Results differ by at most two units of the last place: numpy's own are not always the nearest ones.
Special numbers are exact.
"""

import sys
from pathlib import Path

import numpy as np

from zero_test import Checks, read_safetensors, run_tool

PROGRAM = """
func.func @step(%x: tensor<{count}xf64> {{zero.binding = "x"}})
    -> (tensor<{count}xf64> {{zero.binding = "y"}}) {{
  %y = onnx.node "{name}"(%x) {{}} opset 18 : (tensor<{count}xf64>) -> tensor<{count}xf64>
  return %y : tensor<{count}xf64>
}}
"""
UNITS = 2


def on_gpu(work, name, x):
    program, results = work / f"{name}.mlir", work / f"{name}.safetensors"
    program.write_text(PROGRAM.format(count=len(x), name=name))
    np.save(work / "x.npy", x)
    run_tool("zeroc", program, "--device=cuda", "--forward-only", "-o", work / "program.zexe")
    run_tool("zero-run", work / "program.zexe", f"--data=x={work / 'x.npy'}", "--steps=1", "--quiet",
             f"--save-outputs={results}")
    return read_safetensors(results)["y"].ravel()


def check(checks, work, name, function, x):
    with np.errstate(all="ignore"):
        expected, got = function(x), on_gpu(work, name, x)
        units = np.abs(got - expected) / np.spacing(np.abs(expected))
    exact = ~np.isfinite(expected) | (expected == 0)
    same = (got == expected) | (np.isnan(got) & np.isnan(expected))
    checks.that(same[exact].all(), f"{name} of {x[exact & ~same]}: {got[exact & ~same]}")
    most = units[~exact].max()
    checks.that(most <= UNITS, f"{name}: off by {most} units of the last place")


def main():
    work = Path(sys.argv[1])
    work.mkdir(parents=True, exist_ok=True)
    checks, random = Checks(), np.random.default_rng(1)
    special = np.array([0.0, -0.0, np.inf, -np.inf, np.nan, 1, -1, 5e-324, 2.0 ** -1022, 1.7e308])
    edges = np.array([709.78, 709.79, 710, 1e9, -708.4, -708.5, -744.4, -745.13, -745.2, -746, -1e9])
    check(checks, work, "Exp", np.exp,
          np.concatenate([special, edges, random.uniform(-745, 709, 2000), random.uniform(-1, 1, 2000)]))
    check(checks, work, "Log", np.log,
          np.concatenate([special, -np.exp(random.uniform(-700, 700, 100)),
                          np.exp(random.uniform(-744, 709, 2000)), random.uniform(0.5, 2, 2000),
                          1 + random.uniform(-1e-9, 1e-9, 100)]))
    checks.finish()


if __name__ == "__main__":
    main()
