"""Step times, memory and compile times.

usage: bench.py BUILD [--rounds=N] [--steps=N]

Steps run on 2 ranks with one thread each. A step time is the median over the steps
of a run, warm-up left out; runs of all cases take turns, and the best of the rounds
is reported beside the worst. Memory is the largest resident size of the process over
its ranks, libraries included. The table also goes into BUILD/bench.json.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parent.parent
RANKS, WARM_UP, VOCABULARY = 2, 2, 8192
OPTIMIZER = ["--optimizer=adamw", "--lr=1e-3"]
# Layers, width, sequence, ranks; the last is of GPT-3's size.
PLANNED = ((12, 768, 1024, 8), (24, 768, 1024, 8), (96, 12288, 2048, 1024))
MIB = 2**20


def run(*command):
    """Runs a program; returns its wall seconds and its largest resident bytes."""
    start = time.monotonic()
    child = subprocess.Popen([str(word) for word in command], stdout=subprocess.DEVNULL,
                             stderr=subprocess.PIPE, text=True)
    errors = child.stderr.read()
    _, status, usage = os.wait4(child.pid, 0)
    if os.waitstatus_to_exitcode(status) != 0:
        sys.exit(f"bench: failed: {' '.join(map(str, command))}\n{errors}")
    return time.monotonic() - start, usage.ru_maxrss * 1024


def generate(path, **sizes):
    """Writes a GPT-2 training graph; a size of True is a switch."""
    flags = [f"--{key}" if value is True else f"--{key}={value}" for key, value in sizes.items()]
    run(sys.executable, ROOT / "test/support/make_gpt2.py", path, *flags)
    return path


class Case:
    """One model at one stage: compiled once, timed once a round."""

    def __init__(self, binaries, work, name, model, batch, sequence, stage):
        self.binaries, self.work, self.name, self.stage = binaries, work, name, stage
        self.tokens_per_step = RANKS * batch * sequence
        self.executable = work / f"{name}-{stage}.zexe"
        self.tokens = work / f"{name}.npy"
        tokens = np.random.default_rng(0).integers(0, VOCABULARY, (RANKS * batch, sequence))
        np.save(self.tokens, tokens)
        self.compile_seconds, _ = run(
            binaries / "zeroc", model, f"--zero-stage={stage}", f"--ranks={RANKS}", *OPTIMIZER,
            "-o", self.executable)
        self.medians = []

    def time(self, steps):
        report = self.work / "report.json"
        _, resident = run(
            self.binaries / "zero-run", self.executable, "--threads-per-rank=1", "--quiet",
            f"--data=input_ids={self.tokens},labels={self.tokens}", f"--steps={WARM_UP + steps}",
            f"--report-json={report}")
        report = json.loads(report.read_text())
        self.medians.append(statistics.median(report["seconds"][WARM_UP:]))
        self.resident = resident / RANKS
        self.arena = report["memory"]["device"]["peak"]

    def result(self):
        best = min(self.medians)
        return {"model": self.name, "stage": self.stage, "ranks": RANKS,
                "step_seconds": best, "worst_step_seconds": max(self.medians),
                "tokens_per_second": self.tokens_per_step / best,
                "resident_bytes_per_rank": self.resident, "arena_bytes_per_rank": self.arena,
                "compile_seconds": self.compile_seconds}


def time_steps(binaries, work, rounds, steps):
    large = generate(work / "gpt2/model.onnx", layers=6, width=512, vocabulary=VOCABULARY,
                     sequence=256, batch=4)
    models = [("gpt2-mini", ROOT / "test/data/gpt2-mini/model.onnx", 4, 128),
              ("gpt2-6x512", large, 4, 256)]
    cases = [Case(binaries, work, *model, stage) for model in models for stage in (1, 3)]
    for _ in range(rounds):
        for case in cases:
            case.time(steps)
    return [case.result() for case in cases]


def time_plans(binaries, work, rounds):
    """Compile time against depth: everything up to the plan, native code apart."""
    results = []
    for layers, width, sequence, ranks in PLANNED:
        model = generate(work / f"{layers}/model.onnx", layers=layers, width=width,
                         vocabulary=50304, sequence=sequence, batch=1, sparse=True)
        seconds = [run(binaries / "zeroc", model, "--plan-only", "--zero-stage=3",
                       f"--ranks={ranks}", *OPTIMIZER)[0] for _ in range(rounds)]
        results.append({"layers": layers, "width": width, "stage": 3, "ranks": ranks,
                        "plan_seconds": min(seconds)})
    return results


def print_steps(results):
    print(f"Training on {RANKS} ranks, 1 thread each, AdamW, fp32\n")
    print(f"{'model':<11} {'stage':>5} {'step':>9} {'worst':>9} {'tokens/s':>9} "
          f"{'resident/rank':>14} {'arena/rank':>12} {'compile':>8}")
    for r in results:
        print(f"{r['model']:<11} {r['stage']:>5} {r['step_seconds'] * 1e3:>6.1f} ms "
              f"{r['worst_step_seconds'] * 1e3:>6.1f} ms {r['tokens_per_second']:>9,.0f} "
              f"{r['resident_bytes_per_rank'] / MIB:>10.1f} MiB "
              f"{r['arena_bytes_per_rank'] / MIB:>8.1f} MiB {r['compile_seconds']:>6.2f} s")


def print_plans(results):
    print("\nPlanning a GPT-2 under stage 3 (zeroc --plan-only)\n")
    print(f"{'layers':>6} {'width':>6} {'ranks':>6} {'plan':>8}")
    for r in results:
        print(f"{r['layers']:>6} {r['width']:>6} {r['ranks']:>6} {r['plan_seconds']:>6.2f} s")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("build", type=Path)
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--steps", type=int, default=7)
    options = parser.parse_args()
    binaries = options.build / "bin"
    with tempfile.TemporaryDirectory() as work:
        steps = time_steps(binaries, Path(work), options.rounds, options.steps)
        print_steps(steps)
        plans = time_plans(binaries, Path(work), options.rounds)
        print_plans(plans)
    path = options.build / "bench.json"
    path.write_text(json.dumps({"steps": steps, "plans": plans}, indent=2) + "\n")
    print(f"\nwritten to {path}")


if __name__ == "__main__":
    main()
