"""A step whose gradients overflow in f16 on one rank changes nothing on any rank: not the weights,
the moments, Adam's powers or the schedule. The loss scale halves, and training continues. Steps
without overflow double it.

usage: check_overflow.py DATA WORK

The overflow comes from the data: rows that are 10,000 times as large give a finite loss and
gradients that, times the scale, exceed f16.
"""

import sys

import numpy as np
from check_optimizers import NAMES, loss_and_gradients

from zero_test import Checks, Failed, Graph

BATCH, SCALE, WINDOW, FACTOR = 32, 4096, 3, 1e4
F16_MAX = 65504
FLAGS = ["--precision=fp16", "--optimizer=adamw", "--lr=1e-3", "--weight-decay=0.01",
         "--clip-norm=1", "--lr-schedule=linear", "--warmup-steps=2", "--total-steps=12"]
DYNAMIC = [f"--initial-loss-scale={SCALE}", f"--loss-scale-window={WINDOW}"]


def make_steps(count, parts):
    """x and labels by step, part of the global batch, row."""
    random = np.random.RandomState(7)
    return {"x": random.random_sample((count, parts, BATCH, 784)).astype(np.float32),
            "labels": random.randint(0, 10, (count, parts, BATCH))}


class OverflowGraph(Graph):
    """The mlp on samples of which some parts are too large."""

    def __init__(self, data, work, ranks, micro_batches=1):
        super().__init__(data, "mlp", work)
        self.ranks, self.micro_batches = ranks, micro_batches

    def train(self, stage, steps, bad, *flags):
        """Trains on the given steps. `bad` lists the (step, part) pairs to make too large."""
        x = steps["x"].copy()
        for step, part in bad:
            x[step, part] *= np.float32(FACTOR)
        self.inputs = {"x": x.reshape(-1, 784), "labels": steps["labels"].reshape(-1)}
        self.write_inputs()
        executable = self.compile(stage, self.ranks, f"--micro-batches={self.micro_batches}",
                                  *FLAGS, *flags)
        return self.run(executable, len(x))


def check_premise(checks, graph, steps):
    """Checks the assumptions of the other checks with NumPy in fp64: the gradients of a good part
    fit into f16, those of a bad part do not, and everything that forward computes does."""
    executable = graph.compile(0, graph.ranks, "--optimizer=sgd")
    weights = {k: v.astype(np.float64) for k, v in graph.run(executable, 1, "--lr=0").weights.items()}
    x, labels = steps["x"][0, 0].astype(np.float64), steps["labels"][0, 0]
    share = SCALE / (graph.ranks * graph.micro_batches)
    for factor, fits in ((1, True), (FACTOR, False)):
        loss, gradients = loss_and_gradients(weights, x * factor, labels)
        largest = max(np.abs(gradients[name]).max() for name in NAMES) * share
        checks.that((largest < F16_MAX / 4) == fits and (largest < F16_MAX * 4) == fits,
                    f"rows times {factor}: gradients of {largest:.0f} times the scale")
        hidden = np.abs(x * factor @ weights["fc1.weight"].T).max()
        checks.that(hidden < F16_MAX / 2 and np.isfinite(loss), f"forward overflows: {hidden}")


def check_report(checks, label, report, scales, skipped):
    checks.that(list(map(bool, report["skipped"])) == list(map(bool, skipped)),
                f"{label}: skipped {report['skipped']}, expected {skipped}")
    checks.that(report["loss_scale"] == scales,
                f"{label}: loss scales {report['loss_scale']}, expected {scales}")


