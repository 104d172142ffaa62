"""A simulated step with state on a drive takes at most 1.15 times the longer of computing and of
the drive where both take the same time, if the host has space for half of the state.

usage: check_disk_overlap.py WORK
"""

import json
import shutil
import sys
from pathlib import Path

import make_deep
from zero_test import Checks, run_tool

RANKS, LAYERS, WIDTH, ROWS = 2, 24, 512, 256
MACHINE = Path(__file__).parents[1] / "tools/Inputs/two-drives.json"
NVME = ("--offload-params=nvme", "--offload-optimizer=nvme")
STATE = 3 * 4 * LAYERS * WIDTH * (WIDTH + 1) // RANKS  # of a rank
AIM, WITHOUT = 1.15, 1.25


def rates_of(rate):
    return {"read_bandwidth": rate, "write_bandwidth": rate}


class Balanced:
    """A model of equal layers, in memory and on a machine whose drive is given by its rates."""

    def __init__(self, work):
        self.work, self.machine = work, work / "machine.json"
        make_deep.write(work / "model.onnx", LAYERS, WIDTH, ROWS)
        self.in_memory = self.simulate(rates_of(1e9))["seconds"]
        moved = self.simulate(rates_of(1e9), *NVME)["moved_bytes"]
        self.read, self.written = (RANKS * moved[f"nvme {way}"] for way in ("read", "write"))

    def simulate(self, disk, *flags):
        self.machine.write_text(json.dumps(json.loads(MACHINE.read_text()) | {"disk": disk}))
        executable = self.work / "step.zexe"
        run_tool("zeroc", self.work / "model.onnx", "--zero-stage=3", f"--ranks={RANKS}",
                 "--optimizer=adamw", "-o", executable,
                 *([f"--machine={self.machine}"] if flags else []), *flags)
        return json.loads(run_tool("zero-sim", executable, f"--machine={self.machine}", "--json"))

    def ratio(self, disk, *flags):
        """Of a step on this drive, which takes as long as the step in memory."""
        return self.simulate(disk, *NVME, *flags)["seconds"] / self.in_memory


def main():
    work = Path(sys.argv[1])
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir(parents=True)
    checks = Checks()
    balanced = Balanced(work)
    turns, beside = ((balanced.read + balanced.written) / balanced.in_memory,
                     balanced.read / balanced.in_memory)
    for label, rates in (("in turns", {"mixed_bandwidth": turns} | rates_of(turns)),
                         ("reads beside writes", rates_of(beside))):
        for budget in ([], [f"--host-budget={STATE // 2}"]):
            ratio = balanced.ratio(rates, *budget)
            print(f"{label}, {budget}: {ratio:.3f}")
            checks.that(1 <= ratio <= (AIM if budget else WITHOUT), f"{label}, {budget}: {ratio}")
    checks.finish()


if __name__ == "__main__":
    main()
