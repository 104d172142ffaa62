"""A step of 4 micro-batches equals a step with a batch of 4 times the size, or with 4 times the
ranks, within the rounding of fp32. Ignored labels and masks of Dropout are included.

usage: check_micro_batches.py DATA WORK
"""

import sys
from pathlib import Path

import numpy as np
from check_batch import IGNORED

from zero_test import Checks, Graph, check_refused, relative

MICRO_BATCHES, STEPS, ROUNDING = 4, 5, 3e-6
SGD = ["--optimizer=sgd", "--lr=0.05", "--momentum=0.9"]
# Adam turns the rounding of such small gradients into steps; a larger epsilon damps them.
ADAMW = ["--optimizer=adamw", "--lr=1e-3", "--eps=1e-4", "--weight-decay=0.01", "--clip-norm=0.3"]
# When gradients are reduced: stages 0 and 1 at the end or each time, higher stages each time.
PLACES = ((0, ["--grad-reduce=last"]), (1, ["--grad-reduce=each"]), (2, []), (3, []))


class BatchGraph(Graph):
    """A graph with other samples than those of its ground truth."""

    def __init__(self, data, work, name, samples, truth=None):
        super().__init__(data, truth or name, work)
        self.folder = Path(data) / name
        self.inputs = samples
        self.write_inputs()

    def train(self, stage, ranks, micro_batches, flags):
        """The samples of a step do not depend on how it is split."""
        executable = self.compile(stage, ranks, *flags, f"--micro-batches={micro_batches}")
        return self.run(executable, STEPS)

    def shape_of(self, rows):
        return "--shape=" + ",".join(f"{key}={'x'.join(map(str, (rows, *value.shape[1:])))}"
                                     for key, value in self.inputs.items())


def token_samples(rows, ignore):
    """Tokens. With `ignore`, there are rows that keep none, one, some or all of their labels."""
    random = np.random.RandomState(5)
    tokens = random.randint(0, 512, (rows, 32))
    labels = tokens.copy()
    if ignore:
        kept = random.randint(0, 32, (rows, 1))
        labels[np.arange(32) > kept] = IGNORED
        labels[0] = tokens[0]
        labels[1::4] = IGNORED
    return {"input_ids": tokens, "labels": labels}


def mlp_samples(rows):
    random = np.random.RandomState(6)
    return {"x": random.standard_normal((rows, 784)).astype(np.float32),
            "labels": random.randint(0, 10, rows)}


def check_same(checks, label, result, expected):
    error = np.max(np.abs(result.losses / expected.losses - 1))
    checks.that(error <= ROUNDING, f"{label}: losses off by {error:.1e}")
    checks.that(result.gradients.keys() == expected.gradients.keys(), f"{label}: gradients' names")
    for name, gradient in expected.gradients.items():
        error = relative(result.gradients[name], gradient)
        # The gradient of a key's bias is zero except for rounding.
        checks.that(error <= ROUNDING or name.endswith("attn.c_attn.bias"),
                    f"{label}: gradient of {name} off by {error:.1e}")
    for name, weight in expected.weights.items():
        error = relative(result.weights[name], weight)
        checks.that(error <= ROUNDING, f"{label}: {name} off by {error:.1e}")


def check_one_batch(checks, graph, rows, flags):
    """Compares with one batch of `rows` rows on one rank."""
    whole = graph.train(0, 1, 1, [*flags, graph.shape_of(rows)])
    for ranks in (1, 2):
        shape = graph.shape_of(rows // (ranks * MICRO_BATCHES))
        for stage, place in PLACES:
            result = graph.train(stage, ranks, MICRO_BATCHES, [*flags, *place, shape])
            check_same(checks, f"{graph.work.name} at stage {stage} on {ranks} {place}", result,
                       whole)
    return whole


def check_ranks(checks, graph, flags):
    """A graph with a fixed batch: compares 4 micro-batches on one rank, 2 on each of 2 ranks, and 1
    on each of 4 ranks."""
    whole = graph.train(2, MICRO_BATCHES, 1, flags)
    for ranks in (1, 2):
        result = graph.train(2, ranks, MICRO_BATCHES // ranks, flags)
        check_same(checks, f"{graph.work.name} on {ranks} ranks", result, whole)


def check_no_labels(checks, graph):
    """A step without labels in any micro-batch is an error, as without micro-batches."""
    graph.set_input("labels", np.full_like(graph.inputs["labels"], IGNORED))
    executable = graph.compile(3, 2, *SGD, graph.shape_of(1), f"--micro-batches={MICRO_BATCHES}")
    check_refused(checks, "no labels at all", ["step 0", "no valid label"], "zero-run", executable,
                  graph.data_flag)


def check_statistics(checks, data, work):
    """Running statistics continue from micro-batch to micro-batch: with a rate of 0, one step of
    two micro-batches is bitwise identical to two steps of one."""
    graph = Graph(data, "resnet-tiny", work)
    flags = ["--optimizer=sgd", "--lr=0"]
    random = np.random.default_rng(5)
    for name, value in list(graph.inputs.items()):
        graph.set_input(name, random.choice(value.reshape(-1), (2 * len(value), *value.shape[1:])))
    steps = graph.run(graph.compile(0, 1, *flags), 2).weights
    for stage, extra in ((0, ["--grad-reduce=last"]), (2, []), (3, [])):
        once = graph.run(graph.compile(stage, 1, *flags, *extra, "--micro-batches=2"), 1).weights
        changed = [name for name in steps if steps[name].tobytes() != once[name].tobytes()]
        checks.that(not changed, f"statistics at stage {stage}: {changed} differ")
    start = graph.run(graph.compile(0, 1, *flags), 1).weights
    checks.that(any(start[name].tobytes() != steps[name].tobytes() for name in steps),
                "the statistics do not move")


def main():
    data, work = sys.argv[1:]
    checks = Checks()
    rows = 8
    mlp = BatchGraph(data, f"{work}/mlp", "mlp-dynbatch", mlp_samples(STEPS * rows))
    check_one_batch(checks, mlp, rows, ADAMW)
    name = "gpt2-tiny-dyn"
    plain = BatchGraph(data, f"{work}/gpt2", name, token_samples(STEPS * rows, False))
    ignored = BatchGraph(data, f"{work}/ignored", name, token_samples(STEPS * rows, True))
    losses = [check_one_batch(checks, graph, rows, flags).losses
              for graph, flags in ((plain, SGD), (ignored, ADAMW))]
    checks.that(abs(losses[0][0] - losses[1][0]) > 1e-4, "ignored labels changed nothing")
    check_no_labels(checks, ignored)
    llama = BatchGraph(data, f"{work}/llama", "llama-tiny", token_samples(STEPS * 16, True))
    check_ranks(checks, llama, SGD)
    dropout = BatchGraph(data, f"{work}/dropout", "mlp-dropout", mlp_samples(STEPS * 128), "mlp")
    check_ranks(checks, dropout, SGD)
    check_statistics(checks, data, f"{work}/resnet")
    checks.finish()


if __name__ == "__main__":
    main()
