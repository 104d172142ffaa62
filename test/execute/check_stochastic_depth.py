"""Training with random operators: recomputation is bitwise identical to keeping values,
micro-batches draw the numbers of one batch, and an evaluation draws numbers without affecting
training.

usage: check_stochastic_depth.py DATA WORK
"""

import json
import sys

import numpy as np

from zero_test import Checks, Graph, read_safetensors, relative, run_tool

FLAGS = ["--optimizer=sgd", "--lr=0.05", "--momentum=0.9"]
STEPS = 4


def check_recomputation(checks, graph):
    kept = graph.run(graph.compile(0, 2, *FLAGS, graph.shape_flag(2), "--recompute=none"), STEPS)
    for stage, flags in ((0, ["--checkpoint=layer"]), (3, ["--checkpoint=sqrt"]), (3, [])):
        again = graph.run(graph.compile(stage, 2, *FLAGS, *flags, graph.shape_flag(2)), STEPS)
        checks.that(again.same_bits(kept), f"stage {stage} with {flags} differs")
    other = graph.run(graph.compile(0, 2, *FLAGS, graph.shape_flag(2), "--seed=1"), STEPS)
    checks.that(not np.array_equal(other.losses, kept.losses), "another seed changes nothing")
    return kept


def check_micro_batches(checks, graph, kept):
    for ranks, micro_batches in ((1, 4), (2, 2)):
        cut = graph.run(graph.compile(2, ranks, *FLAGS, f"--micro-batches={micro_batches}",
                                      graph.shape_flag(ranks * micro_batches)), STEPS)
        label = f"{micro_batches} micro-batches on {ranks}"
        error = np.max(np.abs(cut.losses / kept.losses - 1))
        checks.that(error < 1e-5, f"{label}: losses off by {error:.1e}")
        for name, value in kept.weights.items():
            error = relative(cut.weights[name], value)
            checks.that(error < 1e-4, f"{label}: {name} off by {error:.1e}")


def check_16_bits(checks, graph, kept):
    """The probability is compared with a number of full precision: the number of dropped rows
    matches."""
    narrow = graph.run(graph.compile(0, 2, *FLAGS, "--precision=bf16", graph.shape_flag(2)), STEPS)
    error = np.max(np.abs(narrow.losses / kept.losses - 1))
    checks.that(error < 0.02, f"in bf16 losses are off by {error}: {narrow.losses}, {kept.losses}")


def check_evaluation(checks, graph, kept):
    """With the same samples twice, batches draw different numbers and evaluations the same."""
    held = []
    for name, value in graph.inputs.items():
        path = graph.work / f"held.{name}.npy"
        np.save(path, np.concatenate([value, value]))
        held.append(f"{name}={path}")
    executable = graph.compile(0, 2, *FLAGS[:1], "--lr=0", graph.shape_flag(2))
    found = []
    for batches in (1, 2):
        log = graph.work / "evaluation.jsonl"
        run_tool("zero-run", executable, graph.data_flag, "--steps=2", "--quiet", f"--log={log}",
                 f"--eval-data={','.join(held)}", "--eval-every=1", f"--eval-steps={batches}")
        lines = [json.loads(line) for line in log.read_text().splitlines()]
        losses = [line["eval_loss"] for line in lines if "eval_loss" in line]
        checks.that(len(losses) >= 2 and len(set(losses)) == 1, f"evaluations differ: {losses}")
        found.append(losses[0])
    checks.that(found[0] != found[1], "two held-out batches draw the same numbers")
    executable, saved = graph.compile(0, 2, *FLAGS, graph.shape_flag(2)), graph.work / "watched"
    run_tool("zero-run", executable, graph.data_flag, f"--steps={STEPS}", "--quiet",
             f"--save={saved}.safetensors", f"--eval-data={','.join(held)}", "--eval-every=1")
    watched = read_safetensors(f"{saved}.safetensors")
    checks.that(all(watched[name].tobytes() == value.tobytes()
                    for name, value in kept.weights.items()), "an evaluation changes the weights")


def main():
    data, work = sys.argv[1:]
    checks = Checks()
    graph = Graph(data, "stochastic-depth", work)
    kept = check_recomputation(checks, graph)
    check_micro_batches(checks, graph, kept)
    check_16_bits(checks, graph, kept)
    check_evaluation(checks, graph, kept)
    checks.finish()


if __name__ == "__main__":
    main()
