#!/usr/bin/env python3
"""Checks operators in code for GPUs: results against onnx.reference, and with --gradients gradients
in float32 against central differences.

usage: check_gpu_ops.py [--gradients] [--most N]
"""

import argparse
import sys

from check_ops import load_cases, spread
from harness import dumped_gradients, forward_errors, gradient_errors

RESULT, GRADIENT = 1e-5, 1e-3  # limits of errors
# Cases that GPUs do not have yet. Those that begin to work are errors here, too.
MISSING = (
    # The runtime makes subnormal numbers zero on CPUs only.
    "Sign-18(float32[4]) {} denormals are zero",
)


def on_gpu(*arguments):
    return dumped_gradients(*arguments, "--device=cuda")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--gradients", action="store_true")
    parser.add_argument("--most", type=int, help="check at most N cases of each operator")
    options = parser.parse_args()
    cases = [case for case in load_cases(None) if not case.fails]
    if options.gradients:
        cases = [case for case in cases if case.grad]
    cases = spread(cases, options.most)
    if options.gradients:
        for case in cases:
            case.single = True
        errors, least = gradient_errors("zero-run", cases, on_gpu), GRADIENT
    else:
        errors, least = forward_errors("zero-run", cases, "--device=cuda"), RESULT
    failed = 0
    for case, error in zip(cases, errors):
        limit = max(case.grad_tol if options.gradients else case.tol, least)
        if (error <= limit) == case.label().startswith(MISSING):
            failed += 1
            print(f"FAIL {error:.1e} {case.label()}")
    print(f"{len(cases)} cases, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
