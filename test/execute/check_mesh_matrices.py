"""Optimizers of whole matrices and tensors on meshes with an axis of shards.

usage: check_mesh_matrices.py DATA WORK GRAPH

Losses and gradients are those of one rank. Stages, tiers and micro-batches change no bit of one
mesh. What is exchanged along `tensor` for the update is each sharded matrix once for each rank along
it, divided by the ranks along `data` where these own matrices. State is resumed on other meshes.
"""

import argparse
import re
import shutil

import numpy as np

from zero_test import Checks, Graph, check_received, relative, run_tool

STEPS, LIMIT = 4, 1e-5
MUON = ["--optimizer=muon", "--lr=0.02", "--weight-decay=0.1", "--other-lr=1e-3"]
OPTIMIZERS = {"muon": MUON, "products": [*MUON, "--muon-orientation=product", "--clip-norm=1"],
              "rms": ["--optimizer=muon", "--lr=1e-3", "--muon-scale=match_rms_adamw",
                      "--micro-batches=2"],
              "adafactor": ["--optimizer=adafactor", "--lr=1e-2", "--clip-norm=1"],
              "adafactor bf16": ["--optimizer=adafactor", "--lr=1e-2", "--precision=bf16"],
              "shampoo": ["--optimizer=shampoo", "--lr=1e-3", "--graft=rmsprop", "--root-steps=8"]}
# Data and tensor ranks, and flags. The stages of one mesh follow each other.
MESHES = (((1, 2), "--zero-stage=0"), ((2, 2), "--zero-stage=0"), ((2, 2), "--zero-stage=1"),
          ((2, 2), "--zero-stage=3"), ((2, 2), "--zero-stage=3", "--offload-optimizer=host"))


def run(graph, mesh, *flags, resume=None):
    path = graph.work / "matrices.zexe"
    graph.report = graph.compile_to(path, f"--mesh=data={mesh[0]},tensor={mesh[1]}", *flags)
    return graph.run(path, STEPS, "--check-memory", *([f"--resume={resume}"] if resume else []),
                     has_gradients=not resume and "--offload-optimizer=host" not in flags)


def updated(graph):
    """The elements that are exchanged along tensor for the update, from the certificate."""
    return int(re.search(r"^along tensor, .* update (\d+)$", graph.report, re.MULTILINE)[1])


def check_optimizers(checks, graph, matrices):
    for name, flags in OPTIMIZERS.items():
        alone = run(graph, (1, 1), *flags)
        limit = 2e-3 if "bf16" in name else LIMIT
        first = {}
        for mesh, *own in MESHES:
            label = f"{name} on {mesh} with {own}"
            result = run(graph, mesh, *flags, *own)
            error = np.max(np.abs(result.losses - alone.losses) / alone.losses)
            checks.that(error <= limit, f"{label}: losses off by {error:.1e}")
            checks.that(result.same_bits(first.setdefault(mesh, result)), f"{label}: other bits")
            if result.gradients:
                checks.that(result.gradients.keys() == alone.gradients.keys() and
                            all(relative(result.gradients[k], alone.gradients[k]) <= 10 * limit
                                for k in alone.gradients if not k.endswith("c_attn.bias")),
                            f"{label}: other gradients")
            check_received(checks, label, result.report, STEPS)
            if "adafactor" not in name:
                owners = mesh[0] if "--zero-stage=0" not in own else 1
                checks.that(updated(graph) * owners == matrices,
                            f"{label}: {updated(graph)} elements for the update, of {matrices}")


def check_resumed(checks, graph):
    """State of whole matrices and of their shards goes on with other meshes."""
    for name in ("muon", "adafactor", "shampoo"):
        state = graph.work / "state"
        shutil.rmtree(state, ignore_errors=True)
        start = graph.work / "start.zexe"
        graph.compile_to(start, "--mesh=data=2,tensor=2", *OPTIMIZERS[name], "--zero-stage=2")
        run_tool("zero-run", start, graph.data_flag, "--steps=2", f"--save-state={state}")
        expected = graph.run(start, STEPS, has_gradients=False)
        for mesh in ((1, 1), (1, 2), (3, 2)):
            resumed = run(graph, mesh, *OPTIMIZERS[name], "--zero-stage=3", resume=state)
            error = np.max(np.abs(resumed.losses[-2:] - expected.losses[2:]) / expected.losses[2:])
            checks.that(error <= LIMIT, f"{name}: resumed on {mesh}: losses off by {error:.1e}")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("data")
    parser.add_argument("work")
    parser.add_argument("graph")
    args = parser.parse_args()
    graph, checks = Graph(args.data, args.graph, args.work), Checks()
    names = np.load(graph.folder.parent / "optim" / f"{args.graph}.npz")["muon_names"]
    shapes = {key: value.shape for key, value in graph.initializers().items()}
    check_optimizers(checks, graph, sum(int(np.prod(shapes[str(name)])) for name in names))
    check_resumed(checks, graph)
    checks.finish()


if __name__ == "__main__":
    main()
