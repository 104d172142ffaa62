"""A failing system call, or a kill at one, has no worse effect than the documentation says. For
each n, the n-th call of each kind fails in a short run with checkpoints and tiers.

usage: check_faults.py DATA WORK LIBRARY MOST     at most MOST of the calls of a kind
"""

import errno
import os
import shutil
import subprocess
import sys
from pathlib import Path

from checkpoints import generations, read_tensors, same_tensors
from zero_test import Checks, Graph

STEPS = 4
OLD = b"what was there before"
#: The errors of calls of each kind.
ERRORS = {"rename": errno.EIO, "fsync": errno.EIO, "mkdir": errno.ENOSPC, "unlink": errno.EIO,
          "mmap": errno.ENOMEM, "write": errno.ENOSPC}
#: The calls before which a kill occurs. A kill at a write equals one at the call before it.
KILLED = ("rename", "fsync", "mkdir", "unlink", "write")


class Trial:
    """A run in a separate folder."""

    def __init__(self, graph, executable, folder, library):
        self.folder, self.library = folder, library
        self.state, self.disk = folder / "state", folder / "disk"
        self.weights, self.log = folder / "out.safetensors", folder / "log.jsonl"
        self.command = [
            str(word) for word in (
                "zero-run", executable, graph.data_flag, "--shuffle=3", "--quiet", f"--nvme-dir={self.disk}", "--nvme-io=threads",
                f"--save={self.weights}", f"--log={self.log}",
                f"--report-json={folder / 'report.json'}", f"--save-state={self.state}",
                "--save-every=1")]

    def begin(self):
        shutil.rmtree(self.folder, ignore_errors=True)
        self.disk.mkdir(parents=True)
        self.weights.write_bytes(OLD)

    def run(self, *flags, steps=STEPS, fault="", counts=""):
        return run_faulty([*self.command, f"--steps={steps}", *flags], self.library, fault, counts)

    def left(self):
        """Files that no run may leave."""
        return sorted(str(path.relative_to(self.folder)) for path in self.folder.rglob("*")
                      if ".tmp-" in path.name or path.name == ".lock" or path.parent == self.disk)

    def lines(self):
        return self.log.read_text().splitlines() if self.log.exists() else []


def run_faulty(command, library, fault="", counts=""):
    variables = {"LD_PRELOAD": library, "ZERO_FAULT": fault, "ZERO_FAULT_COUNTS": counts}
    return subprocess.run(command, capture_output=True, text=True, timeout=300,
                          env={**os.environ, **{k: str(v) for k, v in variables.items() if v}})


def read_counts(path):
    return {kind: int(count) for kind, count in
            (line.split() for line in Path(path).read_text().splitlines())}


def some(count, most):
    """Up to `most` numbers of 1 to `count`, including the first and the last."""
    if count <= most:
        return list(range(1, count + 1))
    return sorted({1 + round(index * (count - 1) / (most - 1)) for index in range(most)})


class Expected:
    """The files that a run without faults leaves."""

    def __init__(self, trial):
        self.weights, self.lines = trial.weights.read_bytes(), trial.lines()
        self.states = {}

    def add_state(self, generation):
        self.states[generation.name] = read_tensors(generation)


def expect(trial, counts):
    """The run without faults, and the states that it passes through."""
    trial.begin()
    done = trial.run(counts=counts)
    assert done.returncode == 0, done.stderr
    assert not trial.left(), trial.left()
    expected = Expected(trial)
    for step in range(1, STEPS + 1):
        trial.begin()
        assert trial.run(steps=step).returncode == 0
        expected.add_state(generations(trial.state)[-1])
    return expected


def check_error(checks, label, done, number):
    """The error is one line with the message of the system."""
    errors = [line for line in done.stderr.splitlines() if "error:" in line]
    checks.that(done.returncode in (0, 1), f"{label}: exit code {done.returncode}: {done.stderr}")
    if done.returncode == 1:
        checks.that(len(errors) == 1, f"{label}: {done.stderr}")
        said = [os.strerror(number)] + ["out of memory"] * (number == errno.ENOMEM)
        checks.that(any(text in done.stderr for text in said), f"{label}: {done.stderr}")


