"""A signal to a launcher, or to one process, ends all processes after the same step.

usage: check_processes_signals.py DATA WORK LAUNCHER [PREFIX...]
"""

import json
import os
import shutil
import signal
import subprocess
import sys
import time

from processes import Launcher, end, ranks_of, wait_for_steps
from zero_test import Checks, Graph, read_safetensors, run_tool

MANY = "--steps=10000000"


class Signals:
    def __init__(self, data, work, launcher):
        self.checks, self.launcher = Checks(), launcher
        self.graph = Graph(data, "mlp", work)
        self.executable = self.graph.compile(2, 2, "--optimizer=sgd")

    def start(self, label):
        folder = self.graph.work / label
        folder.mkdir()
        process = self.launcher.start(
            2, self.executable, self.graph.data_flag, MANY, f"--save={folder}/out.safetensors",
            f"--log={folder}/log.jsonl", f"--report-json={folder}/report.json",
            f"--save-state={folder}/state")
        wait_for_steps(process)
        return folder, process

    def finish(self, label, process):
        """The exit code and the errors, once all processes have ended."""
        ranks = self.ranks
        try:
            _, errors = process.communicate(timeout=20)
        except subprocess.TimeoutExpired:
            self.checks.that(False, f"{label}: no end")
            _, errors = end(process)
        for _ in range(100):
            left = [rank for rank in ranks if os.path.exists(f"/proc/{rank}")]
            if not left:
                break
            time.sleep(0.05)
        self.checks.that(not left, f"{label}: processes {left} are left")
        return process.returncode, errors

    def check_ended(self, label, number, send, codes):
        folder, process = self.start(label)
        self.ranks = ranks_of(self.executable, 2)
        send(process, self.ranks, number)
        code, errors = self.finish(label, process)
        self.checks.that(code in codes, f"{label}: exit code {code}: {errors}")
        self.checks.that("error:" not in errors, f"{label}: {errors}")
        self.checks.that(errors.count("interrupted after") == 1, f"{label}: {errors}")
        steps = len((folder / "log.jsonl").read_text().splitlines())
        report = json.loads((folder / "report.json").read_text())
        self.checks.that(report["interrupted"] and report["steps"] == steps,
                         f"{label}: {report['steps']} of {steps} steps")
        saved = sorted(path.name for path in (folder / "state").iterdir())
        self.checks.that(saved == [f"step-{steps:08}"], f"{label}: {saved} after {steps} steps")
        self.check_state(label, folder, steps)
        left = [path.name for path in folder.rglob("*") if ".tmp-" in path.name]
        self.checks.that(not left, f"{label}: {left} is left")

    def check_state(self, label, folder, steps):
        """Ranks that ended after different steps would have other weights."""
        run_tool("zero-run", self.executable, self.graph.data_flag, f"--steps={steps}", "--quiet",
                 f"--save={folder}/expected.safetensors")
        run_tool("zero-run", self.executable, self.graph.data_flag, f"--steps={steps}", "--quiet",
                 f"--resume={folder}/state", f"--save={folder}/resumed.safetensors")
        expected = read_safetensors(folder / "expected.safetensors")
        for name in ("out", "resumed"):
            got = read_safetensors(folder / f"{name}.safetensors")
            self.checks.that(all(got[key].tobytes() == expected[key].tobytes() for key in expected),
                             f"{label}: {name}: other weights than after {steps} steps")

    def check_twice(self):
        """The second signal ends all at once, also one that is stopped, and nothing is left."""
        folder, process = self.start("twice")
        self.ranks = ranks_of(self.executable, 2)
        os.kill(self.ranks[1], signal.SIGSTOP)
        process.send_signal(signal.SIGINT)
        time.sleep(0.3)
        process.send_signal(signal.SIGINT)
        code, errors = self.finish("twice", process)
        self.checks.that(code != 0, f"twice: {code} {errors}")
        left = [path.name for path in folder.rglob("*") if ".tmp-" in path.name]
        self.checks.that(not left, f"twice: {left} is left")

    def check_killed(self):
        """One that is killed ends all, soon, with an error that names it."""
        folder, process = self.start("killed")
        self.ranks = ranks_of(self.executable, 2)
        os.kill(self.ranks[1], signal.SIGKILL)
        code, errors = self.finish("killed", process)
        self.checks.that(code != 0, f"killed: {code} {errors}")
        if self.launcher.name not in ("processes", "slurm"):
            return  # mpirun kills the others before they can say or remove anything
        self.checks.that("rank 1" in errors, f"killed: {code} {errors}")
        left = [path.name for path in folder.rglob("*") if ".tmp-" in path.name]
        self.checks.that(not left, f"killed: {left} is left")


def to_launcher(process, _, number):
    process.send_signal(number)


def to_rank(rank):
    return lambda _, ranks, number: os.kill(ranks[rank], number)


def main():
    data, work, name, *prefix = sys.argv[1:]
    shutil.rmtree(work, ignore_errors=True)
    signals = Signals(data, work, Launcher(name, prefix))
    both = {signal.SIGINT: 130, signal.SIGTERM: 143}
    for number, code in both.items():
        # mpirun and torchrun have exit codes of their own.
        own = range(256) if name in ("openmpi", "mpich", "torchrun") else (code,)
        label = signal.Signals(number).name
        if name != "openmpi":  # after its SIGTERM, Open MPI's mpirun sends SIGKILL at once
            signals.check_ended(f"{label}-to-launcher", number, to_launcher, own)
        signals.check_ended(f"{label}-to-rank-1", number, to_rank(1), own)
    signals.check_ended("SIGTERM-to-rank-0", signal.SIGTERM, to_rank(0), own)
    signals.check_killed()
    if name == "processes":
        signals.check_twice()
    signals.checks.finish()


if __name__ == "__main__":
    main()
