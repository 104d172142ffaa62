"""State that is striped over several drives: the same bits as on one, as many bytes on each, and
checkpoints that any number of drives continues.

usage: check_drives.py DATA WORK
"""

import json
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from zero_test import Checks, Graph, check_refused, run_tool

STEPS = 4
FLAGS = ("--optimizer=adamw", "--lr=1e-3", "--offload-params=nvme", "--offload-optimizer=nvme",
         "--offload-gradients=nvme")


class Drives:
    """A program, and folders that stand for drives."""

    def __init__(self, data, work):
        self.graph = Graph(data, "gpt2-mini", work)
        self.executable = self.graph.compile(3, 2, *FLAGS)
        self.folders = [self.graph.work / name for name in ("first", "second", "third")]
        for folder in self.folders:
            folder.mkdir()

    def on(self, count):
        return "--nvme-dir=" + ",".join(map(str, self.folders[:count]))

    def train(self, count, *words, steps=STEPS):
        """The losses and the weights of a run on so many drives, and what it prints."""
        log, weights = self.graph.work / "log.jsonl", self.graph.work / "weights.safetensors"
        text = run_tool("zero-run", self.executable, self.graph.data_flag, self.on(count),
                        f"--steps={steps}", f"--log={log}", f"--save={weights}", *words)
        losses = [json.loads(line)["loss"] for line in log.read_text().splitlines()]
        return losses, weights.read_bytes(), text

    def leftovers(self):
        return [path.name for folder in self.folders for path in folder.glob("zero-rank*")]


def check_bits(checks, drives):
    expected = drives.train(1)
    for count, queue in ((2, "io_uring"), (2, "threads"), (3, "auto")):
        got = drives.train(count, f"--nvme-io={queue}", "--nvme-endurance=1TB")
        label = f"{count} drives, {queue}"
        checks.that(got[:2] == expected[:2], f"{label}: {got[0]}, expected {expected[0]}")
        checks.that("nvme: one file per rank in each of '" in got[2], f"{label}: {got[2]}")
        checks.that("of an endurance of 1 TB" in got[2], f"{label} on one disk: {got[2]}")
        checks.that(not drives.leftovers(), f"{label}: {drives.leftovers()} are left")
    return expected


def check_endurance(checks, drives):
    """Folders on different devices have the endurance of two drives."""
    with tempfile.TemporaryDirectory(dir="/dev/shm") as other:
        text = run_tool("zero-run", drives.executable, drives.graph.data_flag, "--steps=1",
                        f"--nvme-dir={drives.folders[0]},{other}", "--nvme-endurance=1TB")
    checks.that("of an endurance of 2 TB" in text, text)


def check_shares(checks, drives):
    """The files of a run differ by a stripe and a header at most."""
    run = subprocess.Popen(["zero-run", str(drives.executable), drives.graph.data_flag,
                            drives.on(3), "--steps=100000", "--quiet"],
                           stderr=subprocess.DEVNULL)
    expected = {f"zero-rank{rank}.nvme" for rank in (0, 1)}
    try:
        deadline = time.monotonic() + 60
        while (any({path.name for path in folder.iterdir()} != expected
                   for folder in drives.folders) and time.monotonic() < deadline):
            time.sleep(0.02)
        for name in expected:
            sizes = [(folder / name).stat().st_size for folder in drives.folders]
            checks.that(min(sizes) > 1 << 20 and max(sizes) - min(sizes) <= 512 << 10,
                        f"{name}: {sizes}")
    finally:
        run.terminate()
        run.wait()


def check_checkpoints(checks, drives, expected):
    """A run that begins on some drives and ends on others, its checkpoint on one of them."""
    for begins, ends in ((1, 2), (3, 1)):
        state = drives.folders[0] / f"state-{begins}"
        drives.train(begins, f"--save-state={state}", steps=2)
        losses, weights, _ = drives.train(ends, f"--resume={state}")
        label = f"from {begins} drives to {ends}"
        checks.that(losses == expected[0], f"{label}: {losses}, expected {expected[0]}")
        checks.that(weights == expected[1], f"{label}: other weights")


def check_errors(checks, drives):
    first, missing = drives.folders[0], drives.graph.work / "missing"
    for label, folders, words in (
            ("missing", f"{first},{missing}", f"'{missing}/zero-rank0.nvme': No such file"),
            ("twice", f"{first},{first}/.", f"lists '{first}/.' twice"),
            ("empty", f",{first}", "expected directories with commas between them, got ',")):
        check_refused(checks, label, [words], "zero-run", drives.executable,
                      drives.graph.data_flag, f"--nvme-dir={folders}")
    checks.that(not drives.leftovers(), f"{drives.leftovers()} are left")


def main():
    data, work = sys.argv[1:]
    shutil.rmtree(work, ignore_errors=True)
    checks = Checks()
    drives = Drives(data, Path(work))
    expected = check_bits(checks, drives)
    check_endurance(checks, drives)
    check_shares(checks, drives)
    check_checkpoints(checks, drives, expected)
    check_errors(checks, drives)
    checks.finish()


if __name__ == "__main__":
    main()
