"""zero-check refuses executables with one fault each, unless the fault changes no bit of a run.

usage: check_mutants.py DATA WORK [--mutants=N] [--seed=N] [--programs=N,...] [--run-refused]

Rules change the decoded tables of executables, which are written with valid checksums. What the
checker accepts is run, and has to give the losses and weights of the program without the fault.
With --run-refused the others are run, too, to count those that give something else.
"""

import argparse
import subprocess
from collections import Counter
from pathlib import Path

from check_matrix import shared_axes
from executables import read_executable, read_section, write_executable
from mutator import Mutator
from zero_test import Checks, Graph, run_tool

STEPS = 2
SECONDS = 40  # of a run; others take less than one, where the machine is idle
PROGRAMS = [
    ("mlp", ["--optimizer=adamw"], ["--ranks=2", "--zero-stage=3", "--bucket-bytes=20KB"]),
    ("mlp", ["--optimizer=adamw"], ["--ranks=2", "--zero-stage=2", "--micro-batches=2"]),
    ("mlp", ["--optimizer=adamw"], ["--ranks=3", "--zero-stage=1"]),
    ("gpt2-tiny", ["--optimizer=sgd", "--momentum=0.9"],
     ["--ranks=2", "--zero-stage=3", "--checkpoint=layer", "--offload-optimizer=host",
      "--offload-params=host", "--micro-batches=2"]),
    ("llama-tiny", ["--optimizer=adamw"],
     ["--ranks=2", "--zero-stage=2", "--micro-batches=2", "--micro-batch-order=vertical",
      "--offload-optimizer=nvme"]),
    ("gpt2-tiny", ["--optimizer=adamw"],
     ["--ranks=4", "--zero-stage=3", "--shard-params=node", "--ranks-per-node=2"]),
    ("gpt2-tiny", ["--optimizer=adamw"],
     ["--mesh=data=2,tensor=2", "--zero-stage=3", "--checkpoint=layer"]),
    ("llama-tiny", ["--optimizer=adamw"], ["--mesh=context=2", "--zero-stage=2"]),
    ("mlp", ["--optimizer=adamw", "--tile-params-over=100KB", "--state-precision=8bit"],
     ["--ranks=2", "--zero-stage=3"]),
]


class Original:
    """A program without a fault, what a run of it gives, and its reference."""

    def __init__(self, data, work, number, name, common, flags):
        self.work = Path(work) / f"{number}-{name}"
        self.graph = Graph(data, name, self.work)
        self.reference, self.path = self.work / "reference.zexe", self.work / "program.zexe"
        model = self.graph.folder / "model.onnx"
        axes = shared_axes(" ".join(flags))
        run_tool("zeroc", model, *common, *axes.split(), "-o", self.reference)
        run_tool("zeroc", model, *common, *flags, "-o", self.path)
        self.result = self.run(self.path)

    def run(self, executable):
        """Losses and weights of a run as bytes, or what stopped it."""
        log, weights = self.work / "log.jsonl", self.work / "weights.safetensors"
        for file in (log, weights):
            file.unlink(missing_ok=True)
        command = ["zero-run", executable, self.graph.data_flag, f"--nvme-dir={self.work}",
                   f"--steps={STEPS}", "--lr=1e-2", "--quiet", "--timeout=5", f"--log={log}",
                   f"--save={weights}"]
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS)
        except subprocess.TimeoutExpired:
            return "hung"
        if done.returncode:
            return f"exit {done.returncode}: {done.stderr}"
        losses = [line.split('"loss":')[1].split(",")[0] for line in log.read_text().splitlines()]
        return losses, weights.read_bytes()

    def judge(self, executable):
        return subprocess.run(["zero-check", self.reference, executable], capture_output=True,
                              text=True)

    def mutant(self, seed):
        """Writes a mutant, and returns its path and fault; None if the rule changed nothing."""
        program, code = read_executable(self.path)
        code, data = bytearray(code), bytearray(read_section(self.path, 2))
        fault = Mutator(program, code, data, f"{self.work.name} {seed}").draw()
        if not fault:
            return None
        path = self.work / "mutant.zexe"
        write_executable(path, self.path, program, code, data)
        return path, fault


def outcome(result, expected):
    """What a run of a mutant did, in a word."""
    if not isinstance(result, str):
        return "same" if result == expected else "changed"
    if not result.startswith("exit 1:"):
        return "crashed or hung"
    return "stopped" if "step" in result else "not loaded"


def check_mutant(checks, original, seed, run_refused, counts):
    found = original.mutant(seed)
    if not found:
        return
    path, fault = found
    rule = fault.split(":")[0]
    verdict = original.judge(path)
    label = f"{original.work.name}, seed {seed}, {fault}"
    checks.that(verdict.returncode in (0, 1), f"{label}: exit {verdict.returncode}")
    if verdict.returncode:
        checks.that("not proven: " in verdict.stderr, f"{label}: no reason: {verdict.stderr}")
        did = outcome(original.run(path), original.result) if run_refused else ""
        counts[rule, "refused", did] += 1
        return
    result = original.run(path)
    did = outcome(result, original.result)
    counts[rule, "accepted", did] += 1
    # The loader has more rules; what it refuses trains nothing.
    checks.that(did in ("same", "not loaded"), f"{label}: accepted, but {did}: "
                f"{result[:300] if isinstance(result, str) else ''}")


def print_counts(counts):
    columns = sorted({key[1:] for key in counts})
    for rule in [*sorted({key[0] for key in counts}), "all"]:
        numbers = [sum(n for key, n in counts.items()
                       if key[1:] == column and rule in (key[0], "all")) for column in columns]
        print(f"{rule:12}", " ".join(f"{' '.join(column).strip()}: {number:5}"
                                     for column, number in zip(columns, numbers)))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("data")
    parser.add_argument("work")
    parser.add_argument("--mutants", type=int, default=60)  # of each program
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--programs", default=",".join(map(str, range(len(PROGRAMS)))))
    parser.add_argument("--run-refused", action="store_true")
    args = parser.parse_args()
    checks, counts = Checks(), Counter()
    for number in map(int, args.programs.split(",")):
        name, common, flags = PROGRAMS[number]
        original = Original(args.data, args.work, number, name, common, flags)
        checks.that(not isinstance(original.result, str), f"{name} {flags}: {original.result}")
        checks.that(original.judge(original.path).returncode == 0, f"{name} {flags}: not proven")
        for seed in range(args.seed, args.seed + args.mutants):
            check_mutant(checks, original, seed, args.run_refused, counts)
        print(f"{name}: {sum(counts.values())} mutants", flush=True)
    print_counts(counts)
    refused = sum(n for key, n in counts.items() if key[1] == "refused")
    checks.that(refused >= sum(counts.values()) // 2, f"few faults: {counts}")
    checks.finish()


if __name__ == "__main__":
    main()
