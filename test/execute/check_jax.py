"""Trains whole steps of JAX in StableHLO, and compares losses with JAX's.

usage: check_jax.py DATA WORK GRAPH...

Limit: ten updates within 1e-3 of the losses. Stages, disks and checkpoints leave the bits as they
are.
"""

import json
import sys

import numpy as np

from programs import JaxStep
from whole_step import check_certificate, check_stages, check_tiers
from zero_test import Checks, check_refused, run_tool


def check_options(checks, step):
    losses, _ = step.train(2, "--zero-stage=2")
    halves, _ = step.train(2, "--zero-stage=2", micro_batches=2)
    checks.that(np.allclose(halves, losses, rtol=1e-5), f"{step.name} micro-batches: {halves}")
    clipped, _ = step.train(2, "--zero-stage=2", "--clip-norm=1e-4")
    checks.that(not np.allclose(clipped, losses, rtol=1e-4), f"{step.name}: no effect of the limit")


def check_names(checks, data, work):
    """With a list of its arguments the state has the paths of JAX's tree; --zeros names begin as
    zero."""
    roles = f"{data}/stablehlo/jax-mlp/args.json"
    step = JaxStep(data, "jax-mlp", work, [f"--roles={roles}"])
    names = {f"arg{entry['arg']}": entry["name"] for entry in json.loads(open(roles).read())}
    weights = np.load(step.work / "weights.npz")
    # [0] are the parameters, [1] and [2] states of AdamW, [3] is the counter.
    np.savez(step.work / "weights.npz", **{names[name]: weights[name] for name in weights.files
                                           if names[name].startswith("[0]")})
    step.inputs = {names[name]: value for name, value in step.inputs.items()}
    step.flags.append("--zeros=\\[1\\]*,\\[2\\]*,\\[3\\]")
    losses, _ = step.train(2, "--zero-stage=3")
    error = np.max(np.abs(losses / step.losses - 1))
    checks.that(error <= 1e-3, f"names of the tree: losses off by {error:.2e}")


def check_errors(checks, step):
    data = step.data_flag(1)
    check_refused(checks, "no weights", ["without an initial value", "'arg0'"], "zero-run",
                  step.compile("--ranks=1"), data, "--quiet")
    refused = {
        "--optimizer=sgd": "has its own update", "--lr=1e-3": "constant of the graph",
        "--carry=arg19=result[4]": "to have one type",
        "--loss=result[3]": "expected a result of one float",
    }
    for flag, words in refused.items():
        check_refused(checks, flag, [words], "zeroc", step.model, flag, "-o",
                      step.work / "refused.zexe")


def check_sharded(checks, data, work):
    """A step whose data is sharded has one batch for all ranks and micro-batches."""
    step = JaxStep(data, "jax-sharded", work)
    whole = step.data_flag(1)
    step.data_flag = lambda copies: whole
    check_stages(checks, step)
    losses, _ = step.train(2, "--zero-stage=3", micro_batches=2)
    checks.that(np.allclose(losses, step.losses, rtol=1e-5), f"micro-batches: {losses}")
    check_refused(checks, "three ranks", ["expected a batch that 3 ranks and micro-batches divide"],
                  "zeroc", step.model, "--ranks=3", "-o", step.work / "refused.zexe")


def check_zero_opt(checks, step):
    """zero-opt partitions a program as it does a model."""
    text = run_tool("zero-opt", step.model, "--zero-stage=3", "--ranks=4")
    checks.that("zero.all_gather" in text and "stablehlo" not in text, "zero-opt: not partitioned")


def main():
    data, work, *names = sys.argv[1:]
    checks = Checks()
    if names == ["jax-sharded"]:
        check_sharded(checks, data, work)
        names = []
    for name in names:
        step = JaxStep(data, name, f"{work}/{name}")
        check_stages(checks, step)
        # Two layers whose first parts differ are no repetition.
        check_tiers(checks, step, ["recomputed"] if name == "jax-gpt-tiny" else [])
        check_certificate(checks, step)
        if name == "jax-mlp":
            check_options(checks, step)
            check_names(checks, data, f"{work}/names")
            check_errors(checks, step)
            check_zero_opt(checks, step)
    checks.finish()


if __name__ == "__main__":
    main()
