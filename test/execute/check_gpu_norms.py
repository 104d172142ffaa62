"""Norms of tensors of several chunks: few launches compute them, they agree with those of the CPU,
and stages are bitwise identical.

usage: check_gpu_norms.py WORK
"""

import json
import sys
from pathlib import Path

import numpy as np

from executables import read_executable
from zero_test import Checks, read_safetensors, run_tool

STEPS = 2
# 640 x 640 elements are 6400 blocks of 64, so two chunks of at most 4096.
SIZE = ["--layers=2", "--width=640", "--rows=4"]
# Flags, and the number of launches that sum blocks: of chunks, of tensors, and of the norm. LAMB has
# two sums for each tensor of two buckets, Adafactor one besides the norm.
CASES = ((["--optimizer=adamw", "--clip-norm=0.001"], 3),
         (["--optimizer=lamb"], 8),
         (["--optimizer=adafactor", "--clip-norm=0.001"], 7))
LIMIT = 1e-6  # of the relative difference from the CPU


def train(work, stage, ranks, *flags):
    """The rows of the log, the final weights, and the tables of the executable."""
    path, log, weights = work / "model.zexe", work / "log.jsonl", work / "weights.safetensors"
    run_tool("zeroc", work / "model.onnx", f"--zero-stage={stage}", f"--ranks={ranks}", *flags,
             "-o", path)
    run_tool("zero-run", path, f"--data=x={work / 'x.npy'}", f"--steps={STEPS}", "--quiet",
             f"--log={log}", f"--save={weights}")
    rows = [json.loads(line) for line in log.read_text().splitlines()]
    return rows, read_safetensors(weights), read_executable(path)[0]


def column(rows, name):
    return np.array([row[name] for row in rows])


def launches(program):
    """The launches that sum blocks or chunks."""
    return sum(command.HasField("launch") and
               program.kernels[command.launch.kernel].name.startswith(("chunk_sums", "total"))
               for segment in program.segments for command in segment.commands)


def check(checks, work, flags, most):
    label, device = " ".join(flags), "--device=cuda"
    cpu, _, _ = train(work, 0, 1, *flags)
    gpu, first, program = train(work, 0, 1, device, *flags)
    for name in ("loss", "gradient_norm"):
        if name in cpu[0]:
            error = np.max(np.abs(column(gpu, name) / column(cpu, name) - 1))
            checks.that(error <= LIMIT, f"{label}: {name} differs by {error} from the CPU's")
    checks.that(launches(program) == most, f"{label}: {launches(program)} launches sum blocks")
    same = [train(work, stage, 2, device, *flags) for stage in (1, 3)]
    checks.that(column(same[0][0], "loss").tobytes() == column(same[1][0], "loss").tobytes(),
                f"{label}: the losses of stages 1 and 3 differ")
    checks.that(all(np.array_equal(same[0][1][key], same[1][1][key]) for key in first),
                f"{label}: the weights of stages 1 and 3 differ")


def main():
    work = Path(sys.argv[1])
    work.mkdir(parents=True, exist_ok=True)
    maker = Path(__file__).resolve().parents[1] / "support/make_deep.py"
    run_tool(sys.executable, maker, work / "model.onnx", *SIZE)
    np.save(work / "x.npy", np.random.default_rng(1).standard_normal((8, 640), dtype=np.float32))
    checks = Checks()
    for case in CASES:
        check(checks, work, *case)
    checks.finish()


if __name__ == "__main__":
    main()
