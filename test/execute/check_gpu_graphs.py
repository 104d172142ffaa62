"""Training with CUDA graphs is bitwise identical to training on streams, and so is the error of a
wrong index in the data, which leaves no results.

usage: check_gpu_graphs.py DATA WORK
"""

import os
import subprocess
import sys

import numpy as np

from zero_test import Checks, Graph

# Graph, ranks, stage, flags of zeroc, flags of zero-run.
CASES = (
    ("mlp", 1, 0, ["--optimizer=adamw", "--lr=1e-3", "--clip-norm=1"], []),
    # Predicates decide what runs; a check in the epilogue.
    ("gpt2-tiny", 1, 0, ["--precision=fp16", "--micro-batches=2"], []),
    # Sorted rows of embedding tables; collectives between graphs, and within them.
    ("gpt2-tiny", 2, 3, ["--micro-batches=2"], []),
    ("gpt2-tiny", 2, 3, ["--micro-batches=2"], ["--processes=2"]),
    # No graphs: threads with a GPU each, and lanes of the host.
    ("mlp", 2, 2, [], ["--gpus=0,1"]),
    ("mlp", 1, 0, ["--offload-optimizer=host", "--optimizer=adamw", "--lr=1e-3"], []),
)
STEPS = 3


def check_bits(checks, data, work):
    for index, (name, ranks, stage, flags, run) in enumerate(CASES):
        graph = Graph(data, name, f"{work}/{index}")
        executable = graph.compile(stage, ranks, "--device=cuda", graph.shape_flag(), *flags)
        on, off = (graph.run(executable, STEPS, f"--gpu-graphs={word}", *run, has_gradients=False)
                   for word in ("on", "off"))
        checks.that(on.same_bits(off), f"{name} {ranks} ranks {' '.join(flags + run)}: losses "
                    f"{on.losses} with graphs, {off.losses} without")


def check_wrong_index(checks, data, work):
    """A token in the second half of the batch is out of range in the last step, when all
    graphs exist."""
    for index, (ranks, run) in enumerate(((1, []), (2, []), (2, ["--processes=2"]))):
        graph = Graph(data, "gpt2-tiny", f"{work}/bad-{index}")
        executable = graph.compile(3 if ranks > 1 else 0, ranks, "--device=cuda",
                                   "--micro-batches=2", graph.shape_flag())
        tokens = next(name for name, value in graph.inputs.items() if value.dtype == np.int64)
        size = len(graph.inputs[tokens]) * ranks * 2
        for name, value in graph.inputs.items():
            graph.inputs[name] = np.concatenate([value] * (size * STEPS // len(value) + 1))
        bad = graph.inputs[tokens].copy()
        last = size * (STEPS - 1)
        bad[last + size // 2:last + size, -1] = 70000
        graph.set_input(tokens, bad)
        saved = graph.work / "weights.safetensors"
        saved.unlink(missing_ok=True)
        errors = []
        for word in ("on", "off"):
            done = subprocess.run(["zero-run", str(executable), graph.data_flag, f"--steps={STEPS}",
                                   "--quiet", f"--save={saved}", f"--gpu-graphs={word}", *run],
                                  capture_output=True, text=True, timeout=300)
            errors.append(done.stderr)
            checks.that(done.returncode != 0 and not saved.exists(), f"{ranks} ranks: no error")
        for each in errors:
            checks.that(f"step {STEPS - 1}: " in each and "lies outside" in each and "got 70000" in each
                        and "recording driver" not in each, f"{ranks} ranks {run}: {each}")
        checks.that(run or errors[0] == errors[1], f"{ranks} ranks: {errors}")


def main():
    data, work = sys.argv[1:]
    os.makedirs(work, exist_ok=True)
    checks = Checks()
    check_bits(checks, data, work)
    check_wrong_index(checks, data, work)
    checks.finish()


if __name__ == "__main__":
    main()
