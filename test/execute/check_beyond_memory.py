"""A model whose state is 8 times the device's budget, and 3 times the memory of device and host
together, trains bitwise identically to a run in memory.

usage: check_beyond_memory.py WORK

zeroc must keep both budgets. The peaks that a run with --check-memory measures equal the
certificate, and the operating system counts the same amount of memory. Initial values are loaded
piece by piece to their tier, so from the start all ranks together use less memory than half of the
parameters take.
"""

import re
import sys
from pathlib import Path

import numpy as np

import make_deep
from check_resident_memory import most_resident
from check_tiers import check_watched, disk_bytes
from zero_test import Checks, Failed, run_tool

RANKS, STEPS = 2, 3
LAYERS, WIDTH, ROWS = 96, 512, 8
PARAMETERS = LAYERS * (WIDTH * WIDTH + WIDTH)
STATE = 16 * PARAMETERS // RANKS  # parameter, gradient, two moments: f32
DEVICE, HOST = STATE // 8, STATE // 3 - STATE // 8
TIERS = ["--offload-params=nvme", "--offload-gradients=nvme", "--offload-optimizer=nvme"]
MIB = 2**20


class DeepGraph:
    """A perceptron of many layers and a few rows of training data."""

    def __init__(self, work, layers):
        self.work = Path(work)
        make_deep.write(self.work / "model.onnx", layers, WIDTH, ROWS)
        rows = np.random.RandomState(0).randn(STEPS * RANKS * ROWS, WIDTH).astype(np.float32)
        np.save(self.work / "x.npy", rows)
        self.data_flag = f"--data=x={self.work / 'x.npy'}"

    def compile(self, name, *flags):
        path = self.work / f"{name}.zexe"
        self.report = run_tool("zeroc", self.work / "model.onnx", "--zero-stage=3",
                               f"--ranks={RANKS}", "--optimizer=adamw", "--lr=1e-3",
                               "--bucket-bytes=1MiB", "-o", path, *flags)
        return path

    def train(self, executable):
        log, weights = self.work / "log.jsonl", self.work / "weights.safetensors"
        run_tool("zero-run", executable, self.data_flag, f"--steps={STEPS}", "--quiet",
                 f"--nvme-dir={self.work}", f"--log={log}", f"--save={weights}")
        return log.read_bytes(), weights.read_bytes()

    def most_resident(self, executable):
        return most_resident(executable, STEPS, self.data_flag, f"--nvme-dir={self.work}")


def check_refusals(checks, graph):
    """The model fits neither on the device alone nor on device and host together."""
    for what, flags in (("the device alone", []),
                        ("device and host", [flag.replace("nvme", "host") for flag in TIERS])):
        try:
            graph.compile("refused", f"--memory-budget={DEVICE}", f"--host-budget={HOST}", *flags)
            checks.that(False, f"{what} hold the model")
        except Failed as refusal:
            checks.that("budget" in str(refusal), f"{what}: {refusal}")


def check_saving(checks, graph, saved):
    """The run in memory exceeds this one by at least 4/5 of the bytes on disk less the staging
    buffers."""
    _, host, disk = map(int, re.findall(r"^  arena +(\d+)", graph.report, re.MULTILINE))
    expected = RANKS * (disk - host)
    print(f"{saved / MIB:.1f} MiB less resident than in memory; on disk less staging: "
          f"{expected / MIB:.1f}")
    checks.that(saved >= 0.8 * expected, f"{saved} bytes less than in memory, of {expected}")


def main():
    work = Path(sys.argv[1])
    checks = Checks()
    graph = DeepGraph(work / "large", LAYERS)
    check_refusals(checks, graph)
    memory = graph.compile("memory")
    expected = graph.train(memory)
    executable = graph.compile("tiers", f"--memory-budget={DEVICE}", f"--host-budget={HOST}",
                               *TIERS)
    read, written = planned = disk_bytes(graph.report)
    got = graph.train(executable)
    checks.that(got[0] == expected[0], f"losses {got[0]}, in memory {expected[0]}")
    checks.that(got[1] == expected[1], "other weights than in memory")
    check_watched(checks, "watched", graph, executable, planned)

    small = DeepGraph(work / "small", 1)
    idle = small.most_resident(small.compile("tiers", *TIERS))
    resident = graph.most_resident(executable) - idle
    limit = RANKS * (DEVICE + HOST)
    print(f"state {STATE / MIB:.1f} MiB a rank on {DEVICE / MIB:.1f} of the device and "
          f"{HOST / MIB:.1f} of the host; {read / MIB:.1f} MiB read and {written / MIB:.1f} "
          f"written a step; {resident / MIB:.1f} MiB resident of {limit / MIB:.1f}")
    checks.that(resident <= limit, f"{resident} bytes resident, more than both budgets: {limit}")
    least = graph.most_resident(graph.compile("least", *TIERS)) - idle
    print(f"without budgets {least / MIB:.1f} MiB resident; parameters {PARAMETERS * 4 / MIB:.1f}")
    checks.that(least < 4 * PARAMETERS / 2, f"{least} bytes resident from the start on")
    check_saving(checks, graph, graph.most_resident(memory) - idle - least)
    checks.finish()


if __name__ == "__main__":
    main()
