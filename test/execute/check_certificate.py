"""The printed peak equals the bytes that a step's commands use, and no command reads bytes that
were not written for it, in every combination of graph, stage and training options.

usage: check_certificate.py DATA WORK [--all] [--graph gpt2-tiny] [--list]

Each combination trains two steps on 2 ranks under --check-memory. Without --all the test runs a
selection that covers every pair of values.
"""

import argparse
import itertools
import re
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np

from pairwise import pairwise
from zero_test import Checks, Failed, Graph

RANKS, STEPS = 2, 2
GRAPHS = ("mlp", "mlp-dropout", "gpt2-tiny", "gpt2-tiny-mask", "gpt2-tiny-op23", "gpt2-tiny-ts",
          "gpt2-tiny-dyn", "gpt2-mini", "llama-tiny", "llama-tiny-mask", "bert-tiny", "resnet-tiny")
# Training options that change the commands of a step.
TRAINING = ("", "--micro-batches=3", "--precision=bf16 --clip-norm=0.1",
            "--precision=fp16 --optimizer=lamb --micro-batches=2",
            "--clip-norm=0.1 --micro-batches=2", "--tile-params-over=64KiB")
# Placements of activations. `auto` gets a budget in the middle of its range.
ACTIVATIONS = ("--checkpoint=none", "--recompute=none", "--checkpoint=layer",
               "--checkpoint=sqrt", "--checkpoint=auto")
FACTORS = {"graph": GRAPHS, "stage": (0, 1, 2, 3), "training": TRAINING,
           "activations": ACTIVATIONS}


def combinations():
    """All combinations that are supported: a convolution's weights cannot be tiled."""
    every = (dict(zip(FACTORS, values)) for values in itertools.product(*FACTORS.values()))
    return [c for c in every if not (c["graph"] == "resnet-tiny" and "--tile" in c["training"])]


def flags_of(combination):
    flags = [*combination["training"].split(), *combination["activations"].split()]
    # From stage 2 on, each micro-batch is reduced. Lower stages do so only on request.
    if combination["stage"] < 2 and "--micro-batches=2" in flags:
        flags.append("--grad-reduce=each")
    return flags


class WatchedGraph(Graph):
    """A graph of test/data in a separate folder. A graph without ground truth trains on the samples
    of the graph that it is a variant of."""

    def __init__(self, data, name, work):
        source = name if (Path(data) / name / "groundtruth.npz").exists() else name.split("-")[0]
        super().__init__(data, source, work)
        self.name, self.folder = name, Path(data) / name

    def compile(self, stage, ranks, *flags):
        shape = [self.shape_flag()] if self.name.endswith("-dyn") else []
        return super().compile(stage, ranks, *shape, *flags)

    def activation_budget(self, stage, flags):
        """The range of bytes that forward may keep for backward."""
        try:
            self.compile(stage, RANKS, *flags, "--activation-budget=1B")
        except Failed as refusal:
            least = int(re.search(r"the smallest budget with a plan is (\d+)", str(refusal)).group(1))
        self.compile(stage, RANKS, *flags, "--activation-budget=1TiB")
        most = int(re.search(r"^  activations +(\d+)", self.report, re.MULTILINE).group(1))
        return (least + most) // 2

    def train(self, stage, flags):
        """The report of a step under --check-memory."""
        if "--checkpoint=auto" in flags:
            flags = [*flags, f"--activation-budget={self.activation_budget(stage, flags)}"]
        executable = self.compile(stage, RANKS, *flags)
        return self.run(executable, STEPS, "--check-memory").report


def check(checks, data, work, number, combination):
    flags = flags_of(combination)
    graph = WatchedGraph(data, combination["graph"], f"{work}/{number}")
    label = f"{graph.name} stage {combination['stage']} {' '.join(flags)}"
    report = graph.train(combination["stage"], flags)
    checks.that(np.all(np.isfinite(report["losses"])), f"{label}: losses {report['losses']}")
    certificate = report["memory"]["device"]
    printed = [line for line in graph.report.splitlines() if line.startswith("  arena")]
    checks.that(int(printed[0].split()[1]) == certificate["peak"],
                f"{label}: printed '{printed[0]}', the executable says {certificate['peak']}")
    for rank, stats in enumerate(report["per_rank"]):
        checks.that(stats["arena_bytes"] == stats["measured_peak"] == certificate["peak"],
                    f"{label}: rank {rank} reserves {stats['arena_bytes']}, reached "
                    f"{stats['measured_peak']}, planned {certificate['peak']}")
        checks.that(0 < stats["measured_live"] <= certificate["lower_bound"],
                    f"{label}: rank {rank} needs {stats['measured_live']} at once, planned "
                    f"{certificate['lower_bound']}")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("data")
    parser.add_argument("work")
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--graph", choices=GRAPHS)
    parser.add_argument("--list", action="store_true")
    args = parser.parse_args()
    chosen = combinations() if args.all else pairwise(combinations())
    chosen = [c for c in chosen if args.graph in (None, c["graph"])]
    if args.list:
        print(*chosen, len(chosen), sep="\n")
        return
    checks = Checks()
    with ThreadPoolExecutor(2) as pool:
        for _ in pool.map(lambda each: check(checks, args.data, args.work, *each),
                          enumerate(chosen)):
            pass
    checks.finish()


if __name__ == "__main__":
    main()
