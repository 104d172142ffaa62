"""Adafactor computes updates of full tensors, on their owners where slices have whole tensors. All
stages are bitwise identical for every partition of buckets, gradients, micro-batches and tiers, and
the first step equals the paper's for every shape.

usage: check_adafactor.py DATA WORK
"""

import json
import re
import sys
from pathlib import Path

import numpy as np

from check_muon import balance, check_other_ranks, check_resumed, count_launches, partitioned
from check_muon import check_skipped as check_skipped_steps
from check_muon import check_stages as check_tiers
from zero_test import Checks, Graph, certificate, check_refused, relative, run_tool

STEPS = 3
RATE, FLAGS = 1e-2, ["--optimizer=adafactor", "--lr=1e-2"]

# Graph, ranks, flags, stages. Covers embeddings, tied matrices, convolutions and offload.
CASES = [
    ("gpt2-tiny", 2, ["--clip-norm=0.5", "--bucket-bytes=20000"], range(4)),
    ("gpt2-tiny", 4, ["--micro-batches=2", "--clip-norm=0.5"], range(4)),
    ("gpt2-tiny", 2, ["--micro-batches=2", "--grad-reduce=each"], range(2)),
    ("gpt2-tiny", 2, ["--offload-gradients=host"], range(4)),
    ("llama-tiny", 2, ["--precision=bf16", "--micro-batches=2"], range(4)),
    ("llama-tiny", 2, [], range(4)),
    ("llama-tiny", 2, ["--offload-params=host", "--bucket-bytes=30000"], [3]),
    ("llama-tiny", 2, ["--persist-under=20000", "--bucket-bytes=30000"], [3]),
    ("resnet-tiny", 2, [], range(4)),
]


def first_step(weight, gradient):
    """What torch.optim.Adafactor adds to a parameter in its first step, in fp64."""
    eps1, eps2 = 2.0**-23, 1e-3
    squares = gradient**2
    if weight.ndim > 1:
        rows, columns = squares.mean(-1, keepdims=True), squares.mean(-2, keepdims=True)
        squares = rows * columns / np.maximum(rows.mean(-2, keepdims=True), eps1)
    update = gradient / np.sqrt(np.maximum(squares, eps1**2))
    rms = lambda values: np.sqrt(np.mean(values**2))
    return -min(RATE, 1) * max(eps2, rms(weight)) / max(1, rms(update)) * update


def check_first_step(checks, data, name, work):
    graph = Graph(data, name, work)
    executable = graph.compile(3, 2, *FLAGS)
    still, moved = graph.run(executable, 1, "--lr=0"), graph.run(executable, 1)
    shapes = set()
    for key, gradient in moved.gradients.items():
        start = still.weights[key].astype(np.float64)
        step = first_step(start, gradient.astype(np.float64))
        shapes.add(start.ndim)
        # A change that is small compared with its weight is rounded with the weight.
        error = relative(moved.weights[key] - start, step)
        checks.that(error <= 1e-3, f"{name}: {key} moved otherwise by {error:.1e}")
    return shapes


def check_stages(checks, data, work):
    whole = {}
    for name, ranks, flags, stages in CASES:
        graph = Graph(data, name, work)
        for stage in stages:
            result = graph.run(graph.compile(stage, ranks, *FLAGS, *flags), STEPS)
            # The tiers of parameters and gradients do not change the computation.
            key = (name, ranks, *(f for f in flags if f.startswith(("--clip", "--micro", "--prec"))))
            first = whole.setdefault(key, result)
            label = f"{name} on {ranks} with {flags} at stage {stage}"
            checks.that(result.same_bits(first), f"{label}: other bits")
            checks.that(result.gradients.keys() == first.gradients.keys() and
                        all(np.array_equal(result.gradients[k], first.gradients[k])
                            for k in first.gradients), f"{label}: dumps other gradients")
            checks.that(result.losses[-1] < result.losses[0], f"{label}: {result.losses}")


def check_skipped(checks, data, work):
    """Steps that overflow change no state: the following steps equal those of a run without them.
    """
    graph = Graph(data, "llama-tiny", work)
    log = Path(work) / "log.jsonl"
    for stage in (0, 3):
        late = graph.run(graph.compile(stage, 2, *FLAGS, "--precision=fp16",
                                       "--initial-loss-scale=4194304"), 6)
        lines = [json.loads(line) for line in log.read_text().splitlines()]
        done = [line["loss_scale"] for line in lines if not line["skipped"]]
        checks.that(1 < len(done) < len(lines), f"stage {stage}: {lines}")
        early = graph.run(graph.compile(stage, 2, *FLAGS, "--precision=fp16",
                                        f"--initial-loss-scale={done[0]}"), len(done))
        checks.that(all(np.array_equal(early.weights[k], late.weights[k]) for k in late.weights),
                    f"stage {stage}: a step that overflowed changed something")


