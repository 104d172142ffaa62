"""Each process of a run takes the memory of its certificate, and no more.

usage: check_processes_memory.py DATA WORK

The operating system's peak of resident memory of each process, less that of a process that trains
nearly nothing, is at most 1.05 times the arena of its rank. So process 0 has no more than the
others. With --save it collects one tensor after the other: then it may have the largest one, too,
and each process the pieces that are on their way (runtime/README.md, "Streams").
"""

import shutil
import subprocess
import sys
import time
from pathlib import Path

from processes import Launcher, ranks_of
from zero_test import Checks, Failed, Graph, read_safetensors

MIB = 2**20
PIECES = 4 * MIB
LAUNCHER = Launcher("processes")


def peaks(process):
    """Bytes of the highest resident set, and of anonymous memory now."""
    lines = Path(f"/proc/{process}/status").read_text().splitlines()
    fields = dict(line.split(":", 1) for line in lines)
    return {name: int(fields[name].split()[0]) * 1024 for name in ("VmHWM", "RssAnon")}


def measure(executable, processes, *words):
    """The peaks of each process of a run, by process number."""
    run = LAUNCHER.start(processes, executable, "--quiet", *words)
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


def main():
    data, work = sys.argv[1:]
    shutil.rmtree(work, ignore_errors=True)
    checks = Checks()
    small = Graph(data, "mlp", f"{work}/small")
    executable = small.compile(3, 2)
    base = {name: max(each[name] for each in measure(executable, 2, small.data_flag,
                                                     "--steps=2000")) - arena_of(small)
            for name in ("VmHWM", "RssAnon")}
    print(f"base: {base['VmHWM'] / MIB:.1f} MiB, {base['RssAnon'] / MIB:.1f} MiB anonymous")
    checks.that(base["VmHWM"] < 24 * MIB, f"{base} bytes outside of the arena")
    graph = Graph(data, "gpt2-mini", f"{work}/large")
    weights = graph.work / "out.safetensors"
    for processes in (2, 4):
        executable = graph.compile(3, processes)
        arena = arena_of(graph)
        for save in ([], [f"--save={weights}"]):
            most = measure(executable, processes, graph.data_flag, "--steps=3", *save)
            largest = max(value.nbytes for value in read_safetensors(weights).values()) if save else 0
            for process, seen in enumerate(most):
                label = f"process {process} of {processes}{' with --save' if save else ''}"
                buffer = (PIECES if save else 0) + (largest if process == 0 else 0)
                for name, bytes in seen.items():
                    own = bytes - base[name]
                    print(f"{label}: {name} {own / MIB:.1f} MiB, arena {arena / MIB:.1f} MiB: "
                          f"{own / arena:.3f}")
                    checks.that(0.5 * arena < own <= 1.05 * arena + buffer,
                                f"{label}: {name} is {own / MIB:.1f} MiB of {arena / MIB:.1f}")
    checks.finish()


if __name__ == "__main__":
    main()
