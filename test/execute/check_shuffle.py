"""Shuffling: each epoch reads each sample once, the same way on any number of ranks.

usage: check_shuffle.py DATA WORK
"""

import json
import sys

import numpy as np

from zero_test import Checks, Graph, check_refused, run_tool

LOCAL = {1: 6, 2: 3, 3: 2, 6: 1}  # rows on each rank
ROWS = 27  # four global batches of 6; 3 rows are skipped


class Trial:
    """A classifier whose loss identifies the samples."""

    def __init__(self, data, work):
        self.graph = Graph(data, "mlp-dynbatch", work)
        random = np.random.default_rng(2)
        self.rows = {name: random.permuted(np.tile(value, (2,) + (1,) * (value.ndim - 1)).reshape(-1))
                     .reshape(2 * len(value), *value.shape[1:])[:ROWS]
                     for name, value in self.graph.inputs.items()}
        for name, value in self.rows.items():
            np.save(self.graph.work / f"{name}.npy", value)
        self.executables = {ranks: self.compile(ranks) for ranks in LOCAL}

    def compile(self, ranks):
        shapes = ",".join(f"{name}={'x'.join(map(str, (LOCAL[ranks], *value.shape[1:])))}"
                          for name, value in self.rows.items())
        return self.graph.compile(1, ranks, "--optimizer=sgd", f"--shape={shapes}")

    def losses(self, ranks, *flags, lr=0):
        log = self.graph.work / "log.jsonl"
        run_tool("zero-run", self.executables[ranks], self.graph.data_flag, "--quiet",
                 f"--lr={lr}", f"--log={log}", *flags)
        return np.array([json.loads(line)["loss"] for line in log.read_text().splitlines()])


def check_order(checks, trial):
    """At a learning rate of 0 the loss of a step is the mean over its samples."""
    single = Graph.compile(trial.graph, 0, 1, "--optimizer=sgd", "--shape=" + ",".join(
        f"{name}={'x'.join(map(str, (1, *value.shape[1:])))}"
        for name, value in trial.rows.items()))
    trial.executables[0] = single
    each = trial.losses(0, "--epochs=1")
    checks.that(len(each) == ROWS, f"an epoch of single samples has {len(each)} steps")
    shuffled = trial.losses(0, "--epochs=2", "--shuffle=5").reshape(2, ROWS)
    for epoch, got in enumerate(shuffled):
        checks.that(np.array_equal(np.sort(got), np.sort(each)), f"epoch {epoch} misses samples")
        checks.that(not np.array_equal(got, each), f"epoch {epoch} is in order")
    checks.that(not np.array_equal(*shuffled), "both epochs have the same order")
    other = trial.losses(0, "--epochs=1", "--shuffle=6")
    checks.that(not np.array_equal(other, shuffled[0]), "another seed has the same order")
    # A batch of six has the six samples that single steps read, for any number of ranks.
    for ranks in LOCAL:
        got = trial.losses(ranks, "--epochs=2", "--shuffle=5")
        checks.that(len(got) == 8, f"{ranks} ranks: two epochs have {len(got)} steps")
        expected = shuffled[:, :24].reshape(8, 6).mean(axis=1)
        checks.that(np.allclose(got, expected, rtol=2e-6, atol=0),
                    f"{ranks} ranks: {got}, expected {expected}")
        ordered = trial.losses(ranks, "--steps=5")
        expected = each[np.arange(30).reshape(5, 6) % 24].mean(axis=1)
        checks.that(np.allclose(ordered, expected, rtol=2e-6, atol=0),
                    f"{ranks} ranks in order: {ordered}, expected {expected}")


def check_repeats(checks, trial):
    again = [trial.losses(2, "--epochs=3", "--shuffle=9", lr=0.1) for _ in range(2)]
    checks.that(np.array_equal(*again), "a seed does not repeat its run")


def check_errors(checks, trial):
    small = trial.graph.work / "small"
    small.mkdir(exist_ok=True)
    for name, value in trial.rows.items():
        np.save(small / f"{name}.npy", value[:5])
    data = "--data=" + ",".join(f"{name}={small / name}.npy" for name in trial.rows)
    check_refused(checks, "epochs of less than a batch", ["--epochs", "batches of 6", "has 5"],
                  "zero-run", trial.executables[1], data, "--epochs=2")
    check_refused(checks, "steps and epochs", ["--steps or --epochs"],
                  "zero-run", trial.executables[1], data, "--epochs=2", "--steps=2")
    text = run_tool("zero-run", trial.executables[2], trial.graph.data_flag, "--epochs=1",
                    "--shuffle=5")
    checks.that("27 samples, shuffled with seed 5; an epoch is 4 steps of 6 and omits 3"
                in text, f"not said what is left out: {text}")


def main():
    data, work = sys.argv[1:]
    checks = Checks()
    trial = Trial(data, work)
    for check in (check_order, check_repeats, check_errors):
        check(checks, trial)
    checks.finish()


if __name__ == "__main__":
    main()