def doubling(first, steps):
    """The scales of steps without overflow."""
    return [first * 2 ** (step // WINDOW) for step in range(steps)]


def check_first_step(checks, graph, stage, part):
    """An overflow in the first step: the steps after it are bitwise identical to training that
    starts with them at half the scale."""
    label = f"stage {stage} on {graph.ranks}, {graph.micro_batches} micro-batches, part {part}"
    steps = make_steps(8, graph.ranks * graph.micro_batches)
    result = graph.train(stage, steps, [(0, part)], *DYNAMIC)
    later = {key: value[1:] for key, value in steps.items()}
    clean = graph.train(stage, later, [], f"--initial-loss-scale={SCALE // 2}", DYNAMIC[1])
    check_report(checks, f"{label}, clean", clean.report, doubling(SCALE // 2, 7), [0] * 7)
    check_report(checks, label, result.report, [SCALE, *doubling(SCALE // 2, 7)], [1] + [0] * 7)
    checks.that(np.all(np.isfinite(result.losses)), f"{label}: losses are {result.losses}")
    checks.that(np.array_equal(result.losses[1:], clean.losses), f"{label}: other losses")
    rates, norms = (result.report[key] for key in ("learning_rate", "gradient_norm"))
    checks.that(rates == [clean.report["learning_rate"][0], *clean.report["learning_rate"]],
                f"{label}: the schedule went on: {rates}")
    checks.that(norms[1:] == clean.report["gradient_norm"], f"{label}: other norms: {norms}")
    checks.that(result.weights.keys() == clean.weights.keys(), f"{label}: weights' names")
    for name, weight in clean.weights.items():
        checks.that(result.weights[name].tobytes() == weight.tobytes(), f"{label}: {name} differs")
        checks.that(np.all(np.isfinite(weight)), f"{label}: {name} is not finite")
    return result


def check_weights_stay(checks, graph, stage):
    """An overflow after good steps leaves the weights unchanged. The scale halves from its current
    value."""
    label = f"stage {stage} on {graph.ranks}, step {WINDOW}"
    steps = make_steps(WINDOW + 2, graph.ranks)
    before = graph.train(stage, {k: v[:WINDOW] for k, v in steps.items()}, [], *DYNAMIC)
    bad = graph.train(stage, {k: v[:WINDOW + 1] for k, v in steps.items()}, [(WINDOW, 0)], *DYNAMIC)
    after = graph.train(stage, steps, [(WINDOW, 0)], *DYNAMIC)
    for name, weight in before.weights.items():
        checks.that(bad.weights[name].tobytes() == weight.tobytes(), f"{label}: {name} changed")
        checks.that(after.weights[name].tobytes() != weight.tobytes(), f"{label}: {name} stays")
    check_report(checks, label, after.report, [SCALE] * WINDOW + [2 * SCALE, SCALE],
                 [0] * WINDOW + [1, 0])


def check_scales(checks, graph):
    """Options of the loss scale: halving after two overflows, and a fixed scale. With the smallest
    scale an overflow is an error."""
    steps = make_steps(4, graph.ranks)
    bad = [(0, 1), (1, 1)]
    for flags, scales in (
            (DYNAMIC, [SCALE, SCALE // 2, SCALE // 4, SCALE // 4]),
            ([*DYNAMIC, "--loss-scale-hysteresis=2"], [SCALE, SCALE, SCALE // 2, SCALE // 2]),
            ([f"--loss-scale={SCALE}"], [SCALE] * 4)):
        result = graph.train(3, steps, bad, *flags)
        check_report(checks, f"{flags}", result.report, scales, [1, 1, 0, 0])
    try:
        graph.train(3, steps, bad, *DYNAMIC, f"--min-loss-scale={SCALE // 2}")
        message = "no error"
    except Failed as error:
        message = str(error)
    checks.that("step 1: " in message and "overflow even with the minimum loss scale" in message,
                f"an overflow with the smallest scale: {message}")


def main():
    data, work = sys.argv[1:]
    checks = Checks()
    two = OverflowGraph(data, f"{work}/two", 2)
    check_premise(checks, two, make_steps(1, 2))
    results = [check_first_step(checks, two, stage, 1) for stage in range(4)]
    checks.that(all(r.same_bits(results[0]) for r in results), "bits differ between stages")
    # Micro-batch 0 of rank 1; each rank has 2.
    check_first_step(checks, OverflowGraph(data, f"{work}/micro", 2, 2), 2, 1)
    check_first_step(checks, OverflowGraph(data, f"{work}/three", 3), 3, 2)
    check_weights_stay(checks, two, 1)
    check_scales(checks, two)
    checks.finish()


if __name__ == "__main__":
    main()