def check_left(checks, label, trial, expected, succeeded):
    """Existing files are complete: as before, or as a run without faults leaves them."""
    weights = trial.weights.read_bytes()
    checks.that(weights == expected.weights or (weights == OLD and not succeeded),
                f"{label}: other weights")
    lines = trial.lines()
    checks.that(lines == expected.lines[:len(lines)], f"{label}: log {lines}")
    checks.that(len(lines) == STEPS or not succeeded, f"{label}: {len(lines)} lines")
    found = generations(trial.state)
    for each in found:
        checks.that(same_tensors(read_tensors(each), expected.states[each.name]),
                    f"{label}: other state in {each.name}")
    newest = int(found[-1].name.removeprefix("step-")) if found else 0
    checks.that(len(lines) >= newest, f"{label}: {len(lines)} lines of {newest} steps")
    checks.that(newest == STEPS or not succeeded, f"{label}: the newest state is of {newest}")


def check_goes_on(checks, label, trial, expected):
    """The same command completes an interrupted run and removes leftover files."""
    done = trial.run(f"--resume={trial.state}", "--resume-if-any")
    checks.that(done.returncode == 0, f"{label}, again: {done.stderr}")
    check_left(checks, f"{label}, again", trial, expected, succeeded=True)
    checks.that(not trial.left(), f"{label}, again: {trial.left()} is left")


def check_run(checks, trial, expected, kind, count):
    label = f"zero-run, {kind} {count}"
    trial.begin()
    done = trial.run(fault=f"{kind}:{count}:{ERRORS[kind]}")
    check_error(checks, label, done, ERRORS[kind])
    check_left(checks, label, trial, expected, succeeded=done.returncode == 0)
    checks.that(kind == "unlink" or not trial.left(), f"{label}: {trial.left()} is left")
    if any("step-" in name for name in trial.left()):
        checks.that("warning: cannot remove" in done.stderr, f"{label}: {trial.left()} is left")
    check_goes_on(checks, label, trial, expected)
    return done.returncode


def check_kill(checks, trial, expected, kind, count):
    label = f"zero-run, killed at {kind} {count}"
    trial.begin()
    done = trial.run(fault=f"{kind}:{count}:kill")
    checks.that(done.returncode == -9, f"{label}: exit code {done.returncode}")
    check_left(checks, label, trial, expected, succeeded=False)
    check_goes_on(checks, label, trial, expected)


def check_compiler(checks, graph, work, library, most):
    """zeroc leaves the previous executable or a complete new one."""
    folder = work / "compiler"
    folder.mkdir(parents=True)
    output = folder / "model.zexe"
    command = ["zeroc", str(graph.folder / "model.onnx"), "--zero-stage=1", "--ranks=2",
               graph.shape_flag(ranks=2), "-o", str(output), f"--report={folder / 'plan.json'}",
               f"--report={folder / 'plan.html'}"]
    done = run_faulty(command, library, counts=folder / "counts")
    assert done.returncode == 0, done.stderr
    counts, expected = read_counts(folder / "counts"), output.read_bytes()
    for kind, number in ERRORS.items():
        failed = 0
        for count in some(counts[kind], most):
            label = f"zeroc, {kind} {count}"
            output.write_bytes(OLD)
            done = run_faulty(command, library, fault=f"{kind}:{count}:{number}")
            check_error(checks, label, done, number)
            got = output.read_bytes()
            checks.that(got == expected or (got == OLD and done.returncode), f"{label}: damaged")
            left = [path.name for path in folder.iterdir() if "tmp" in path.name]
            checks.that(not left, f"{label}: {left} is left")
            failed += done.returncode
        print(f"zeroc: {counts[kind]} calls of {kind}, {failed} failures are errors")


def main():
    data, work, library, most = sys.argv[1:]
    work = Path(work)
    shutil.rmtree(work, ignore_errors=True)
    checks, most = Checks(), int(most)
    graph = Graph(data, "mlp-dynbatch", work)
    executable = graph.compile(3, 2, "--optimizer=adamw", "--lr=1e-4", graph.shape_flag(ranks=8),
                               "--offload-params=nvme", "--offload-optimizer=nvme",
                               "--offload-activations=host")
    trial = Trial(graph, executable, work / "run", library)
    expected = expect(trial, work / "counts")
    counts = read_counts(work / "counts")
    for kind in ERRORS:
        checks.that(counts[kind] > 0, f"no calls of {kind} were counted")
        failed = [check_run(checks, trial, expected, kind, count)
                  for count in some(counts[kind], most)]
        print(f"zero-run: {counts[kind]} calls of {kind}, {sum(failed)} of {len(failed)} failures "
              "are errors")
    for kind in KILLED:
        for count in some(counts[kind], most):
            check_kill(checks, trial, expected, kind, count)
    check_compiler(checks, graph, work, library, min(most, 60))
    checks.finish()


if __name__ == "__main__":
    main()
