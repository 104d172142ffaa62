"""Trains joint graphs of torch-mlir with Zero's AdamW, and compares with PyTorch.

usage: check_joint.py DATA WORK GRAPH...

Limits: ten updates within 1e-3 of the losses, gradients within 1e-4. Stages, disks and checkpoints
leave the bits as they are.
"""

import sys

import numpy as np

from programs import Joint
from whole_step import check_certificate, check_gradients, check_stages, check_tiers
from zero_test import Checks, check_refused


def check_options(checks, step):
    """Two equal micro-batches have the gradient of one; clipping below the norm has an effect."""
    losses, _ = step.train(2, "--zero-stage=2")
    halves, _ = step.train(2, "--zero-stage=2", micro_batches=2)
    checks.that(np.allclose(halves, losses, rtol=1e-5), f"{step.name} micro-batches: {halves}")
    clipped, _ = step.train(2, "--zero-stage=2", "--clip-norm=1e-4")
    checks.that(not np.allclose(clipped, losses, rtol=1e-4), f"{step.name}: no effect of the limit")
    step.flags.remove("--optimizer=adamw")
    lamb, _ = step.train(2, "--zero-stage=3", "--optimizer=lamb")
    step.flags.append("--optimizer=adamw")
    checks.that(lamb[-1] < lamb[0], f"{step.name}: LAMB does not train: {lamb}")


def check_errors(checks, step):
    refused = {
        "--precision=bf16": "a joint graph: the model has its own gradients",
        "--freeze=m.fc1*": "a joint graph: the model returns the gradients of what it trains",
        "--loss-mean=local": "a joint graph: the model computes the gradient of its own mean",
        "--shape=x=4": "it is a flag of huggingface or onnx",
        "--tie=m.fc1.bias=m.fc2.bias": "expected one type",
        "--tie=nothing=m.fc2.bias": "expected two arguments A=B",
        "--zeros=nothing*": "matches no carried input",
        "--roles=missing.json": "cannot read it",
        "--loss=nothing": "expected a result of one float, got none of this name",
    }
    for flag, words in refused.items():
        name = flag.split("=")[0]
        flags = [given for given in step.flags if not given.startswith(name + "=")]
        check_refused(checks, flag, [words], "zeroc", step.model, *flags, flag, "-o",
                      step.work / "refused.zexe")


def main():
    data, work, *names = sys.argv[1:]
    checks = Checks()
    for name in names:
        step = Joint(data, name, f"{work}/{name}")
        check_stages(checks, step)
        check_tiers(checks, step)
        check_certificate(checks, step)
        check_gradients(checks, step)
        if name == "mlp":
            check_options(checks, step)
            check_errors(checks, step)
    checks.finish()


if __name__ == "__main__":
    main()
