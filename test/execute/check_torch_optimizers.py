"""Compares every optimizer of PyTorch with PyTorch over ten steps, at stages 0 to 3 on 1, 2 and 4
ranks, and checks the requirements on every optimizer, whether PyTorch has it or not.

usage: check_torch_optimizers.py DATA WORK

`zeroc --list-optimizers` gives the list of optimizers, their flags and the examples.
test/reference/optimizers.py created the figures.
"""

import shutil
import sys
from pathlib import Path

import numpy as np

from optimizer_cases import STEPS, listed, pick
from zero_test import Checks, Graph, check_refused, read_safetensors, relative, run_tool

# Largest difference of losses, and of a parameter's move relative to the move: fp32 against fp64.
LOSSES, MOVES = 2e-5, 1e-3


def check_figures(checks, label, truth, number, start, result):
    error = np.abs(result.losses - truth[f"{number}.losses"]).max()
    checks.that(error <= LOSSES, f"{label}: losses off by {error:.1e}")
    for name, weights in result.weights.items():
        move = weights.astype(np.float64) - start[name]
        norm = truth[f"{number}.norm.{name}"]
        error = abs(np.linalg.norm(move) - norm) / norm
        checks.that(error <= MOVES, f"{label}: {name} moved otherwise by {error:.1e} in all")
        error = relative(pick(move), truth[f"{number}.move.{name}"])
        checks.that(error <= MOVES, f"{label}: {name} moved otherwise by {error:.1e}")


def check_stages(checks, graph, label, flags):
    """Stages 0 to 3 on 1, 2 and 4 ranks. Those on the same number of ranks are bitwise identical.
    """
    for ranks in (1, 2, 4):
        first = None
        for stage in range(4):
            result = graph.run(graph.compile(stage, ranks, *flags), STEPS)
            first = first or result
            checks.that(result.same_bits(first),
                        f"{label}: stage {stage} on {ranks} ranks differs in its bits")
        yield ranks, first


def check_going_on(checks, graph, label, flags, work):
    """A run that resumes from a checkpoint with other sharding, and with its state on the host."""
    whole = graph.compile(0, 2, *flags)
    expected = graph.run(whole, 4)
    state, saved = work / "state", work / "resumed.safetensors"
    shutil.rmtree(state, ignore_errors=True)
    run_tool("zero-run", whole, graph.data_flag, "--steps=2", "--quiet", f"--save-state={state}")
    for stage, ranks, more in ((3, 2, []), (1, 2, ["--offload-optimizer=host"])):
        other = graph.compile(stage, ranks, *flags, *more)
        run_tool("zero-run", other, graph.data_flag, "--steps=4", "--quiet", f"--resume={state}",
                 f"--save={saved}")
        weights = read_safetensors(saved)
        checks.that(all(np.array_equal(weights[k], expected.weights[k]) for k in expected.weights),
                    f"{label}: from its checkpoint at stage {stage} it goes on otherwise")


def check_sixteen_bits(checks, graph, label, flags):
    """With 16-bit parameters, clipping, a schedule and a group, stages are bitwise identical."""
    flags = [*flags, "--precision=bf16", "--clip-norm=0.5", "--lr-schedule=linear",
             "--warmup-steps=1", "--total-steps=20", "--param-group=*.bias:lr-scale=0.5"]
    whole, cut = (graph.run(graph.compile(stage, 2, *flags), 4) for stage in (0, 3))
    checks.that(whole.same_bits(cut), f"{label}: in bf16 stages 0 and 3 differ in their bits")
    checks.that(whole.losses[-1] < whole.losses[0], f"{label}: in bf16 {whole.losses}")


def check_refusals(checks, graph, optimizers):
    """The error for a foreign flag lists the valid flags; that for an unknown name lists all names.
    """
    model = graph.folder / "model.onnx"
    flags = {own["flag"]: own["range"] for o in optimizers for own in o["hyperparameters"]}
    check_refused(checks, "an unknown name", [o["name"] for o in optimizers], "zeroc", model,
                  "--plan-only", "--optimizer=unknown")
    for optimizer in optimizers:
        own = [h["flag"] for h in optimizer["hyperparameters"]]
        other = next(flag for flag in flags if flag not in own)
        given = f"--{other}" + ("" if flags[other] == "switch" else "=0.5")
        check_refused(checks, f"{optimizer['name']} with {given}",
                      [f"--{other}", f"--optimizer={optimizer['name']}", *own], "zeroc", model,
                      "--plan-only", f"--optimizer={optimizer['name']}", given)


def main():
    data, work = Path(sys.argv[1]), Path(sys.argv[2])
    checks = Checks()
    graph = Graph(data, "mlp", work)
    still = graph.run(graph.compile(0, 1, "--optimizer=sgd"), 1, "--lr=0")
    start = {k: v.astype(np.float64) for k, v in still.weights.items()}
    optimizers = listed()
    check_refusals(checks, graph, optimizers)
    for optimizer in optimizers:
        path = data / "optimizers" / f"{optimizer['name']}.npz"
        # torch's class takes matrices alone: check_muon.py compares them.
        truth = dict(np.load(path)) if optimizer["torch"] and not optimizer["of_matrices"] else None
        for number, example in enumerate(optimizer["examples"]):
            label = f"{optimizer['name']} {example}"
            flags = [f"--optimizer={optimizer['name']}", *example.split()]
            checks.that(not truth or str(truth[f"{number}.flags"]) == example,
                        f"{label}: {path} has figures of another example: run its script")
            if number == len(optimizer["examples"]) - 1:
                for ranks, result in check_stages(checks, graph, label, flags):
                    if truth:
                        check_figures(checks, f"{label} on {ranks}", truth, number, start, result)
                check_going_on(checks, graph, label, flags, work / optimizer["name"])
                check_sixteen_bits(checks, graph, label, flags)
            elif truth:
                result = graph.run(graph.compile(3, 2, *flags), STEPS)
                check_figures(checks, f"{label} at stage 3", truth, number, start, result)
    checks.finish()


if __name__ == "__main__":
    main()
