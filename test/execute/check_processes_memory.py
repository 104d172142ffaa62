"""Each process of a run takes the memory of its certificate, and no more.

usage: check_processes_memory.py DATA WORK LAUNCHER [PREFIX...]

The operating system's peak of resident memory of each process, less that of a process that trains
nearly nothing and what the report says of MPI's, is at most 1.05 times the arena of its rank, and
without AVX-512 what oneDNN packs. So process 0 has no more than the others, also while it writes
what all ranks have, and none has values of files beside its own part.
"""

import json
import shutil
import subprocess
import sys
import time
from pathlib import Path

from processes import Launcher, ranks_of
from zero_test import Checks, Failed, Graph, has_avx512

MIB = 2**20
# Without AVX-512, what oneDNN allocates to pack operands, as runtime/README.md says.
PACKED = 0 if has_avx512() else 16 * MIB
# Buffers of checkpoints, whatever the size of the model.
CHECKPOINT = {"--save-state": 2 * MIB, "--resume": 2 * MIB}
# What a run reads and writes, beside the data.
FILES = {
    "nothing": [],
    "--save": ["--save={work}/out.safetensors"],
    "--save of a model": ["--save={work}/out.onnx"],
    "--weights": ["--weights={work}/out.safetensors"],
    "--dump-gradients": ["--dump-gradients={work}/gradients.safetensors"],
    "--save-outputs": ["--save-outputs={work}/outputs.safetensors"],
    "--save-state": ["--save-state={work}/state"],
    "--resume": ["--resume={work}/state"],
}


def peaks(process):
    """Bytes of the highest resident set, and of anonymous memory now."""
    lines = Path(f"/proc/{process}/status").read_text().splitlines()
    fields = dict(line.split(":", 1) for line in lines)
    return {name: int(fields[name].split()[0]) * 1024 for name in ("VmHWM", "RssAnon")}


def measure(launcher, executable, processes, *words):
    """The peaks of each process of a run, by process number."""
    run = launcher.start(processes, executable, "--quiet", *words)
    ranks = ranks_of(executable, processes)
    most = [{"VmHWM": 0, "RssAnon": 0} for _ in ranks]
    while run.poll() is None:
        for rank, seen in zip(ranks, most):
            try:
                now = peaks(rank)
            except (OSError, KeyError):  # has ended
                continue
            for name in seen:
                seen[name] = max(seen[name], now[name])
        time.sleep(0.002)
    if run.returncode != 0:
        raise Failed(run.stderr.read())
    return most


def arena_of(graph):
    line = next(line for line in graph.report.splitlines() if line.startswith("  arena"))
    return int(line.split()[1])


def base_of(checks, data, work):
    """The peaks of a process beside its arena and MPI."""
    small = Graph(data, "mlp", work)
    executable = small.compile(3, 2)
    seen = measure(Launcher("processes"), executable, 2, small.data_flag, "--steps=2000")
    base = {name: max(each[name] for each in seen) - arena_of(small) for name in seen[0]}
    print(f"base: {base['VmHWM'] / MIB:.1f} MiB, {base['RssAnon'] / MIB:.1f} MiB anonymous")
    checks.that(base["VmHWM"] < 24 * MIB, f"{base} bytes outside of the arena")
    return base


def check(checks, launcher, base, graph, processes):
    executable = graph.compile(3, processes)
    arena, report = arena_of(graph), graph.work / "report.json"
    for what, flags in FILES.items():
        flags = [flag.format(work=graph.work) for flag in flags]
        steps = 4 if what == "--resume" else 3
        most = measure(launcher, executable, processes, graph.data_flag, f"--steps={steps}",
                       f"--report-json={report}", *flags)
        mpi = json.loads(report.read_text()).get("mpi_bytes_per_process", [0] * processes)
        checks.that(len(mpi) == processes and (launcher.name == "processes") == (sum(mpi) == 0),
                    f"MPI takes {mpi} with {launcher.name}")
        for process, seen in enumerate(most):
            label = f"process {process} of {processes}, {what}"
            for name, bytes in seen.items():
                own = bytes - base[name] - mpi[process]
                print(f"{label}: {name} {own / MIB:.1f} MiB beside {mpi[process] / MIB:.1f} of MPI, "
                      f"arena {arena / MIB:.1f} MiB: {own / arena:.3f}")
                checks.that(0.5 * arena < own <= 1.05 * arena + PACKED + CHECKPOINT.get(what, 0),
                            f"{label}: {name} is {own / MIB:.1f} MiB of {arena / MIB:.1f}")
    shutil.rmtree(graph.work / "state")


def main():
    data, work, name, *prefix = sys.argv[1:]
    shutil.rmtree(work, ignore_errors=True)
    checks = Checks()
    base = base_of(checks, data, f"{work}/small")
    graph = Graph(data, "gpt2-mini", f"{work}/large")
    for processes in (2, 4):
        check(checks, Launcher(name, prefix), base, graph, processes)
    checks.finish()


if __name__ == "__main__":
    main()
