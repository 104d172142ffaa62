"""Descriptors, signals, limits and foreign files in the environment of a process.

usage: check_process.py DATA WORK
"""

import os
import resource
import shutil
import signal
import struct
import subprocess
import sys
import time
from pathlib import Path

from zero_test import Checks, Graph

STEPS = "--steps=3"
FOREVER = "--steps=10000"  # prints one line per 200 steps


class Run:
    """zero-run in a separate folder, to which it writes all its files."""

    def __init__(self, graph, executable, folder):
        shutil.rmtree(folder, ignore_errors=True)
        self.graph, self.folder, self.disk = graph, folder, folder / "disk"
        self.disk.mkdir(parents=True)
        self.weights, self.log = folder / "out.safetensors", folder / "log.jsonl"
        self.state = folder / "state"
        self.command = [str(word) for word in (
            "zero-run", executable, graph.data_flag, f"--nvme-dir={self.disk}",
            f"--save={self.weights}", f"--log={self.log}", f"--save-state={self.state}")]

    def start(self, *flags, before=None, **options):
        return subprocess.Popen([*self.command, *flags], text=True,
                                preexec_fn=before or allow_signals,
                                **{"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **options})

    def run(self, *flags, before=None):
        process = self.start(*flags, before=before)
        _, errors = process.communicate(timeout=300)
        return process.returncode, errors

    def written(self):
        return self.weights.read_bytes(), self.log.read_text()

    def left(self):
        """Files that must not outlive a run."""
        return sorted(str(path.relative_to(self.folder)) for path in self.folder.rglob("*")
                      if ".tmp-" in path.name or path.name == ".lock" or path.parent == self.disk)


def allow_signals():
    """A test run in the background would ignore them, and its children too."""
    for each in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGPIPE):
        signal.signal(each, signal.SIG_DFL)


def wait_for(condition, process):
    """Waits until `condition` holds or the process ends."""
    deadline = time.monotonic() + 300
    while not condition() and process.poll() is None and time.monotonic() < deadline:
        time.sleep(0.01)


def close(*streams):
    def before():
        for stream in streams:
            os.close(stream)
    return before


def check_closed_streams(checks, make, compile_to):
    """With any descriptor closed, printed text is never written to a file."""
    expected = make("open")
    expected.run(STEPS)
    for streams in ((0,), (1,), (2,), (0, 1), (0, 1, 2)):
        run = make("closed")
        code, _ = run.run(STEPS, before=close(*streams))
        checks.that(code == 0, f"closed {streams}: exit code {code}")
        checks.that(run.written() == expected.written(), f"closed {streams}: other files")
        checks.that(not run.left(), f"closed {streams}: {run.left()} is left")
    whole = compile_to("whole.zexe").read_bytes()
    for streams in ((0,), (1,), (2,), (0, 1, 2)):
        got = compile_to("closed.zexe", before=close(*streams))
        checks.that(got.exists() and got.read_bytes() == whole, f"zeroc, closed {streams}")


def check_ended_by(checks, make, number, end):
    """A run that `end` ends writes the requested files, and a resumed run continues."""
    name = signal.Signals(number).name
    run = make(name)
    process = run.start(FOREVER)
    wait_for(lambda: process.stdout.readline().startswith("step "), process)
    end(process)
    errors = process.stderr.read()
    process.wait(timeout=300)
    checks.that(process.returncode == 128 + number, f"{name}: {process.returncode} {errors}")
    steps = len(run.log.read_text().splitlines())
    saved = [path.name for path in run.state.iterdir()]
    checks.that(saved == [f"step-{steps:08}"], f"{name}: {saved} after {steps} steps")
    checks.that(run.weights.exists() and not run.left(), f"{name}: {run.left()} is left")


def check_ends(checks, make):
    check_ended_by(checks, make, signal.SIGHUP, lambda it: it.send_signal(signal.SIGHUP))
    # As `| head` does.
    check_ended_by(checks, make, signal.SIGPIPE, lambda it: it.stdout.close())
    run = make("nohup")
    ignored = run.start(FOREVER, before=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN))
    wait_for(lambda: ignored.stdout.readline().startswith("step "), ignored)
    ignored.send_signal(signal.SIGHUP)
    for _ in range(3):  # lines that are printed after it
        checks.that(ignored.stdout.readline(), "nohup: SIGHUP ends the run")
    ignored.kill()
    ignored.communicate()


