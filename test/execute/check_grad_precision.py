"""Sums of gradients over micro-batches in bf16: losses near those of f32, sums without bias, half the
bytes, and the same bits on every stage, tier, bucket and order of micro-batches.

usage: check_grad_precision.py DATA WORK
"""

import re
import sys
from pathlib import Path

import numpy as np

from zero_test import Checks, Graph, check_refused, run_tool

MICRO_BATCHES, STEPS = 4, 11
ADAMW = ["--optimizer=adamw", "--weight-decay=0.01"]
BF16 = "--grad-precision=bf16"
# Largest relative difference of the losses from those of sums in f32.
NEAR = {"gpt2-tiny": 1e-4, "llama-tiny": 1e-4}

WAYS = [  # stage, ranks, flags: each micro-batch is reduced, then added
    (0, 2, ["--grad-reduce=each"]),
    (1, 2, ["--grad-reduce=each", "--bucket-bytes=16KiB"]),
    (2, 2, []),
    (2, 2, ["--offload-gradients=host"]),
    (3, 2, ["--bucket-bytes=64KiB", "--offload-optimizer=host"]),
    (3, 2, ["--micro-batch-order=vertical", "--grad-reduce=each"]),
    (3, 4, []),
    (0, 4, ["--grad-reduce=each"]),
]
LATE_WAYS = [  # all of them are added, then reduced
    (0, 2, []),
    (1, 2, ["--bucket-bytes=16KiB"]),
    (1, 2, ["--micro-batch-order=vertical"]),
    (3, 2, ["--micro-batch-order=vertical"]),
]


def graph_of(data, name, work):
    """The graph with other tokens in each micro-batch of a step."""
    graph = Graph(data, name, work)
    random = np.random.RandomState(3)
    rows = MICRO_BATCHES * 4
    tokens = random.randint(0, 512, (rows * len(graph.inputs["input_ids"]), 32))
    for key in list(graph.inputs):
        graph.set_input(key, tokens)
    return graph


def train(graph, stage, ranks, *flags, steps=STEPS):
    executable = graph.compile(stage, ranks, *ADAMW, f"--micro-batches={MICRO_BATCHES}", *flags)
    return graph.run(executable, steps, "--lr=1e-3", has_gradients=False)


def check_losses(checks, data, work):
    for name, most in NEAR.items():
        graph = graph_of(data, name, work / name)
        exact, rounded = (train(graph, 1, 2, *flags).losses for flags in ([], [BF16]))
        error = np.abs(rounded / exact - 1).max()
        print(f"{name}: losses {error:.1e} from those of f32, down to {exact[-1] / exact[0]:.2f}")
        checks.that(0 < error <= most, f"{name}: losses off by {error:.1e}")


def check_bits(checks, graph, ways, flags):
    """The same weights and losses in every way; of 2 and 4 ranks each set has bits of its own."""
    first = {}
    for stage, ranks, more in ways:
        got = train(graph, stage, ranks, BF16, *more, *flags, steps=3)
        label = f"{graph.name} {' '.join(flags)}, stage {stage}, {ranks} ranks, {' '.join(more)}"
        checks.that(got.same_bits(first.setdefault(ranks, got)), f"{label}: other bits")


def stored(report, role):
    """Bytes of a role by stored type."""
    return {kind: int(count) for kind, count in re.findall(rf"^  {role}, (.*?) +(\d+)$", report, re.M)}


def check_bytes(checks, graph):
    """Sums take half the bytes, up to the alignment of buffers; the f32 that is left are the means of
    losses."""
    for stage, ranks, flags in ((0, 1, []), (2, 2, []), (1, 2, ["--precision=bf16"])):
        train(graph, stage, ranks, *flags, steps=1)
        wide, wide_report = stored(graph.report, "gradients"), graph.report
        train(graph, stage, ranks, BF16, *flags, steps=1)
        narrow = stored(graph.report, "gradients")
        label = f"stage {stage} on {ranks}, {' '.join(flags)}: {wide}, {narrow}"
        padding = 2 * narrow["bf16"] - (wide["f32"] - narrow["f32"])
        checks.that(0 <= padding <= 2048 and narrow["f32"] <= 1024, label)
        checks.that("micro-batches, their gradients summed in bf16," in graph.report, label)
        most = [int(re.search(r"^  gradients +(\d+)", report, re.M)[1])
                for report in (wide_report, graph.report)]
        checks.that(most[1] <= most[0] - narrow["bf16"] + 4096, f"{label}: {most} at most")


def check_bias(checks, data, work):
    """512 equal micro-batches. Rounded to nearest, sums would stop to grow; rounded at random, they
    are right on average, also where neighbours in a sum get equal summands."""
    graph, count = Graph(data, "mlp", work / "bias"), 512
    sums = []
    for flags in ([], [BF16]):
        executable = graph.compile(0, 1, *ADAMW, f"--micro-batches={count}", *flags)
        for name, value in dict(graph.inputs).items():
            np.save(graph.work / f"{name}.npy", np.concatenate([value] * count))
        sums.append(graph.run(executable, 1).gradients)
    wide, narrow = (np.concatenate([part[name].ravel() for name in sorted(sums[0])]).astype(np.float64)
                    for part in sums)
    bias = np.sum((narrow - wide) * np.sign(wide)) / np.sum(np.abs(wide))
    spread = np.linalg.norm(narrow - wide) / np.linalg.norm(wide)
    nearest = np.zeros_like(wide)
    for _ in range(count):
        bits = (nearest + wide / count).astype(np.float32).view(np.uint32).astype(np.uint64)
        bits = (bits + 0x7fff + (bits >> 16 & 1)) & 0xffff0000
        nearest = bits.astype(np.uint32).view(np.float32).astype(np.float64)
    stuck = np.sum((nearest - wide) * np.sign(wide)) / np.sum(np.abs(wide))
    print(f"bias {bias:.1e}, spread {spread:.1e}; rounded to nearest, bias {stuck:.1e}")
    checks.that(abs(bias) < 1e-3 and spread < 6e-2, f"bias {bias:.1e}, spread {spread:.1e}")
    checks.that(abs(bias) < abs(stuck) / 100, f"bias {bias:.1e}, of the nearest {stuck:.1e}")


def check_errors(checks, graph):
    model = graph.folder / "model.onnx"
    check_refused(checks, "one micro-batch", ["--grad-precision", "--micro-batches=1"], "zeroc", model,
                  BF16, "--plan-only")
    check_refused(checks, "word", ["--grad-precision", "f32", "bf16", "'fp8'"], "zeroc", model,
                  "--grad-precision=fp8", "--micro-batches=2", "--plan-only")
    check_refused(checks, "no training", ["--grad-precision", "--forward-only"], "zeroc", model, BF16,
                  "--forward-only", "--plan-only")


def main():
    data, work = Path(sys.argv[1]), Path(sys.argv[2])
    checks = Checks()
    check_losses(checks, data, work)
    check_bias(checks, data, work)
    graph = graph_of(data, "gpt2-tiny", work / "gpt2-tiny")
    for ways in (WAYS, LATE_WAYS):
        check_bits(checks, graph, ways, ["--clip-norm=1"])
    check_bits(checks, graph, [WAYS[0], WAYS[2], WAYS[4]],
               ["--precision=bf16", "--master-weights=none", "--state-precision=8bit"])
    llama = graph_of(data, "llama-tiny", work / "llama-tiny")
    check_bits(checks, llama, [WAYS[0], WAYS[1], WAYS[5]], [])
    check_bytes(checks, graph)
    check_errors(checks, graph)
    checks.finish()


main()
