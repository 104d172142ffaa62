"""Selection of trained parameters by --freeze and --trainable, and the memory that it saves.

usage: check_freeze.py DATA WORK
"""

import fnmatch
import sys
from pathlib import Path

import numpy as np

from zero_test import Checks, Graph, Plan

FLAGS = ["--optimizer=adamw", "--lr=1e-3", "--weight-decay=0.01"]


def check_frozen(checks, graph, patterns, stage, ranks):
    label = f"{graph.name} without {patterns} at stage {stage} on {ranks}"
    flags = [*FLAGS, f"--freeze={','.join(patterns)}"]
    names = {k[len("grad."):] for k in graph.truth if k.startswith("grad.")}
    frozen = {n for n in names if any(fnmatch.fnmatchcase(n, p) for p in patterns)}
    result = graph.run(graph.compile(stage, ranks, *flags), 5)
    checks.that(result.gradients.keys() == names - frozen, f"{label}: gradients' names")
    for name in result.gradients:
        error = np.abs(result.gradients[name] - graph.truth["grad." + name]).max()
        checks.that(error <= 1e-5, f"{label}: gradient of {name} off by {error:.1e}")
    for name, value in graph.initializers().items():
        if name in names:
            same = result.weights.get(name, np.zeros(0)).tobytes() == value.tobytes()
            checks.that(same == (name in frozen),
                        f"{label}: {name} {'kept' if same else 'changed'}")
    plan, whole = Plan(graph, stage, ranks, *flags), Plan(graph, stage, ranks, *FLAGS)
    checks.that(plan.certificate["optimizer state"] < whole.certificate["optimizer state"],
                f"{label}: the optimizer's memory is {plan.certificate['optimizer state']}")
    checks.that(result.losses[0] == graph.run(graph.compile(stage, ranks, *FLAGS), 1).losses[0],
                f"{label}: the loss is another")
    return result


def check_trainable(checks, graph):
    """A list trains equally to freezing everything else."""
    chosen = ["fc2.weight", "fc3.bias"]
    listed = Path(graph.work) / "trainable.txt"
    listed.write_text("\n".join(chosen) + "\n")
    result = graph.run(graph.compile(3, 2, *FLAGS, f"--trainable={listed}"), 5)
    other = graph.run(graph.compile(3, 2, *FLAGS, "--freeze=fc1.*,fc2.bias,fc3.weight"), 5)
    checks.that(sorted(result.gradients) == chosen, f"--trainable: {sorted(result.gradients)}")
    checks.that(np.array_equal(result.losses, other.losses), "--trainable: losses differ")
    for name in chosen:
        checks.that(np.array_equal(result.weights[name], other.weights[name]),
                    f"--trainable: {name} differs")


def main():
    data, work = sys.argv[1:]
    checks = Checks()
    mlp = Graph(data, "mlp", f"{work}/mlp")
    results = [check_frozen(checks, mlp, ["fc1.*", "fc3.bias"], stage, 2) for stage in range(4)]
    checks.that(all(r.same_bits(results[0]) for r in results), "mlp: bits differ between stages")
    check_frozen(checks, mlp, ["fc2.*"], 3, 3)
    check_trainable(checks, mlp)
    gpt2 = Graph(data, "gpt2-tiny", f"{work}/gpt2")
    check_frozen(checks, gpt2, ["*.wpe.*", "*.h.0.*", "model.lm_head.weight"], 3, 2)
    checks.finish()


if __name__ == "__main__":
    main()