def check_unread(checks, compile_to):
    """zeroc writes its file, whether or not a process reads its output."""
    whole = compile_to("whole.zexe").read_bytes()
    reading, writing = os.pipe()
    os.close(reading)
    ended = []
    got = compile_to("unread.zexe", before=allow_signals, ended=ended, stdout=writing)
    os.close(writing)
    checks.that(ended[0] == 0 and got.read_bytes() == whole, f"zeroc, unread: {ended}")


def check_killed(checks, make):
    """Files that a killed run leaves are removed by the next run."""
    run = make("killed")
    process = run.start(FOREVER, "--save-every=1")
    wait_for(lambda: run.state.exists() and any(run.state.glob("step-*")), process)
    process.kill()
    process.communicate()
    steps = max(int(path.name[5:]) for path in run.state.glob("step-*"))
    lines = run.log.read_text().splitlines() if run.log.exists() else []
    checks.that(len(lines) >= steps, f"killed: {len(lines)} lines of {steps} steps")
    checks.that(any(".tmp-" in name for name in run.left()), f"killed: only {run.left()} is left")
    code, errors = run.run(f"--resume={run.state}", f"--steps={steps + 2}")
    checks.that(code == 0 and not run.left(), f"killed: {errors} {run.left()} is left")
    checks.that(len(run.log.read_text().splitlines()) == steps + 2, "killed: lines are missing")


def is_in_step(file):
    """Whether the header of a rank's file marks a step in progress."""
    with open(file, "rb") as opened:
        header = opened.read(16)
    return len(header) == 16 and struct.unpack("<8sII", header)[2] == 1


def check_many_ranks(checks, graph, folder):
    """A second signal removes every file of the run, but no file of another program."""
    executable = graph.compile(3, 70, "--offload-params=nvme", "--offload-optimizer=nvme",
                               graph.shape_flag(ranks=8))
    run = Run(graph, executable, folder)
    process = run.start("--stall=1:3", "--timeout=1000", FOREVER)
    wait_for(lambda: len(list(run.disk.iterdir())) == 70, process)
    wait_for(lambda: is_in_step(run.disk / "zero-rank69.nvme"), process)
    replaced = run.disk / "zero-rank66.nvme"
    replaced.rename(run.folder / "aside")
    replaced.write_text("of somebody else")
    process.send_signal(signal.SIGINT)
    time.sleep(0.3)
    checks.that(process.poll() is None, "the first signal does not let the step end")
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=300)
    checks.that(process.returncode == 130, f"70 ranks: exit code {process.returncode}")
    checks.that(run.left() == ["disk/zero-rank66.nvme"], f"70 ranks: {run.left()} is left")
    checks.that(replaced.read_text() == "of somebody else", "70 ranks: a file of somebody else")


def check_truncated(checks, graph, make):
    """Data that is truncated while it is in use."""
    run = make("truncated")
    data = run.folder / "x.npy"
    shutil.copy(graph.work / "x.npy", data)
    run.command[2] = run.command[2].replace(str(graph.work / "x.npy"), str(data))
    process = run.start(FOREVER)
    wait_for(lambda: process.stdout.readline().startswith("step "), process)
    os.truncate(data, 0)
    errors = process.communicate(timeout=300)[1]
    checks.that(process.returncode == 1, f"truncated: exit code {process.returncode}")
    checks.that(f"cannot read '{data}'" in errors and "truncated" in errors, f"truncated: {errors}")
    checks.that(run.log.exists() and run.log.read_text().startswith('{"step":0'),
                "truncated: the log is lost")
    checks.that(not run.left(), f"truncated: {run.left()} is left")


def limit(which, amount):
    return lambda: resource.setrlimit(which, (amount, amount))


def check_end(checks, label, tool, code, errors):
    """The program works or names what it lacks; the loader or the C library may do so instead."""
    # glibc ends a thread whose first thread_local destructor finds no memory.
    if code == -signal.SIGABRT and "Fatal glibc error" in errors and "out of memory" in errors:
        return
    checks.that(code in (0, 1, 127), f"{label}: exit code {code}: {errors}")
    if code == 1:
        # The compiler's own errors begin with the place in the model.
        lines = [line for line in errors.splitlines()
                 if f"{tool}: error:" in line or ":0:0: error:" in line]
        words = ("memory", "thread", "map", "too large")
        checks.that(any(word in line for line in lines for word in words), f"{label}: {errors}")


