"""Executables for GPUs have the losses of those for the CPU: optimizers, micro-batches, clipping,
recomputation and precisions.

usage: check_gpu_features.py DATA WORK
"""

import sys

import numpy as np

from zero_test import Checks, Graph

OPTIMIZERS = ("adafactor", "adagrad", "adam", "lamb", "lion", "rmsprop")
# Graph, ranks, stage, flags, and the limit of the relative difference.
CASES = (
    *(("mlp", 2, 3, [f"--optimizer={name}"], 1e-6) for name in OPTIMIZERS),
    ("mlp", 2, 2, ["--state-precision=8bit"], 1e-5),
    ("mlp", 2, 2, ["--state-precision=4bit"], 1e-5),
    ("mlp", 2, 3, ["--precision=bf16", "--master-weights=none",
                   "--state-precision=exp_avg=8bit,exp_avg_sq=bf16"], 1e-3),
    ("gpt2-tiny", 2, 3, ["--micro-batches=2", "--clip-norm=0.1"], 1e-6),
    ("gpt2-tiny", 2, 2, ["--checkpoint=layer"], 1e-6),
    ("gpt2-tiny", 2, 1, ["--precision=bf16", "--micro-batches=2", "--clip-norm=1"], 1e-4),
    ("gpt2-tiny", 1, 0, ["--precision=fp16", "--micro-batches=2"], 1e-5),
    ("gpt2-lora", 2, 3, [], 1e-6),
    ("stochastic-depth", 1, 0, [], 1e-6),
)
STEPS = 3


def main():
    data, work = sys.argv[1:]
    checks = Checks()
    for name, ranks, stage, flags, limit in CASES:
        graph = Graph(data, name, f"{work}/{name}")
        flags = [*flags, graph.shape_flag()]
        gpu, cpu = (graph.run(graph.compile(stage, ranks, f"--device={device}", *flags), STEPS).losses
                    for device in ("cuda", "cpu"))
        error = np.max(np.abs(gpu / cpu - 1))
        checks.that(error <= limit, f"{name} {' '.join(flags)}: losses {gpu}, expected {cpu}")
    checks.finish()


if __name__ == "__main__":
    main()
