"""Stages 0 to 3, with and without recomputation, give bitwise identical weights in every
combination of model, micro-batches, precision, clipping and dropout.

usage: check_stages_matrix.py DATA WORK [--all] [--model gpt2-tiny] [--list]

Without --all the test runs a selection that covers every pair of values. Each combination trains
three steps on 2 ranks; the last one of a selection also runs on 4.
"""

import argparse
import json
from pathlib import Path

import numpy as np
import onnx
from onnx import helper, numpy_helper

from pairwise import combinations, pairwise
from zero_test import Checks, Graph, read_safetensors, run_tool

STEPS, BATCH, SEQUENCE, VOCABULARY, IGNORED = 3, 4, 32, 512, -100
CLIP = 0.2  # gradients have norms of at least 0.5
FACTORS = {"model": ("gpt2-tiny", "llama-tiny"), "micro_batches": (1, 4),
           "precision": ("fp32", "bf16"), "clip": (False, True), "dropout": (False, True)}
# The places of Dropout in GPT-2, and the same places in a Llama: after the embeddings, on the
# weights of attention, and on the outputs of attention and MLP.
DROPPED = {
    "gpt2-tiny": ("add_1", "val_166", "view_9", "view_13", "val_264", "view_22", "view_26"),
    "llama-tiny": ("embedding", "val_226", "linear_3", "linear_6", "val_362", "linear_10",
                   "linear_13"),
}
FLAGS = ["--optimizer=adamw", "--lr=1e-3", "--weight-decay=0.01"]


def add_dropout(model, values):
    """Adds a Dropout node after each of `values`, as an exporter writes it."""
    graph = model.graph
    graph.initializer.extend([numpy_helper.from_array(np.float32(0.1), "dropout_ratio"),
                              numpy_helper.from_array(np.bool_(True), "dropout_training")])
    for value in values:
        producer = next(i for i, node in enumerate(graph.node) if value in node.output)
        for node in graph.node[producer + 1:]:
            for i, name in enumerate(node.input):
                if name == value:
                    node.input[i] = f"{value}_dropped"
        graph.node.insert(producer + 1, helper.make_node(
            "Dropout", [value, "dropout_ratio", "dropout_training"], [f"{value}_dropped"],
            name=f"dropout_{value}"))
    return model


class MatrixGraph(Graph):
    """A model of test/data, optionally with Dropout, on generated samples. These differ for each
    rank and micro-batch, and a few labels are ignored."""

    def __init__(self, data, work, combination):
        self.name, self.work = combination["model"], Path(work)
        self.folder = Path(data) / self.name
        self.work.mkdir(parents=True, exist_ok=True)
        if combination["dropout"]:
            model = add_dropout(onnx.load(self.folder / "model.onnx"), DROPPED[self.name])
            self.folder = self.work
            onnx.save(model, self.folder / "model.onnx")

    def make_samples(self, ranks, micro_batches):
        random = np.random.RandomState(3)
        rows = STEPS * ranks * micro_batches * BATCH
        tokens = random.randint(0, VOCABULARY, (rows, SEQUENCE))
        labels = np.where(random.random_sample(tokens.shape) < 0.1, IGNORED, tokens)
        self.inputs = {"input_ids": tokens, "labels": labels}
        self.write_inputs()

    def train(self, stage, ranks, flags):
        """Losses and weights after three steps, as bytes, and the report."""
        paths = [self.work / name for name in ("log.jsonl", "out.safetensors", "report.json")]
        executable = self.compile(stage, ranks, *flags)
        run_tool("zero-run", executable, self.data_flag, f"--steps={STEPS}", "--quiet",
                 f"--log={paths[0]}", f"--save={paths[1]}", f"--report-json={paths[2]}")
        return [path.read_bytes() for path in paths]


def flags_of(combination, stage):
    flags = [*FLAGS, f"--precision={combination['precision']}",
             f"--micro-batches={combination['micro_batches']}"]
    if combination["clip"]:
        flags.append(f"--clip-norm={CLIP}")
    if combination["micro_batches"] > 1 and stage < 2:
        flags.append("--grad-reduce=each")
    return flags


def check_combination(checks, data, work, combination, ranks):
    label = ", ".join(f"{k} {v}" for k, v in combination.items()) + f", {ranks} ranks"
    graph = MatrixGraph(data, work, combination)
    graph.make_samples(ranks, combination["micro_batches"])
    first = None
    for stage, recompute in [*((stage, "cheap") for stage in range(4)), (0, "none")]:
        flags = [*flags_of(combination, stage), f"--recompute={recompute}"]
        log, weights, report = graph.train(stage, ranks, flags)
        if first is None:
            first = (log, weights)
            check_sane(checks, label, read_safetensors(graph.work / "out.safetensors"))
            if combination["clip"]:
                norms = json.loads(report)["gradient_norm"]
                checks.that(min(norms) > CLIP, f"{label}: nothing is clipped: {norms}")
        run = f"{label}: stage {stage}, recompute {recompute}"
        checks.that(log == first[0], f"{run}: {log}, expected {first[0]}")
        checks.that(weights == first[1], f"{run}: other weights")
    return first[1]


def check_sane(checks, label, weights):
    for name, weight in weights.items():
        checks.that(np.all(np.isfinite(weight)) and np.any(weight), f"{label}: {name} is no weight")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("data")
    parser.add_argument("work")
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--model", choices=FACTORS["model"])
    parser.add_argument("--list", action="store_true")
    args = parser.parse_args()
    chosen = combinations(FACTORS) if args.all else pairwise(combinations(FACTORS))
    chosen = [c for c in chosen if args.model in (None, c["model"])]
    if args.list:
        print(*chosen, sep="\n")
        return
    checks, seen = Checks(), {}
    for combination in chosen:
        weights = check_combination(checks, args.data, args.work, combination, 2)
        same = seen.setdefault(weights, combination)
        checks.that(same is combination, f"{combination} trains as {same}: a flag has no effect")
    check_combination(checks, args.data, args.work, chosen[-1], 4)
    checks.finish()


if __name__ == "__main__":
    main()
