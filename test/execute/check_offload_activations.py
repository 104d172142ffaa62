"""Training with activations on the host or on disk is bitwise identical to training without offload.

usage: check_offload_activations.py DATA WORK [--all]

Without --all the test runs a selection of models, stages, tiers, checkpoints, micro-batches,
precisions and dropout that covers every pair of values. Each combination trains three steps on 2
ranks under --check-memory.
"""

import argparse
import itertools
import re

from check_recompute import TruthGraph
from check_stages_matrix import MatrixGraph
from pairwise import pairwise
from zero_test import Checks, Graph, Plan, run_tool

STEPS, RANKS = 3, 2
FACTORS = {"model": ("gpt2-tiny", "llama-tiny", "resnet-tiny", "mlp"), "stage": (0, 1, 2, 3),
           "tier": ("host", "nvme"), "checkpoint": ("none", "layer"), "micro_batches": (1, 2),
           "precision": ("fp32", "bf16"), "dropout": (False, True)}
GENERATED = ("gpt2-tiny", "llama-tiny")  # with generated samples and Dropout
FLAGS = ["--optimizer=adamw", "--lr=1e-3", "--weight-decay=0.01"]


def combinations():
    every = (dict(zip(FACTORS, values)) for values in itertools.product(*FACTORS.values()))
    return [c for c in every if c["model"] in GENERATED or
            (not c["dropout"] and c["checkpoint"] == "none")]


def moved(text):
    """The number of values that leave the device, and the total number."""
    return tuple(map(int, re.search(r"(\d+) of (\d+) values that forward saves", text).groups()))


def train(graph, stage, flags, *run_flags):
    """Losses and weights after three steps, as bytes."""
    paths = [graph.work / name for name in ("log.jsonl", "out.safetensors")]
    executable = graph.compile(stage, RANKS, *flags)
    run_tool("zero-run", executable, graph.data_flag, f"--steps={STEPS}", "--quiet",
             f"--log={paths[0]}", f"--save={paths[1]}", f"--nvme-dir={graph.work}", *run_flags)
    return [path.read_bytes() for path in paths]


def check_bits(checks, data, work, combination):
    label = ", ".join(f"{k} {v}" for k, v in combination.items())
    generated = combination["model"] in GENERATED
    graph = (MatrixGraph(data, work, combination) if generated
             else TruthGraph(data, combination["model"], work))
    graph.make_samples(RANKS, combination["micro_batches"])
    flags = [*FLAGS, f"--precision={combination['precision']}",
             f"--micro-batches={combination['micro_batches']}",
             f"--checkpoint={combination['checkpoint']}"]
    stays = train(graph, combination["stage"], flags)
    waits = train(graph, combination["stage"],
                  [*flags, f"--offload-activations={combination['tier']}"], "--check-memory")
    checks.that(moved(graph.report)[0] > 0, f"{label}: nothing leaves the device")
    checks.that(waits[0] == stays[0], f"{label}: {waits[0]}, expected {stays[0]}")
    checks.that(waits[1] == stays[1], f"{label}: other weights")


def check_memory(checks, data, work):
    """Most of the activations of a GPT-2 are off the device when the most memory is live."""
    graph = Graph(data, "gpt2-mini", work)
    stays, waits = (Plan(graph, 0, RANKS, f"--offload-activations={tier}").certificate
                    for tier in ("device", "host"))
    # `waits` lists the host last.
    text = run_tool("zeroc", graph.folder / "model.onnx", "--plan-only", f"--ranks={RANKS}",
                    "--offload-activations=host")
    device = int(re.search(r"^  arena +(\d+)", text, re.MULTILINE).group(1))
    checks.that(stays["arena"] - device >= 0.8 * waits["arena"],
                f"{waits['arena']} bytes wait on the host, but the device's arena falls from "
                f"{stays['arena']} to {device}")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data")
    parser.add_argument("work")
    parser.add_argument("--all", action="store_true")
    arguments = parser.parse_args()
    checks = Checks()
    chosen = combinations() if arguments.all else pairwise(combinations())
    for combination in chosen:
        check_bits(checks, arguments.data, arguments.work, combination)
    check_memory(checks, arguments.data, arguments.work)
    checks.finish()


if __name__ == "__main__":
    main()
