"""Training with recomputed activations is bitwise identical to training with saved ones, in less memory.

usage: check_recompute.py DATA WORK [--all]

Without --all the test runs a selection of models, stages, checkpoints, micro-batches, precisions
and dropout that covers every pair of values. Each combination trains three steps on 2 ranks.
"""

import argparse
import itertools
import json
import re
from pathlib import Path

import numpy as np
import onnx

from check_stages_matrix import MatrixGraph
from pairwise import pairwise
from zero_test import Checks, Graph, Plan, run_tool

STEPS, RANKS = 3, 2
FACTORS = {"model": ("gpt2-tiny", "llama-tiny", "bert-tiny", "resnet-tiny", "mlp"),
           "stage": (0, 1, 2, 3), "checkpoint": ("=layer", "=sqrt", "-slots=1"),
           "micro_batches": (1, 4), "precision": ("fp32", "bf16"), "dropout": (False, True),
           "reshard": (False, True)}
GENERATED = ("gpt2-tiny", "llama-tiny")  # with generated samples and Dropout
FLAGS = ["--optimizer=adamw", "--lr=1e-3", "--weight-decay=0.01"]


def combinations():
    every = (dict(zip(FACTORS, values)) for values in itertools.product(*FACTORS.values()))
    return [c for c in every if (not c["dropout"] or c["model"] in GENERATED) and
            (not c["reshard"] or c["stage"] == 3)]


class TruthGraph(Graph):
    """A graph with generated samples, as many as a run reads."""

    def make_samples(self, ranks, micro_batches):
        turns = STEPS * micro_batches
        self.inputs = {key: np.concatenate([np.roll(value, turn, axis=0) for turn in range(turns)])
                       for key, value in self.inputs.items()}
        self.write_inputs()

    train = MatrixGraph.train


def graph_of(data, work, combination):
    if combination["model"] in GENERATED:
        return MatrixGraph(data, work, combination)
    return TruthGraph(data, combination["model"], work)


def shapes_of(graph):
    """Shapes of the parameters, by name."""
    model = onnx.load(graph.folder / "model.onnx", load_external_data=False).graph
    return {tensor.name: tuple(tensor.dims) for tensor in model.initializer
            if tensor.name.endswith((".weight", ".bias"))}


def again(text):
    """The number of recomputed launches that zeroc reports."""
    found = re.search(r"(\d+) launches are recomputed", text)
    return int(found.group(1)) if found else 0


def check_bits(checks, data, work, combination, kept):
    """`kept` caches the results of training without checkpoints, which no stage changes."""
    label = ", ".join(f"{k} {v}" for k, v in combination.items())
    graph = graph_of(data, work, combination)
    micro_batches = combination["micro_batches"]
    graph.make_samples(RANKS, micro_batches)
    flags = [*FLAGS, f"--precision={combination['precision']}", f"--micro-batches={micro_batches}"]
    stage = combination["stage"]
    if micro_batches > 1 and stage < 2:
        flags.append("--grad-reduce=each")
    key = tuple(v for k, v in combination.items() if k not in ("stage", "checkpoint", "reshard"))
    if key not in kept:
        kept[key] = graph.train(0, RANKS, flags + ["--grad-reduce=each"] * (
            micro_batches > 1 and stage >= 2))[:2]
        checks.that(again(graph.report) == 0, f"{label}: something runs again without a flag")
    flags += ["--reshard-recomputed"] * combination["reshard"]
    log, weights, report = graph.train(stage, RANKS,
                                       [*flags, f"--checkpoint{combination['checkpoint']}"])
    checks.that(again(graph.report) > 0, f"{label}: nothing runs again")
    checks.that(log == kept[key][0], f"{label}: {log}, expected {kept[key][0]}")
    checks.that(weights == kept[key][1], f"{label}: other weights")
    report = json.loads(report)
    checks.that({rank["received_elements"] for rank in report["per_rank"]} ==
                {STEPS * report["planned_elements_per_step"]},
                f"{label}: not what is planned is received")


