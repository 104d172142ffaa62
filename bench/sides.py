"""The sides of a comparison: Zero and its peers. Each can train a case."""

import json
import os
import re
import socket
import statistics
import sys
from pathlib import Path

from common import PEERS, ROOT, Failure, arenas, mib, python_of, run, run_together, select

WARM_UP = 3  # as in peers/measure.py
NVME_FLAGS = ("--offload-params=nvme", "--offload-optimizer=nvme")
CORES = sorted(os.sched_getaffinity(0))


def thread_settings(threads):
    """Environment variables for `threads` threads of every library in each process."""
    return {key: str(threads)
            for key in ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS")}


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def available_bytes():
    text = Path("/proc/meminfo").read_text()
    return int(re.search(r"^MemAvailable: +(\d+) kB", text, re.MULTILINE)[1]) * 1024


class Zero:
    """zeroc and zero-run at one stage: ranks are threads of one process. With `nvme`, parameters
    and optimizer state are stored in files beside the case."""

    def __init__(self, stage, nvme=False, precision="fp32"):
        self.stage, self.nvme, self.precision = stage, nvme, precision

    def prepare(self, case, folder, build):
        """Compiles once. All rounds run the same executable."""
        self.run_program = build / "bin/zero-run"
        printed = run([build / "bin/zeroc", folder / "model.onnx", f"--zero-stage={self.stage}",
                       f"--ranks={case.ranks}", f"--threads-per-rank={case.threads}",
                       "--optimizer=adamw", "--lr=1e-4", "--weight-decay=0.01",
                       f"--precision={self.precision}",
                       *(NVME_FLAGS if self.nvme else ()),
                       "-o", self.executable(folder)]).output
        found = arenas(printed)
        needed = case.ranks * (found["memory"] + found["host"])
        free = available_bytes()
        if needed > free:
            raise Failure(f"needs {mib(needed)} of memory, {mib(free)} are free")

    def executable(self, folder):
        return folder / f"zero-{self.stage}{'-nvme' if self.nvme else ''}-{self.precision}.zexe"

    def run_flags(self, folder):
        """Further arguments of zero-run."""
        del folder
        return []

    def data(self, folder):
        """The file of each input, by name."""
        inputs = json.loads((folder / "case.json").read_text())["inputs"]
        return {name: folder / f"{name}.npy" for name in inputs}

    def train(self, case, folder, steps, timeout):
        data = ",".join(f"{name}={file}" for name, file in self.data(folder).items())
        report = folder / "report.json"
        usage = run([self.run_program, self.executable(folder), "--quiet", f"--data={data}",
                     f"--threads-per-rank={case.threads}", f"--steps={WARM_UP + steps}",
                     f"--report-json={report}", *self.run_flags(folder),
                     *([f"--nvme-dir={folder}"] if self.nvme else ())], timeout)
        report = json.loads(report.read_text())
        return {"seconds": report["seconds"][WARM_UP:], "losses": report["losses"],
                "resident_bytes": usage.resident / case.ranks, "file_bytes": 0,
                "arena_bytes": sum(report["memory"][tier]["peak"] for tier in ("device", "host")
                                   if tier in report["memory"])}


class Torch:
    """A PyTorch system: one process per rank, over gloo if there are several."""

    def __init__(self, system):
        self.system = system

    def prepare(self, case, folder, build):
        self.python = python_of("torch")

    def train(self, case, folder, steps, timeout):
        report = folder / "report.json"
        shared = {**thread_settings(case.threads), "MASTER_ADDR": "127.0.0.1",
                  "MASTER_PORT": str(free_port()), "WORLD_SIZE": str(case.ranks),
                  "DS_ACCELERATOR": "cpu",
                  "GLOO_SOCKET_IFNAME": "lo", "TOKENIZERS_PARALLELISM": "false"}
        settings = [{**shared, "RANK": str(rank), "LOCAL_RANK": str(rank)}
                    for rank in range(case.ranks)]
        command = [self.python, PEERS / "torch_train.py", folder, self.system, steps, report]
        run_together([command] * case.ranks, timeout, settings)
        ranks = [json.loads(Path(f"{report}.{rank}").read_text()) for rank in range(case.ranks)]
        losses = [statistics.fmean(step) for step in zip(*(rank["losses"] for rank in ranks))]
        largest = max(ranks, key=lambda rank: rank["resident_bytes"])
        return {**largest, "seconds": ranks[0]["seconds"], "losses": losses}


class Jax:
    """XLA with all state sharded: ranks are devices of one process. It starts as many threads as
    there are cores."""

    def __init__(self, precision="fp32"):
        self.precision = precision

    def prepare(self, case, folder, build):
        self.python = python_of("jax")
        if case.family != "gpt2":
            raise Failure(f"the JAX peer has GPT-2 alone, not {case.family}")

    def train(self, case, folder, steps, timeout):
        report = folder / "report.json"
        run([self.python, PEERS / "jax_train.py", folder, self.precision, steps, report], timeout,
            thread_settings(case.threads))
        result = json.loads(Path(f"{report}.0").read_text())
        return {**result, "resident_bytes": result["resident_bytes"] / case.ranks,
                "file_bytes": result["file_bytes"] / case.ranks}


class Graph:
    """A peer that trains the graph of a case in one process."""

    def __init__(self, environment):
        self.environment = environment

    def prepare(self, case, folder, build):
        self.python = python_of(self.environment)
        if case.family != "gpt2":
            raise Failure(f"the {self.environment} peer has GPT-2 alone, not {case.family}")

    def train(self, case, folder, steps, timeout):
        report = folder / "report.json"
        run([self.python, PEERS / f"{self.environment}_train.py", folder, steps, report], timeout,
            thread_settings(case.threads))
        return json.loads(report.read_text())


# Sides of several ranks.
DISTRIBUTED = {
    "zero-1": Zero(1), "zero-3": Zero(3), "zero-3-nvme": Zero(3, nvme=True),
    "zero-1-bf16": Zero(1, precision="bf16"), "zero-3-bf16": Zero(3, precision="bf16"),
    **{name: Torch(name) for name in (
        "deepspeed-1-bf16", "fsdp2-bf16", "fsdp2-keep-bf16", "fsdp2-compile-bf16", "deepspeed-1",
        "deepspeed-3", "deepspeed-3-nvme", "fsdp2", "fsdp2-keep", "fsdp2-compile")},
    "jax": Jax(), "jax-bf16": Jax("bf16")}
# Sides of one process.
SINGLE = {
    "zero-0": Zero(0), "zero-0-bf16": Zero(0, precision="bf16"),
    **{f"torch-{name}": Torch(name) for name in (
        "eager", "compile", "eager-bf16", "compile-bf16")},
    "jax": Jax(), "jax-bf16": Jax("bf16"), "onnxsim": Graph("onnxsim"), "ort": Graph("ort")}
SIDES = {**DISTRIBUTED, **SINGLE}


def chosen(names, known=DISTRIBUTED):
    """Resolves names of `known` sides; 'zero' denotes all that begin with 'zero-'."""
    sides = []
    for name in names:
        family = [side for side in known if side.startswith(f"{name}-")]
        sides += family if name not in known and family else [name]
    select(sides, known, "sides")
    return sides


def is_ours(side):
    return side.startswith("zero")


def precision_of(side):
    return "bf16" if side.endswith("-bf16") else "fp32"


class Peak:
    """The combined speed of cores in fused multiply-adds."""

    def __init__(self, folder):
        self.program = folder / "peak"
        run(["clang-22", "-O3", "-march=native", ROOT / "bench/peak.c", "-o", self.program])

    def measure(self, count):
        """FLOP/s of `count` copies that run concurrently, summed."""
        usage = run_together([[self.program]] * count, timeout=60)
        return sum(float(speed) for speed in usage.output.split()) * 1e9


def keep_to_cores(count):
    """Restricts this process and its children to as many cores as there are threads of ranks."""
    if len(CORES) < count:
        sys.exit(f"bench: expected {count} cores, one for each thread, got {len(CORES)}")
    os.sched_setaffinity(0, CORES[:count])
