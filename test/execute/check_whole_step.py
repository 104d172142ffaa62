"""Trains graphs that are whole training steps, and compares losses with PyTorch's.

usage: check_whole_step.py DATA WORK GRAPH...

Limit: ten updates within 1e-3 of the losses. Stages, micro-batches' share, disks and checkpoints
leave the bits as they are.
"""

import sys
from pathlib import Path

import numpy as np
import onnx

from whole_step import (WholeStep, check_certificate, check_gradients, check_stages, check_tiers,
                        write_forward_weights)
from zero_test import Checks, Failed, check_refused, run_tool

STATE = ["--carry=*=*.new", "--zeros=*.exp_avg,*.exp_avg_sq,step"]


def load_step(data, name, work):
    """A step of test/data/whole-step with the parameters and the batch of its forward graph."""
    model, weights = Path(data) / "whole-step" / f"{name}.onnx", Path(work) / "weights.npz"
    step = WholeStep(data, name, work, model, STATE, [f"--weights={weights}"])
    write_forward_weights(data, name, model, weights)
    return step


def check_micro_batches(checks, step):
    """Two equal micro-batches have the gradient of one; a limit that nothing reaches has no effect,
    and one below the norm has."""
    losses, _ = step.train(2, "--zero-stage=2")
    for order in ("horizontal", "vertical"):
        got, _ = step.train(2, "--zero-stage=2", f"--micro-batch-order={order}", micro_batches=2)
        checks.that(np.allclose(got, losses, rtol=1e-5), f"{step.name} micro-batches: {got}")
    free, _ = step.train(2, "--zero-stage=2", "--clip-norm=1e9")
    checks.that(np.allclose(free, losses, rtol=1e-6), f"{step.name}: not clipped, but {free}")
    clipped, _ = step.train(2, "--zero-stage=2", "--clip-norm=1e-4")
    checks.that(not np.allclose(clipped, losses, rtol=1e-4), f"{step.name}: no effect of the limit")


def check_zeros(checks, step, data):
    """A parameter of --zeros need not be in the file of weights; the others must be."""
    weights = dict(np.load(step.work / "weights.npz"))
    some, full = step.work / "some.npz", step.work / "full.npz"
    bias = weights.pop("fc1.bias")
    np.savez(some, **weights)
    np.savez(full, **weights, **{"fc1.bias": np.zeros_like(bias)})
    flags = [STATE[0], STATE[1] + ",fc1.bias"]
    own = WholeStep(data, step.name, step.work, step.model, flags, [f"--weights={some}"])
    given = WholeStep(data, step.name, step.work, step.model, STATE, [f"--weights={full}"])
    (first, trained), (losses, same) = own.train(2, steps=2), given.train(2, steps=2)
    checks.that(np.array_equal(first, losses) and trained == same, f"{first}, not {losses}")
    check_refused(checks, "missing", ["1 missing: 'fc1.bias'"], "zero-run",
                  step.compile("--ranks=1"), step.data_flag(1), f"--weights={some}", "--quiet")


def check_errors(checks, step):
    data = step.data_flag(1)
    check_refused(checks, "no weights", ["without an initial value", "'fc1.weight'", "--weights"],
                  "zero-run", step.compile("--ranks=1"), data, "--quiet")
    check_refused(checks, "inputs", ["save as .safetensors", "they are inputs of the model"],
                  "zero-run", step.compile("--ranks=1"), data, f"--save={step.work / 'out.onnx'}")
    refused = {
        "--optimizer=sgd": "has its own update", "--betas=0.9,0.99": "has its own update",
        "--precision=bf16": "has its own gradients", "--lr=1e-3": "constant of the graph",
        "--freeze=fc1*": "trains what it carries", "--tile-params-over=1KB": "whole parameters",
    }
    for flag, words in refused.items():
        check_refused(checks, flag, [flag, words], "zeroc", step.model, *STATE, flag, "-o",
                      step.work / "refused.zexe")
    carried = {
        "--carry=x=nothing": "no output 'nothing'", "--carry=*.a=*.b": "matches no input",
        "--carry=fc1.weight=fc1.bias.new --loss=loss":
            "state 'fc1.weight': expected a new value of its own type, float [128,784], got float "
            "[128] in 'fc1.bias.new'",
        "--carry=*=*.new --forward-only": "a whole training step updates its state",
        "--loss=loss": "pair them with --carry=INPUT=OUTPUT",
        "--carry=fc1.weight": "expected INPUT=OUTPUT", "--carry=a*b*=c": "or one on each side",
        "--carry=@missing.txt": "cannot read 'missing.txt'",
    }
    for flags, words in carried.items():
        try:
            run_tool("zeroc", step.model, *flags.split(), "-o", step.work / "refused.zexe")
            checks.that(False, f"{flags}: not refused")
        except Failed as error:
            checks.that(words in str(error), f"{flags}: {error}")
    check_refused(checks, "zeros", ["matches no carried input"], "zeroc", step.model, STATE[0],
                  "--zeros=nothing*", "-o", step.work / "refused.zexe")
    pairs = step.work / "pairs.txt"
    names = [o.name for o in onnx.load(step.model).graph.output if o.name != "loss"]
    pairs.write_text("# state\n" + "".join(f"{n.removesuffix('.new')}={n}\n" for n in names))
    run_tool("zeroc", step.model, f"--carry=@{pairs}", "-o", step.work / "listed.zexe")


def check_untyped(checks, step):
    """State is a tensor whose type the model declares."""
    for label in ("no type", "no shape"):
        model = onnx.load(step.model)
        kind = next(i for i in model.graph.input if i.name == "fc1.bias").type
        if label == "no type":
            kind.Clear()
        else:
            kind.tensor_type.ClearField("shape")
        path = step.work / "untyped.onnx"
        path.write_bytes(model.SerializeToString())
        check_refused(checks, label, ["'fc1.bias': expected a tensor with element type and shape"],
                      "zeroc", path, *STATE, "-o", step.work / "refused.zexe")


def main():
    data, work, *names = sys.argv[1:]
    checks = Checks()
    for name in names:
        step = load_step(data, name, f"{work}/{name}")
        check_stages(checks, step)
        check_tiers(checks, step)
        check_certificate(checks, step)
        if name == "mlp":
            check_micro_batches(checks, step)
            check_gradients(checks, step)
            check_zeros(checks, step, data)
            check_untyped(checks, step)
            check_errors(checks, step)
    checks.finish()


if __name__ == "__main__":
    main()
