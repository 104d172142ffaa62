"""The vertical order of micro-batches gives the bits of the horizontal order, and fetches parameters
once a step instead of once for each micro-batch.

usage: check_vertical.py DATA WORK
"""

import json
import sys

import numpy as np
from check_micro_batches import BatchGraph, mlp_samples, token_samples

from zero_test import Checks, Graph, run_tool

STEPS = 3
RATE = ["--lr=1e-3", "--weight-decay=0.01"]
VERTICAL = "--micro-batch-order=vertical"
# Small buckets: each part of the step reads few parameters.
BUCKETS = "--bucket-bytes=20KB"
OFFLOAD = ["--offload-params=nvme", "--offload-optimizer=nvme", "--offload-gradients=host"]
# Stage, and flags of both orders. In horizontal order stages 2 and 3 reduce each micro-batch.
SETTINGS = (
    (0, []),
    (1, ["--precision=bf16"]),
    (1, ["--grad-reduce=each"]),
    (2, ["--grad-reduce=each", "--clip-norm=0.3"]),
    (3, ["--grad-reduce=each", "--precision=bf16"]),
    (3, ["--grad-reduce=each", "--precision=fp16", "--clip-norm=0.3"]),
    (3, ["--grad-reduce=each", "--checkpoint=layer"]),
    (3, ["--grad-reduce=each", "--checkpoint=sqrt", "--offload-activations=host"]),
    (3, ["--grad-reduce=each", *OFFLOAD]),
    (3, ["--grad-reduce=each", *OFFLOAD, "--clip-norm=0.3", "--offload-activations=nvme"]),
    (3, ["--grad-reduce=each", "--optimizer=lamb"]),
    (3, ["--grad-reduce=each", "--optimizer=adafactor"]),
)


def horizontal(stage, flags):
    """The flags of the same computation in horizontal order."""
    return [flag for flag in flags if stage < 2 or flag != "--grad-reduce=each"]


def train(graph, stage, ranks, flags):
    """Losses, weights, gradients unless updates consume them during backward, and the report."""
    log, weights, gradients, report = (graph.work / name for name in (
        "log.jsonl", "weights.safetensors", "gradients.safetensors", "report.json"))
    executable = graph.compile(stage, ranks, *flags)
    dump = [] if "--offload-optimizer=nvme" in flags else [f"--dump-gradients={gradients}"]
    run_tool("zero-run", executable, graph.data_flag, f"--steps={STEPS}", "--quiet",
             f"--log={log}", f"--save={weights}", f"--report-json={report}",
             f"--nvme-dir={graph.work}", *dump)
    return (log.read_bytes(), weights.read_bytes(), gradients.read_bytes() if dump else b"",
            json.loads(report.read_text()))


def check_bits(checks, graph, stage, ranks, micro_batches, flags):
    label = f"{graph.name} stage {stage}, {ranks} ranks, {micro_batches} micro-batches, {flags}"
    flags = [*RATE, f"--micro-batches={micro_batches}", BUCKETS, *flags]
    expected = train(graph, stage, ranks, horizontal(stage, flags))
    result = train(graph, stage, ranks, [*flags, VERTICAL])
    for what, a, b in zip(("losses", "weights", "gradients"), expected, result):
        checks.that(a == b, f"{label}: other {what}")


def check_settings(checks, data, work):
    name = "gpt2-tiny-dyn"
    graph = BatchGraph(data, f"{work}/{name}", name, token_samples(STEPS * 24, True))
    for stage, flags in SETTINGS:
        for ranks, micro_batches in ((1, 3), (2, 2)):
            shape = graph.shape_of(2)
            check_bits(checks, graph, stage, ranks, micro_batches, [*flags, shape])


def check_models(checks, data, work):
    """A norm with statistics, dropout, ignored labels, grouped heads."""
    resnet = Graph(data, "resnet-tiny", f"{work}/resnet")
    random = np.random.default_rng(5)
    for name, value in list(resnet.inputs.items()):
        resnet.set_input(name, random.choice(value.reshape(-1),
                                             (6 * STEPS * len(value), *value.shape[1:])))
    dropout = BatchGraph(data, f"{work}/dropout", "mlp-dropout", mlp_samples(STEPS * 192), "mlp")
    llama = BatchGraph(data, f"{work}/llama", "llama-tiny", token_samples(STEPS * 24, True))
    for graph in (resnet, dropout, llama):
        for stage, flags in ((0, []), (3, ["--grad-reduce=each"])):
            check_bits(checks, graph, stage, 2, 3, flags)


def check_evaluation(checks, data, work):
    """An evaluation reads the same rows in both orders."""
    name = "gpt2-tiny-dyn"
    graph = BatchGraph(data, f"{work}/evaluation", name, token_samples(STEPS * 8, True))
    losses = []
    for order in ([], [VERTICAL]):
        flags = [*RATE, "--micro-batches=2", BUCKETS, graph.shape_of(2), *order]
        executable = graph.compile(3, 2, *flags)
        report = graph.work / "report.json"
        run_tool("zero-run", executable, graph.data_flag, f"--steps={STEPS}", "--eval-every=1",
                 graph.data_flag.replace("--data", "--eval-data"), f"--report-json={report}")
        evaluations = json.loads(report.read_text())["evaluations"]
        losses.append([result["eval_loss"] for result in evaluations])
    checks.that(len(losses[0]) == STEPS, f"evaluations: {losses[0]}")
    # The sums over ranks of a micro-batch are rounded in another order.
    checks.that(np.allclose(losses[0], losses[1], rtol=1e-6), f"evaluations: {losses}")


def check_fetches(checks, data, work):
    """Parameters are read from the disk and gathered as often as for one micro-batch."""
    name = "gpt2-tiny-dyn"
    graph = BatchGraph(data, f"{work}/fetches", name, token_samples(STEPS * 16, False))
    reads, received = {}, {}
    for micro_batches in (1, 4):
        for order in ([], [VERTICAL]) if micro_batches > 1 else ([],):
            flags = [*RATE, f"--micro-batches={micro_batches}", BUCKETS, graph.shape_of(2), *order]
            key = (micro_batches, bool(order))
            result = train(graph, 3, 2, [*flags, "--offload-params=nvme"])
            rank = result[-1]["per_rank"][0]
            reads[key], received[key] = rank["nvme_read"], rank["received_elements"]
    # Beside the fetches, an update reads its parameters once.
    checks.that(reads[4, True] == reads[1, False] < reads[4, False], f"reads: {reads}")
    checks.that(received[4, True] == received[1, False], f"received: {received}")


def check_planner(checks, data, work):
    """With --micro-batch-order=auto, a slow disk and much memory the planner takes the vertical
    order."""
    name = "gpt2-tiny-dyn"
    graph = BatchGraph(data, f"{work}/planner", name, token_samples(STEPS * 16, False))
    graph.compile(3, 2, *RATE, "--micro-batches=4", BUCKETS, graph.shape_of(2),
                  "--offload-params=nvme", "--disk-read=100MB", "--micro-batch-order=auto",
                  "--memory-budget=1GiB")
    checks.that("vertical order" in graph.report, "the planner's order is not vertical")


def main():
    data, work = sys.argv[1:]
    checks = Checks()
    check_settings(checks, data, work)
    check_models(checks, data, work)
    check_evaluation(checks, data, work)
    check_fetches(checks, data, work)
    check_planner(checks, data, work)
    checks.finish()


if __name__ == "__main__":
    main()
