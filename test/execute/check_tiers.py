"""Training with state, gradients and activations on the host or on disk is bitwise identical to
training on the device.

usage: check_tiers.py DATA WORK [--all]

With --all, every model, stage, number of ranks and choice of tiers; without it, a selection of
models, stages, ranks, tiers, micro-batches, precisions and clipping that covers every pair of
values. Each trains three steps, and three more under --check-memory: each tier's measured peak
equals its certificate, and the bytes that move to and from the disk equal the plan.
"""

import argparse
import itertools
import json
import re

from check_stages_matrix import CLIP, FLAGS, STEPS, MatrixGraph
from pairwise import pairwise
from zero_test import Checks, Graph, check_refused, run_tool

TIERS = ("device", "host", "nvme")
FACTORS = {"model": ("gpt2-tiny", "llama-tiny"), "stage": (0, 1, 2, 3), "ranks": (1, 2, 4),
           "params": TIERS, "gradients": TIERS, "optimizer": TIERS, "activations": TIERS,
           "micro_batches": (1, 4), "precision": ("fp32", "bf16"), "clip": (False, True)}
ALIGNMENT = {"device": 256, "host": 4096, "nvme": 4096}


def combinations():
    every = (dict(zip(FACTORS, values)) for values in itertools.product(*FACTORS.values()))
    return [c for c in every if (c["stage"] == 3 or c["params"] == "device") and
            any(c[what] != "device" for what in ("params", "gradients", "optimizer", "activations"))]


def placements():
    """Every choice of tiers, at every stage and number of ranks."""
    plain = {"micro_batches": 1, "precision": "fp32", "clip": False}
    return [c for c in combinations() if plain.items() <= c.items()]


def offload_flags(combination):
    return [f"--offload-{what}={combination[what]}"
            for what in ("params", "gradients", "optimizer", "activations")
            if combination[what] != "device"]


def training_flags(combination):
    flags = [*FLAGS, f"--precision={combination['precision']}",
             f"--micro-batches={combination['micro_batches']}"]
    if combination["clip"]:
        flags.append(f"--clip-norm={CLIP}")
    return flags


def disk_bytes(text):
    """The bytes that a rank reads from and writes to disk in a step, according to zeroc."""
    found = re.search(r"each rank reads (\d+) bytes per step from nvme and writes (\d+)", text)
    return tuple(map(int, found.groups())) if found else (0, 0)


def check_watched(checks, label, graph, executable, planned):
    """A run under --check-memory: peaks and moved bytes equal those of the plan."""
    path = graph.work / "watched.json"
    run_tool("zero-run", executable, graph.data_flag, f"--steps={STEPS}", "--quiet",
             "--check-memory", f"--nvme-dir={graph.work}", f"--report-json={path}")
    report = json.loads(path.read_text())
    for tier, certificate in report["memory"].items():
        for rank in report["per_rank"]:
            measured = rank if tier == "device" else rank[tier]
            checks.that(0 <= certificate["peak"] - measured["measured_peak"] < ALIGNMENT[tier],
                        f"{label}: {tier}: {measured['measured_peak']} of {certificate['peak']}")
    for rank in report["per_rank"]:
        moved = rank.get("nvme_read", 0), rank.get("nvme_written", 0)
        checks.that(moved == planned,
                    f"{label}: {moved} moved to and from disk in a step, planned {planned}")


def train(graph, combination, flags):
    paths = [graph.work / name for name in ("log.jsonl", "out.safetensors")]
    executable = graph.compile(combination["stage"], combination["ranks"], *flags)
    run_tool("zero-run", executable, graph.data_flag, f"--steps={STEPS}", "--quiet",
             f"--nvme-dir={graph.work}", f"--log={paths[0]}", f"--save={paths[1]}")
    return executable, [path.read_bytes() for path in paths]


def check_bits(checks, data, work, combination):
    label = ", ".join(f"{k} {v}" for k, v in combination.items())
    graph = MatrixGraph(data, work, {**combination, "dropout": False})
    graph.make_samples(combination["ranks"], combination["micro_batches"])
    flags = training_flags(combination)
    _, expected = train(graph, combination, flags)
    executable, got = train(graph, combination, [*flags, *offload_flags(combination)])
    checks.that(got[0] == expected[0], f"{label}: {got[0]}, expected {expected[0]}")
    checks.that(got[1] == expected[1], f"{label}: other weights")
    check_watched(checks, label, graph, executable, disk_bytes(graph.report))
    checks.that(not list(graph.work.glob("zero-rank*")), f"{label}: a file is left on disk")


def check_volume(checks, data, work):
    """The bytes that mixed precision and fp32 move with parameters and optimizer state on disk.
    Masters and two moments move both ways. Parameters are read for forward and for the reads of
    backward, which updates share, and are written back."""
    for precision, parameter, state in (("bf16", 2, 12), ("fp32", 4, 8)):
        graph = Graph(data, "gpt2-tiny", work)
        graph.compile(3, 2, f"--precision={precision}", "--offload-params=nvme",
                      "--offload-optimizer=nvme")
        gathered = re.search(r"forward (\d+), backward (\d+), update 0, gradients (\d+)",
                             graph.report)
        forward, backward, elements = (int(number) // 2 for number in gathered.groups())
        # In f32 the parameter is its own master. The update reads those that backward does not.
        own = elements - backward if precision == "fp32" else 0
        expected = (state * elements + parameter * (forward + backward + own),
                    (state + parameter) * elements)
        checks.that(disk_bytes(graph.report) == expected,
                    f"{precision}: {disk_bytes(graph.report)} moved, expected {expected}")
        read, written = disk_bytes(graph.report)
        graph.compile(3, 2, f"--precision={precision}", "--offload-params=nvme",
                      "--offload-optimizer=nvme", "--offload-gradients=nvme")
        checks.that(disk_bytes(graph.report) == (read + parameter * elements,
                                                 written + parameter * elements),
                    f"{precision}: gradients on disk move {disk_bytes(graph.report)} in all")


def check_gradients(checks, data, work):
    """If updates overlap with backward, no gradients need to be written."""
    graph = Graph(data, "gpt2-tiny", work)
    executable = graph.compile(3, 2, "--offload-optimizer=host")
    check_refused(checks, "gradients that are used up",
                  ["--dump-gradients has nothing to write", "is consumed during backward"],
                  "zero-run", executable, graph.data_flag, f"--dump-gradients={graph.work}/g")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("data")
    parser.add_argument("work")
    parser.add_argument("--all", action="store_true")
    args = parser.parse_args()
    checks = Checks()
    for combination in placements() if args.all else pairwise(combinations()):
        check_bits(checks, args.data, f"{args.work}/bits", combination)
    check_volume(checks, args.data, f"{args.work}/volume")
    check_gradients(checks, args.data, f"{args.work}/gradients")
    checks.finish()


if __name__ == "__main__":
    main()
