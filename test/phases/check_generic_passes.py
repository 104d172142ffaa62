"""Runs MLIR's generic passes after every phase, and expects the same plan and results.

Usage: check_generic_passes.py DATA WORK GRAPH. Canonicalizer, CSE, symbol-dce and loop-invariant
code motion run after each phase (`zeroc --clean-after-phases`), at stages 0 and 3, with recomputed
layers and with offloaded state and activations. Collectives, transfers, recomputation and each
tier's peak must be the same as without these passes, and losses and weights bitwise identical.
"""

import re
import sys

import numpy as np

from zero_test import Checks, Graph, run_tool

VARIANTS = {
    "in memory": [],
    "micro-batches": ["--micro-batches=2", "--clip-norm=1"],
    "checkpoints": ["--checkpoint=layer"],
    "tiers": ["--offload-optimizer=nvme", "--offload-params=host"],
    "activations": ["--offload-activations=host", "--offload-gradients=host",
                    "--offload-optimizer=host", "--micro-batches=2"],
}
COUNTED = ["all_gather", "reduce_scatter", "all_reduce", "transfer", "launch"]


def facts(text):
    """The transfers, recomputation and memory of a dumped program."""
    found = {name: len(re.findall(rf"zero\.{name} ", text)) for name in COUNTED}
    found["again"] = len(re.findall(r"zero\.recompute = \d", text))
    found["peaks"] = re.findall(r"\bpeak = (\d+)", text)
    return found


def train(graph, executable, *flags):
    """The files of losses and weights of three steps."""
    log, weights = graph.work / "log.jsonl", graph.work / "weights.safetensors"
    run_tool("zero-run", executable, graph.data_flag, "--steps=3", "--quiet", f"--log={log}",
             f"--save={weights}", *flags)
    return log.read_bytes(), weights.read_bytes()


def main():
    data, work, name = sys.argv[1:]
    checks, ranks = Checks(), 2
    for stage in (0, 3):
        for variant, flags in VARIANTS.items():
            if stage == 0 and "offload" in " ".join(flags):
                flags = [flag for flag in flags if "params" not in flag and "gradients" not in flag]
            batches = ranks * (2 if "--micro-batches=2" in flags else 1)
            graph = Graph(data, name, work)
            for key, value in list(graph.inputs.items()):  # each rank has the batch of the model
                graph.set_input(key, np.concatenate([value] * batches))
            results = []
            for more in ([], ["--clean-after-phases"]):
                executable = graph.compile(stage, ranks, "--dump-after=pack", *flags, *more)
                moves = ["--nvme-dir=" + str(graph.work)] if variant == "tiers" else []
                results.append((facts(graph.report), train(graph, executable, *moves)))
            (plain, expected), (cleaned, got) = results
            label = f"{name}, stage {stage}, {variant}"
            for key in plain:
                checks.that(plain[key] == cleaned[key],
                            f"{label}: {key}: expected {plain[key]}, got {cleaned[key]}")
            checks.that(("again" in plain and plain["again"] > 0) == (variant == "checkpoints"),
                        f"{label}: {plain['again']} launches run again")
            checks.that((plain["transfer"] > 0) == ("--offload" in " ".join(flags)),
                        f"{label}: {plain['transfer']} transfers")
            checks.that(plain["peaks"], f"{label}: no arena is in the dump")
            checks.that(got == expected, f"{label}: other losses or weights")
    checks.finish()


if __name__ == "__main__":
    main()