def check_certificate(checks, data, work):
    """The gradients that are gathered for the update are counted and reported."""
    graph = Graph(data, "mlp", work)
    graph.compile(3, 2, *FLAGS)
    # The matrices of an MLP have no equals; its biases have owners.
    text = re.search(r"update (\d+), gradients (\d+)", graph.report)
    checks.that(text and 0 < int(text[1]) < int(text[2]), f"volume: {graph.report}")
    checks.that(f"unsharded gradients for the update +{text[1]}" in graph.report, graph.report)
    state = int(re.search(r"optimizer state +(\d+)", graph.report)[1])
    checks.that(state < 8192, f"{state} bytes of optimizer state, more than rows and columns")


def plan(model, stage, ranks, *flags):
    """The certificate of a plan, and the elements that a rank receives."""
    text = run_tool("zeroc", model, "--plan-only", "--no-cache", "--init=normal:0.02",
                    f"--zero-stage={stage}", f"--ranks={ranks}", *flags)
    return text, int(re.search(r"each rank receives (\d+) elements", text)[1])


def count_steps(graph, stage, ranks):
    """The number of tensors of which each rank computes the step."""
    return count_launches(partitioned(graph, stage, ranks, *FLAGS), r"tensor_step_\d+", ranks)


def check_owners(checks, data, work):
    """Where slices have whole tensors, operations and states are divided by the ranks, and the
    exchange is AdamW's."""
    model = Path(work) / "gpt.onnx"
    model.parent.mkdir(parents=True, exist_ok=True)
    run_tool("zero-translate", "--make-gpt=layers=8,width=128,heads=4,vocabulary=128,sequence=16,"
             "batch=1", "-o", model)
    for stage in (1, 2, 3):
        for ranks in (2, 3, 4):
            text, received = plan(model, stage, ranks, *FLAGS)
            _, adamw = plan(model, stage, ranks, "--optimizer=adamw")
            tensors, most, stored = balance(text)
            label = f"stage {stage}, {ranks} ranks"
            print(f"{label}: {tensors} tensors, {most} x operations, {stored} x elements, "
                  f"{received / adamw:.3f} x what AdamW receives")
            # A tied embedding that stage 3 gathers twice has a bucket of its own.
            checks.that(tensors >= 96 and most <= 1.15 and stored <= 1.1, f"{label}: {text}")
            checks.that(received <= 1.1 * adamw, f"{label}: {received} elements, AdamW {adamw}")
    # Owners compute the steps of different tensors: each step once.
    graph = Graph(data, "gpt2-tiny", work)
    every = count_steps(graph, 0, 2)
    for ranks in (2, 4):
        counts = count_steps(graph, 1, ranks)
        checks.that(sum(counts) == every[0] and min(counts) > 0, f"{ranks} ranks: {counts}, {every}")
    whole, parts = (certificate(plan(graph.folder / "model.onnx", stage, 4, *FLAGS)[0])["device"]
                    for stage in (0, 1))
    checks.that(2 * parts["optimizer state"] < whole["optimizer state"], f"{whole}, {parts}")


def main():
    data, work = sys.argv[1:]
    checks = Checks()
    shapes = set()
    for name in ("resnet-tiny", "llama-tiny"):
        shapes |= check_first_step(checks, data, name, f"{work}/{name}")
    checks.that({1, 2, 4} <= shapes, f"shapes of {shapes} dimensions only")
    check_stages(checks, data, f"{work}/stages")
    check_skipped(checks, data, f"{work}/skipped")
    check_certificate(checks, data, f"{work}/mlp")
    check_owners(checks, data, f"{work}/owners")
    check_other_ranks(checks, data, Path(work) / "ranks", FLAGS, 4, [(3, 2), (0, 1), (1, 3)])
    check_tiers(checks, data, Path(work) / "tiers", FLAGS)
    check_resumed(checks, data, Path(work) / "resumed", FLAGS)
    for ranks in (2, 3):  # launches have the conditions of owners as well
        check_skipped_steps(checks, data, Path(work) / f"skipped{ranks}", FLAGS, ranks)
    check_refused(checks, "tiles", ["is tiled", "adafactor", "--tile-params-over"], "zeroc",
                  f"{data}/gpt2-tiny/model.onnx", "--plan-only", "--zero-stage=3", "--ranks=2",
                  "--optimizer=adafactor", "--tile-params-over=50KB")
    check_refused(checks, "the threshold", ["--clip-threshold", "a number >= 1", "got 0.5"], "zeroc",
                  f"{data}/mlp/model.onnx", "--plan-only", "--optimizer=adafactor",
                  "--clip-threshold=0.5")
    checks.finish()


if __name__ == "__main__":
    main()
