"""The memory that the operating system counts for a run equals the certificate.

usage: check_resident_memory.py WORK

A GPT-2 with arenas of more than 512 MiB trains on two ranks. The test subtracts the peak of
resident anonymous memory of a run with nearly no arena from that of this run. The difference equals
the arenas to within 5 %.
"""

import subprocess
import sys
import time
from pathlib import Path

import numpy as np

import make_gpt2
from zero_test import Checks, Failed, run_tool

RANKS, STEPS = 2, 4
LARGE = dict(layers=4, width=768, vocabulary=16384, sequence=64)
SMALL = dict(layers=1, width=64, vocabulary=64, sequence=64)
MIB = 2**20


class Size:
    """The flags of make_gpt2.py."""

    def __init__(self, **sizes):
        self.batch, self.seed, self.sparse = 1, 0, False
        self.__dict__.update(sizes)
        self.heads = self.width // 64


def compile_graph(work, stage, sizes):
    """Creates a graph. Returns its executable, the bytes of its arena, and the flag for its data.
    """
    path = work / "model.onnx"
    work.mkdir(parents=True, exist_ok=True)
    make_gpt2.write(path, Size(**sizes))
    report = run_tool("zeroc", path, f"--zero-stage={stage}", f"--ranks={RANKS}", "-o",
                      work / "model.zexe", "--optimizer=adamw")
    arena = next(line for line in report.splitlines() if line.startswith("  arena"))
    tokens = np.random.RandomState(1).randint(0, sizes["vocabulary"],
                                              (RANKS, sizes["sequence"]))
    path = work / "tokens.npy"
    np.save(path, tokens)
    return work / "model.zexe", int(arena.split()[1]), f"--data=input_ids={path},labels={path}"


def anonymous(process):
    """Bytes of resident anonymous memory, or 0 after the process has ended."""
    for line in Path(f"/proc/{process}/status").read_text().splitlines():
        if line.startswith("RssAnon:"):
            return int(line.split()[1]) * 1024
    return 0


def most_resident(executable, steps, *flags):
    """The peak of anonymous memory of a run, from its start to its end."""
    run = subprocess.Popen(["zero-run", executable, f"--steps={steps}", "--quiet", *flags],
                           stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    most = 0
    while run.poll() is None:
        most = max(most, anonymous(run.pid))
        time.sleep(0.001)
    if run.returncode != 0:
        raise Failed(run.stderr.read())
    return most


def main():
    work = Path(sys.argv[1])
    checks = Checks()
    for stage in (0, 3):
        executable, small, data = compile_graph(work / "small", stage, SMALL)
        idle = most_resident(executable, 200, data) - RANKS * small
        executable, arena, data = compile_graph(work / "large", stage, LARGE)
        resident = most_resident(executable, STEPS, data)
        used, planned = resident - idle, RANKS * arena
        print(f"stage {stage}: {resident / MIB:.1f} MiB resident, {idle / MIB:.1f} without arenas; "
              f"arenas {RANKS} x {arena / MIB:.1f} MiB: {100 * (used / planned - 1):+.2f} %")
        checks.that(RANKS * arena > 512 * MIB, f"stage {stage}: an arena of only {arena} bytes")
        checks.that(abs(used - planned) <= 0.05 * planned,
                    f"stage {stage}: {used} bytes in use, planned {planned}")
        checks.that(0 < idle < 64 * MIB, f"stage {stage}: {idle} bytes outside the arenas")
    checks.finish()


if __name__ == "__main__":
    main()
