"""Runs the phases of a graph one by one, with clean-ups after each of them.

Usage: check_phases.py GRAPH.onnx STAGE RANKS WORK [OPTION=VALUE...]. Each phase's output must parse
back to itself. cse, canonicalize and loop-invariant-code-motion after any phase must change neither
the collectives, nor recomputation, nor the peak. zero-opt verifies every result, and each phase
ends with the verifier of its contract.
"""

import re
import sys
from pathlib import Path

from zero_test import Checks, run_tool

PHASES = ["import", "recognise", "precision", "differentiate", "step", "kernels", "place", "partition",
          "schedule", "pack"]
CLEAN_UPS = ["cse", "canonicalize", "symbol-dce", "loop-invariant-code-motion"]
COLLECTIVES = ["all_gather", "reduce_scatter", "all_reduce"]


def collectives(text):
    """The number of each of them, and of recomputed launches."""
    return {"again": len(re.findall(r"zero\.recompute = \d", text)),
            **{name: len(re.findall(rf"= zero\.{name} ", text)) for name in COLLECTIVES}}


def peak(text):
    return int(re.search(r"\bpeak = (\d+)", text)[1])


class Program:
    def __init__(self, model, stage, ranks, work, *options):
        self.options = " ".join([f"zero-stage={stage}", f"ranks={ranks}", *options])
        self.work = Path(work)
        self.work.mkdir(parents=True, exist_ok=True)
        self.start = self.work / "onnx.mlir"
        run_tool("zero-translate", "--import-onnx", model, "-o", self.start)

    def flags(self, phases):
        return [f"--zero-phase-{phase}={self.options}" for phase in phases]

    def run(self, source, name, *flags):
        target = self.work / f"{name}.mlir"
        run_tool("zero-opt", source, *flags, "-o", target)
        return target


def main():
    checks, program = Checks(), Program(*sys.argv[1:])
    outputs, at = {}, program.start
    for phase in PHASES:
        at = outputs[phase] = program.run(at, phase, *program.flags([phase]), "--verify-roundtrip")
    expected = at.read_text()
    whole = program.run(program.start, "whole", *program.flags(PHASES)).read_text()
    checks.that(whole == expected, "phases one by one give what they give in one run")
    checks.that(("checkpoint" in program.options) == (collectives(expected)["again"] > 0),
                f"{program.options}: {collectives(expected)}")

    for index, phase in enumerate(PHASES):
        rest = program.flags(PHASES[index + 1:])
        for clean_up in CLEAN_UPS:
            before = outputs[phase].read_text()
            cleaned = program.run(outputs[phase], "cleaned", f"--{clean_up}").read_text()
            # What follows a clean-up that changed nothing is known.
            finished = (expected if cleaned == before else
                        program.run(program.work / "cleaned.mlir", "finished", *rest).read_text())
            after = f"--{clean_up} after {phase}"
            checks.that(collectives(cleaned) == collectives(before),
                        f"{after}: collectives {collectives(before)}, got {collectives(cleaned)}")
            checks.that(collectives(finished) == collectives(expected),
                        f"{after}: in the end {collectives(expected)}, got {collectives(finished)}")
            checks.that(peak(finished) == peak(expected),
                        f"{after}: a peak of {peak(expected)}, got {peak(finished)}")
    checks.finish()


if __name__ == "__main__":
    main()