def check_memory(checks, data, work):
    """The inner values of GPT-2's layers are live for only one layer at a time."""
    graph = Graph(data, "gpt2-mini", work)
    batch, sequence = graph.inputs["input_ids"].shape
    shapes = shapes_of(graph)
    layers = {found[1] for found in (re.search(r"\bh\.(\d+)\.", name) for name in shapes) if found}
    width = next(shape[1] for name, shape in shapes.items() if name.endswith("wpe.weight"))
    rows = 4 * (batch // RANKS) * sequence * width  # bytes of a tensor of the model's width
    # Queries, keys, values, attention, the residual between, and four for the MLP.
    inner = 9 * rows
    arenas = {mode: Plan(graph, 0, RANKS, f"--checkpoint={mode}").certificate["arena"]
              for mode in ("none", "layer")}
    saved = arenas["none"] - arenas["layer"]
    checks.that(saved >= (len(layers) - 1) * inner,
                f"{len(layers)} layers of {inner} bytes each, but the arena falls by {saved}")
    kept = graph.run(graph.compile(0, RANKS), STEPS)
    executable = graph.compile(3, RANKS, "--checkpoint=layer")
    again = graph.run(executable, STEPS)
    checks.that(again.same_bits(kept), "gpt2-mini: other bits with --checkpoint=layer")
    executable = graph.compile(0, RANKS, "--checkpoint=layer")
    report = graph.run(executable, STEPS, "--check-memory").report
    checks.that(report["memory"]["device"]["peak"] == arenas["layer"],
                "the executable's certificate is another")
    for rank in report["per_rank"]:
        checks.that(0 <= arenas["layer"] - rank["measured_peak"] < 256,
                    f"a rank reached {rank['measured_peak']} of {arenas['layer']}")


def check_reshard(checks, work):
    """A layer that gathers its parameters again for backward never has all of them. So there are as
    many bytes less as those of a layer beside its largest parameter and the gradient of that, for
    one more gather of each parameter."""
    layers, width = 3, 256
    model = Path(work) / "gpt.onnx"
    model.parent.mkdir(parents=True, exist_ok=True)
    run_tool("zero-translate", "-o", model,
             f"--make-gpt=layers={layers},width={width},heads=4,vocabulary=64,sequence=8,batch=2")
    arenas, gathered = [], []
    for flags in ([], ["--reshard-recomputed"]):
        text = run_tool("zeroc", model, "--plan-only", "--zero-stage=3", f"--ranks={RANKS}",
                        "--checkpoint=layer", "--bucket-bytes=1", *flags)
        arenas.append(int(re.search(r"^  arena +(\d+)", text, re.MULTILINE)[1]))
        gathered.append(int(re.search(r"backward (\d+),", text)[1]))
    print(f"arenas {arenas}, gathered for backward {gathered}")
    weights = 12 * width**2  # of a layer; the largest of its parameters is a third of them
    least = 4 * (weights - 2 * 4 * width**2)
    checks.that(arenas[1] <= arenas[0] - least, f"{arenas}, expected {least} bytes less")
    more = (gathered[1] - gathered[0]) / weights
    checks.that(layers - 1 <= more <= layers - 0.95, # the last layer does not run again
                f"{more} layers are gathered once more: {gathered}")


def planned(graph, *flags):
    """Elements gathered for backward, and those gathered only for recomputed layers."""
    text = run_tool("zeroc", graph.folder / "model.onnx", "--plan-only", "--zero-stage=3",
                    f"--ranks={RANKS}", *flags)
    runs = re.search(r"gathered for recomputation \+(\d+)", text)
    return int(re.search(r"backward (\d+),", text).group(1)), int(runs.group(1)) if runs else 0


def check_volume(checks, data, work):
    """A segment of one layer gathers biases together with parameters that backward reads. A longer
    segment gathers each parameter at most once more."""
    # Also with one bucket per parameter.
    for name, limit in itertools.product(("gpt2-tiny", "gpt2-mini", "llama-tiny"), ("25MB", "1")):
        graph = Graph(data, name, work)
        sizes = list(shapes_of(graph).values())
        slice = 64 * RANKS
        vectors = sum(-(-shape[0] // slice) * slice for shape in sizes if len(shape) == 1)
        elements = sum(map(np.prod, sizes))
        limit = f"--bucket-bytes={limit}"
        plain, _ = planned(graph, limit)
        buckets = len(Plan(graph, 3, RANKS, limit).buckets)
        for mode, most in (("=layer", vectors), ("=sqrt", elements + vectors),
                           ("-slots=1", (len(sizes) + 1) * elements)):
            backward, runs = planned(graph, limit, f"--checkpoint{mode}")
            checks.that(backward <= plain + most,
                        f"{name} {limit} --checkpoint{mode}: gathers {backward}, without it {plain}")
            padding = 64 * RANKS * buckets
            checks.that(runs + padding >= backward - plain,
                        f"{name} {limit} --checkpoint{mode}: {runs} of {backward - plain} explained")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("data")
    parser.add_argument("work")
    parser.add_argument("--all", action="store_true")
    args = parser.parse_args()
    checks, kept = Checks(), {}
    for combination in combinations() if args.all else pairwise(combinations()):
        check_bits(checks, args.data, f"{args.work}/bits", combination, kept)
    check_memory(checks, args.data, f"{args.work}/memory")
    check_reshard(checks, f"{args.work}/reshard")
    check_volume(checks, args.data, f"{args.work}/volume")
    checks.finish()


if __name__ == "__main__":
    main()
