"""Runs MLIR's generic passes after every phase, and expects the same plan and the same bits.

Usage: check_generic_passes.py DATA WORK GRAPH. Canonicalizer, CSE, symbol-dce and loop-invariant
code motion run after each phase (`zeroc --clean-after-phases`), at stages 0 and 3, with layers
that run again and with state and activations on other tiers. Collectives, transfers, what runs
again and each tier's peak must be those of a compiler run without, and losses, weights and
gradients the same bit for bit.
"""

import re
import sys

from zero_test import Checks, Graph

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
    """What a dumped program moves, runs again and needs."""
    found = {name: len(re.findall(rf"zero\.{name} ", text)) for name in COUNTED}
    found["again"] = len(re.findall(r"zero\.recompute = \d", text))
    found["peaks"] = re.findall(r"peak = (\d+) : i64", text)
    return found


def main():
    data, work, name = sys.argv[1:]
    checks, ranks = Checks(), 2
    for stage in (0, 3):
        for variant, flags in VARIANTS.items():
            if stage == 0 and "offload" in " ".join(flags):
                flags = [flag for flag in flags if "params" not in flag and "gradients" not in flag]
            batches = ranks * (2 if "--micro-batches=2" in flags else 1)
            graph = Graph(data, name, work)
            flags = [*flags, graph.shape_flag(batches), "--no-cache"]
            results = []
            for more in ([], ["--clean-after-phases"]):
                executable = graph.compile(stage, ranks, "--dump-after=pack", *flags, *more)
                moves = ["--nvme-dir=" + str(graph.work)] if variant == "tiers" else []
                results.append((facts(graph.report), graph.run(executable, 3, *moves)))
            (plain, expected), (cleaned, got) = results
            label = f"{name}, stage {stage}, {variant}"
            for key in plain:
                checks.that(plain[key] == cleaned[key],
                            f"{label}: {key}: expected {plain[key]}, got {cleaned[key]}")
            checks.that(("again" in plain and plain["again"] > 0) == (variant == "checkpoints"),
                        f"{label}: {plain['again']} launches run again")
            checks.that((plain["transfer"] > 0) == ("--offload" in " ".join(flags)),
                        f"{label}: {plain['transfer']} transfers")
            checks.that(got.same_bits(expected), f"{label}: other losses or weights")
            checks.that(all(got.gradients[k].tobytes() == v.tobytes()
                            for k, v in expected.gradients.items()), f"{label}: other gradients")
    checks.finish()


if __name__ == "__main__":
    main()