def check_limits(checks, make, compile_to):
    for megabytes in (60, 64, 66, 68, 70, 74, 80, 90, 100, 120, 140, 180, 240):
        run = make("memory")
        code, errors = run.run(STEPS, before=limit(resource.RLIMIT_AS, megabytes << 20))
        check_end(checks, f"{megabytes} MiB", "zero-run", code, errors)
        checks.that(not run.left(), f"{megabytes} MiB: {run.left()} is left")
    # Below 3 MiB, the kernel has no room for the variables of zeroc's file (readelf: 2.6 MiB) and ends
    # it before its first instruction.
    for megabytes in (4, 8, 12, 16, 20, 22, 24, 25, 26, 28, 32, 48):
        ended = []
        compile_to("small.zexe", before=limit(resource.RLIMIT_DATA, megabytes << 20), ended=ended)
        check_end(checks, f"zeroc, {megabytes} MiB", "zeroc", *ended)
    for size in (0, 1 << 12):
        ended = []
        got = compile_to("short.zexe", before=limit(resource.RLIMIT_FSIZE, size), ended=ended)
        checks.that(ended[0] == 1 and "File too large" in ended[1], f"zeroc, {size}: {ended}")
        checks.that(not list(got.parent.glob("short*")), f"zeroc, {size}: a file is left")


def check_one_run(checks, make):
    """A second run in a folder of checkpoints is an error and changes nothing."""
    run = make("one")
    first = run.start(FOREVER)
    wait_for(lambda: first.stdout.readline().startswith("step "), first)
    checks.that((run.state / ".lock").exists(), "the folder is not locked")
    second = Run(run.graph, run.command[1], run.folder.parent / "other")
    second.command[-1] = run.command[-1]
    code, errors = second.run(STEPS)
    checks.that(code == 1 and f"'{run.state}' is in use by another process" in errors,
                f"a second run: {code} {errors}")
    checks.that(first.poll() is None, f"the first run ended: {first.returncode}")
    first.send_signal(signal.SIGTERM)
    first.communicate(timeout=300)
    checks.that(not run.left() and len(list(run.state.glob("step-*"))) == 1, f"{run.left()}")
    code, errors = second.run(f"--resume={run.state}", "--steps=1")
    checks.that(code == 0, f"once the first has ended: {errors}")


def children_of(process):
    try:
        return [int(child) for child in Path(f"/proc/{process}/task/{process}/children").read_text().split()]
    except OSError:
        return []


def is_running(process):
    try:
        return Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False


def check_compiler_ends(checks, model):
    """The compiler of a run that is killed ends with it. It would look for a plan for seconds."""
    run = subprocess.Popen(["zero-run", model, "--zero=auto", "--ranks=4", "--memory-budget=60MiB",
                            "--optimizer=adamw", "--data=none.npz"], stdout=subprocess.DEVNULL,
                           stderr=subprocess.DEVNULL)
    wait_for(lambda: children_of(run.pid), run)
    compiler = children_of(run.pid)[0]
    run.kill()
    run.wait()
    time.sleep(0.3)
    checks.that(not is_running(compiler), f"the compiler {compiler} of a killed run goes on")


def main():
    data, work = sys.argv[1:]
    work = Path(work)
    shutil.rmtree(work, ignore_errors=True)
    checks = Checks()
    graph = Graph(data, "mlp-dynbatch", work)
    executable = graph.compile(3, 2, "--optimizer=sgd", "--lr=1e-4", graph.shape_flag(ranks=8),
                               "--offload-params=nvme")

    def make(name):
        return Run(graph, executable, work / name)

    def compile_to(name, before=None, ended=None, stdout=subprocess.PIPE):
        process = subprocess.Popen(
            ["zeroc", str(graph.folder / "model.onnx"), "--zero-stage=1", "--ranks=2",
             graph.shape_flag(ranks=2), "-o", str(work / name)], text=True, preexec_fn=before,
            stdout=stdout, stderr=subprocess.PIPE)
        _, errors = process.communicate(timeout=300)
        if ended is not None:
            ended.extend((process.returncode, errors))
        return work / name

    check_closed_streams(checks, make, compile_to)
    check_ends(checks, make)
    check_unread(checks, compile_to)
    check_killed(checks, make)
    check_many_ranks(checks, graph, work / "many")
    check_truncated(checks, graph, make)
    check_limits(checks, make, compile_to)
    check_one_run(checks, make)
    check_compiler_ends(checks, Path(data) / "gpt2-mini/model.onnx")
    checks.finish()


if __name__ == "__main__":
    main()
