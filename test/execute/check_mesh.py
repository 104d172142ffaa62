"""Trains a graph on meshes of data-parallel and other ranks, against PyTorch and one rank.

usage: check_mesh.py DATA WORK GRAPH [--axis tensor|context] [--meshes 1x1,4x1,2x2,1x4] [--steps 11]
                     [--all] [--gpus 0,1]

A mesh is DATAxOTHER, along the axis `tensor` or `context`. Losses of ten updates are within 1e-5 of those of one rank, and within the
limits of check_groundtruth.py of PyTorch's, as are gradients. On one mesh, ZeRO stages,
recomputation and offloading change no bit, and the volume along each axis is what the tables say.
Without --all the variants are divided over the meshes. With --gpus the ranks run on these GPUs, or
all on one, and only stages are compared.
"""

import argparse

import numpy as np

from check_groundtruth import ADAMW, LIMITS, check_run
from zero_test import Checks, Graph

VARIANTS = [["--zero-stage=0"], ["--zero-stage=1"], ["--zero-stage=2"], ["--zero-stage=3"],
            ["--zero-stage=3", "--checkpoint=layer"],
            ["--zero-stage=3", "--offload-params=host", "--offload-optimizer=host"],
            ["--zero-stage=2", "--offload-activations=host"]]
DIVIDED = [["--zero-stage=1", "--partition-activations"],
           ["--zero-stage=3", "--checkpoint=layer", "--partition-activations"],
           ["--zero-stage=3", "--checkpoint=layer", "--partition-activations",
            "--offload-activations=host"]]


def train(graph, mesh, steps, gpus, *flags):
    data, other = mesh
    path = graph.work / "mesh.zexe"
    device = ["--device=cuda", "--clip-norm=100"] if gpus else []
    graph.report = graph.compile_to(path, f"--mesh=data={data},{graph.axis}={other}", *ADAMW,
                                    graph.shape_flag(), *device, *flags)
    return graph.run(path, steps, f"--gpus={gpus}" if gpus and data * other > 1 else
                     "--gpus=0" if gpus else "--check-memory",
                     has_gradients=not any("optimizer=host" in f for f in flags))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("data")
    parser.add_argument("work")
    parser.add_argument("graph")
    parser.add_argument("--axis", choices=("tensor", "context"), default="tensor")
    parser.add_argument("--meshes", default="1x1,4x1,2x2,1x4")
    parser.add_argument("--steps", type=int, default=11)
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--gpus", default="")
    args = parser.parse_args()
    graph = Graph(args.data, args.graph, args.work)
    graph.axis = args.axis
    truth = graph.truth["adamw_losses"][:args.steps]
    checks = Checks()
    alone = train(graph, (1, 1), args.steps, args.gpus, "--zero-stage=0")
    for number, text in enumerate(args.meshes.split(",")):
        mesh = tuple(map(int, text.split("x")))
        first = None
        divides = args.axis == "tensor" and mesh[1] > 1
        variants = VARIANTS[:4] if args.gpus else VARIANTS + (DIVIDED if divides else [])
        for index, variant in enumerate(variants):
            if not args.all and index and (index + number) % 2:
                continue
            label = f"{args.graph} on {text} {' '.join(variant)}"
            result = train(graph, mesh, args.steps, args.gpus, *variant)
            check_run(checks, label, graph, result, truth, LIMITS["fp32"], bool(result.gradients))
            error = np.max(np.abs(result.losses - alone.losses) / np.abs(alone.losses))
            checks.that(error <= 1e-5, f"{label}: losses are off those of one rank by {error:.2e}")
            first = first or result
            checks.that(result.same_bits(first), f"{label}: bits differ from stage 0")
    checks.finish()


if __name__ == "__main__":
    main()
