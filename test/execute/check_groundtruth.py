"""Trains a graph at every stage and rank count and compares with PyTorch.

usage: check_groundtruth.py DATA WORK GRAPH [--ranks 1,2] [--stages 0,3] [--split] [--device cuda]
                            [--own-gpus] [--precision bf16] [--steps 4]
                            [--offload params=host,optimizer=nvme] [--limits 1e-3,0.25,5e-3,3e-3]
                            [--flags=--checkpoint=layer,--micro-batches=2]

Limits in fp32: losses at step 0 1e-5, gradients 1e-4, the losses of ten updates 1e-3, running
statistics after one step 1e-5. Stages are bitwise identical. With --split the batch is split over
the ranks instead of given to each. With --own-gpus each rank has a GPU, and ranks communicate by
NCCL. Offloading changes no bit. --limits are others, for models that 16 bits change more. --flags
are for zeroc: each of several micro-batches is the whole batch, which changes no mean.
"""

import argparse

import numpy as np

from zero_test import Checks, Graph, relative

ADAMW = ["--optimizer=adamw", "--lr=1e-3", "--betas=0.9,0.999", "--eps=1e-8", "--weight-decay=0.01"]
SGD = ["--optimizer=sgd", "--lr=0.05", "--momentum=0.9"]
# Limits of the loss at step 0, of gradients, of the losses of updates, and of running statistics.
LIMITS = {"fp32": (1e-5, 1e-4, 1e-3, 1e-5), "fp16": (1e-4, 5e-3, 1e-3, 1e-5),
          "bf16": (1e-3, 3e-2, 2e-3, 1e-5)}


def zero_gradient_part(name, gradient):
    """The part of a gradient that is not mathematically zero: a key's bias shifts all scores of a
    row equally, so it does not change softmax."""
    if name.endswith((".key.bias", ".k_proj.bias")):
        return gradient[:0]
    if name.endswith("attn.c_attn.bias"):
        third = gradient.shape[0] // 3
        return np.concatenate([gradient[:third], gradient[2 * third:]])
    return gradient


def check_run(checks, label, graph, result, truth_losses, limits, has_gradients):
    first, gradients, updates, _ = limits
    checks.that(abs(result.losses[0] - truth_losses[0]) <= first,
                f"{label}: loss {result.losses[0]:.7f}, expected {truth_losses[0]:.7f}")
    error = np.max(np.abs(result.losses / truth_losses - 1))
    checks.that(error <= updates, f"{label}: losses off by {error:.2e}: {result.losses}")
    expected = {k[len("grad."):]: v for k, v in graph.truth.items()
                if k.startswith("grad.") and has_gradients}
    if expected:
        checks.that(result.gradients.keys() == expected.keys(), f"{label}: gradients' names")
    for name, gradient in expected.items():
        got = zero_gradient_part(name, result.gradients[name])
        error = relative(got, zero_gradient_part(name, gradient))
        checks.that(error <= gradients, f"{label}: gradient of {name} off by {error:.2e}")


def check_buffers(checks, label, graph, executable, limit):
    """Values that the step writes but does not train, as saved after one step."""
    expected = {k[len("buffer_after1."):]: v for k, v in graph.truth.items()
                if k.startswith("buffer_after1.")}
    if not expected:
        return
    saved = graph.run(executable, 1).weights
    for name, value in expected.items():
        error = relative(saved[name], value) if name in saved else np.inf
        checks.that(error <= limit, f"{label}: {name} after a step is off by {error:.2e}")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("data")
    parser.add_argument("work")
    parser.add_argument("graph")
    parser.add_argument("--ranks", default="1,2,3,4")
    parser.add_argument("--stages", default="0,1,2,3")
    parser.add_argument("--split", action="store_true")
    parser.add_argument("--optimizers", default="adamw,sgd")
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--precision", default="fp32")
    parser.add_argument("--own-gpus", action="store_true")
    parser.add_argument("--steps", type=int, default=11)
    parser.add_argument("--offload", default="")
    parser.add_argument("--flags", type=lambda text: text.split(","), default=[])
    parser.add_argument("--limits", type=lambda text: tuple(map(float, text.split(","))))
    args = parser.parse_args()
    limits = args.limits or LIMITS[args.precision]
    graph = Graph(args.data, args.graph, args.work)
    checks = Checks()
    tiers = [f"--offload-{each}" for each in args.offload.split(",") if each]
    disk = [f"--nvme-dir={graph.work}"] if "nvme" in args.offload else []
    optimizers = {"adamw": (ADAMW, "adamw_losses"), "sgd": (SGD, "sgdm_losses")}
    for optimizer in args.optimizers.split(","):
        flags, key = optimizers[optimizer]
        for ranks in map(int, args.ranks.split(",")):
            first = None
            runs = [(stage, offload) for stage in args.stages.split(",")
                    for offload in ([[], tiers] if tiers else [[]])]
            for stage, offload in runs:
                label = f"{args.graph} {optimizer} stage {stage} on {ranks}"
                shape = [graph.shape_flag(ranks if args.split else None)]
                executable = graph.compile(stage, ranks, f"--device={args.device}",
                                           f"--precision={args.precision}", *flags, *shape,
                                           *offload, *args.flags)
                gpus = [f"--gpus={','.join(map(str, range(ranks)))}"] if args.own_gpus else []
                # Offloaded state is updated during backward.
                has_gradients = "optimizer=" not in args.offload
                result = graph.run(executable, args.steps, *gpus, *disk,
                                   has_gradients=has_gradients)
                check_run(checks, label, graph, result, graph.truth[key][:args.steps],
                          limits, has_gradients)
                check_buffers(checks, label, graph, executable, limits[-1])
                first = first or result
                checks.that(result.same_bits(first), f"{label} {offload}: bits differ from the first")
    checks.finish()


if __name__ == "__main__":
    main()
