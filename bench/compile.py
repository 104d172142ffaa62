"""The time and memory that zeroc needs from .onnx to an executable, including native code.

The cache is not used. A straight line is fitted to the times against depth: seconds per layer, a
constant, and the largest deviation of a point.
"""

import json
import tempfile
from pathlib import Path

from cases import CASES, Case, write_case, write_graph
from common import (PEERS, Failure, line, mib, parser, python_of, run, say, select, spread, start,
                    table, write_json)
from sides import thread_settings

STAGE = 3
JAX_LAYERS = 24  # the model is unrolled; XLA takes minutes for deeper ones

SOURCES = {case.name: case for case in (
    CASES["tiny"], CASES["B"], CASES["gpt2-124m"],
    Case("175b", 96, 12288, 50304, 2048, 1, ranks=64),
    *(Case(f"depth-{layers}", layers, 768, 50304, 1024, 1, ranks=8)
      for layers in (12, 24, 48, 96)))}
TITLES = ["case", "side", "layers", "width", "ranks", "compile", "min", "max", "plan only",
          "peak memory"]


class Zero:
    """zeroc, from process start to the written executable."""

    def __init__(self, build):
        self.program = build / "bin/zeroc"
        self.has_cache = "--no-cache" in run([self.program, "--help-all"]).output

    def compile(self, case, folder, timeout):
        cold = ["--no-cache"] if self.has_cache else []
        command = [self.program, folder / "model.onnx", f"--zero-stage={STAGE}",
                   f"--ranks={case.ranks}", "--optimizer=adamw", "--lr=1e-4", *cold]
        plan = run([*command, "--plan-only"], timeout)
        whole = run([*command, "-o", folder / "model.zexe"], timeout)
        return {"seconds": whole.seconds, "plan_seconds": plan.seconds,
                "resident_bytes": whole.resident}


class Jax:
    """XLA on abstract shapes: only tracing and compiling, without the start of Python."""

    def __init__(self, build):
        del build  # has none

    def compile(self, case, folder, timeout):
        if case.layers > JAX_LAYERS:
            raise Failure(f"not measured beyond {JAX_LAYERS} layers")
        report = folder / "jax.json"
        usage = run([python_of("jax"), PEERS / "jax_train.py", folder, "fp32", 0, report], timeout,
                    thread_settings(1))
        return {"seconds": json.loads(report.read_text())["compile_seconds"],
                "plan_seconds": None, "resident_bytes": usage.resident}


def measure(cases, sides, work, options):
    """Compiles every case on every side once per round; results and failures by "case side"."""
    results, failures = {}, {}
    for case in cases:
        write_case(case, work / case.name)
        # Sparse: zeroc never reads a weight, so no disk must store 175 billion of them.
        write_graph(case, work / case.name, sparse=True)
    turns = [(number, case, name) for number in range(options.rounds) for case in cases
             for name in sides]
    for number, case, name in turns:
        key = f"{case.name} {name}"
        if key in failures:
            continue
        try:
            result = sides[name].compile(case, work / case.name, options.timeout)
            say(f"{key} round {number + 1}: {result['seconds']:.2f} s")
            results.setdefault(key, []).append(result)
        except Failure as failure:
            say(f"{key}: {failure}")
            failures[key] = str(failure)
    return results, failures


def summarise(case, side, runs):
    plans = [run["plan_seconds"] for run in runs if run["plan_seconds"]]
    return {"case": case.name, "side": side, "layers": case.layers, "width": case.width,
            "ranks": case.ranks, "seconds": spread([run["seconds"] for run in runs]),
            "plan_seconds": spread(plans) if plans else None,
            "resident_bytes": max(run["resident_bytes"] for run in runs)}


def row(r):
    plan = f"{r['plan_seconds']['median']:.2f} s" if r["plan_seconds"] else "-"
    return [r["case"], r["side"], r["layers"], r["width"], r["ranks"],
            *(f"{r['seconds'][key]:.2f} s" for key in ("median", "min", "max")), plan,
            mib(r["resident_bytes"])]


def fit(results, side):
    """The line through compile times against depth; None below three depths."""
    points = [(r["layers"], r["seconds"]["median"]) for r in results
              if r["side"] == side and r["case"].startswith("depth-")]
    if len(points) < 3:
        return None
    slope, constant, deviation = line(*zip(*points))
    return {"seconds_per_layer": slope, "constant": constant, "largest_deviation": deviation}


def make_sides(names, build):
    makers = {"zero": Zero, "jax": Jax}
    return dict(zip(names, (make(build) for make in select(names, makers, "sides"))))


def main():
    options = parser(__doc__, [name for name in SOURCES if name != "tiny"], ["zero"],
                     rounds=3).parse_args()
    cases = select(options.cases, SOURCES, "cases")
    sides = make_sides(options.sides, options.build)
    with tempfile.TemporaryDirectory(prefix="bench-") as work:
        results, failures = measure(cases, sides, Path(work), options)
    figures = [summarise(case, side, results[f"{case.name} {side}"])
               for case in cases for side in sides if f"{case.name} {side}" in results]
    fits = {side: fit(figures, side) for side in sides}
    lines = [table(TITLES, [row(r) for r in figures])]
    lines += [f"\n{side}: {f['seconds_per_layer'] * 1e3:.1f} ms a layer + {f['constant']:.2f} s; "
              f"no depth is off by more than {f['largest_deviation']:.2f} s"
              for side, f in fits.items() if f]
    lines += [f"\n{key} left out: {reason.splitlines()[-1]}" for key, reason in failures.items()]
    print("\n".join(lines))
    write_json(options, {"cases": figures, "depth": fits, "failures": failures})


if __name__ == "__main__":
    start(main)
