"""A signal ends a run after the step in progress, with its files; a second one ends it immediately.

usage: check_interrupt.py DATA WORK
"""

import json
import os
import shutil
import signal
import subprocess
import sys
import time

from zero_test import Checks, Graph, read_safetensors, run_tool

MANY = "--steps=1000000"


def allow_signals():
    """A test run in the background would ignore them, and its children too."""
    for each in (signal.SIGINT, signal.SIGTERM):
        signal.signal(each, signal.SIG_DFL)


def start(graph, *words):
    return subprocess.Popen([str(word) for word in ("zero-run", *words, graph.data_flag)],
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                            preexec_fn=allow_signals)


def wait_for_steps(process):
    """Waits until the first step is printed."""
    for line in process.stdout:
        if line.startswith("step "):
            return
    raise AssertionError(f"no step: {process.stderr.read()}")


def outputs(work):
    files = {name: work / f"out.{name}" for name in ("safetensors", "jsonl", "json")}
    return files, [f"--save={files['safetensors']}", f"--log={files['jsonl']}",
                   f"--report-json={files['json']}"]


def left(work):
    return sorted(path.name for path in work.iterdir() if path.name.startswith("out."))


def check_ends_in_order(checks, graph, executable, number):
    """The written files equal those of a run with this number of steps."""
    files, flags = outputs(graph.work)
    process = start(graph, executable, *flags, MANY)
    wait_for_steps(process)
    process.send_signal(number)
    _, errors = process.communicate(timeout=300)
    label = signal.Signals(number).name
    checks.that(process.returncode == 128 + number, f"{label}: exit code {process.returncode}")
    steps = len(files["jsonl"].read_text().splitlines())
    checks.that(f"interrupted after {steps} of 1000000 steps" in errors, f"{label}: '{errors}'")
    report = json.loads(files["json"].read_text())
    checks.that(report["interrupted"] and report["steps"] == steps, f"{label}: {report['steps']}")
    got = read_safetensors(files["safetensors"])
    run_tool("zero-run", executable, graph.data_flag, f"--steps={steps}", "--quiet",
             f"--save={files['safetensors']}")
    expected = read_safetensors(files["safetensors"])
    checks.that(all((got[name] == expected[name]).all() for name in expected),
                f"{label}: other weights than after {steps} steps")
    checks.that(len(left(graph.work)) == 3, f"{label}: {left(graph.work)}")
    for path in files.values():
        path.unlink()


def check_second_ends_at_once(checks, graph, executable):
    """The second signal arrives while rank 1 never ends its step."""
    _, flags = outputs(graph.work)
    process = start(graph, executable, *flags, MANY, "--stall=1:3", "--timeout=1000")
    deadline = time.monotonic() + 300
    while len(left(graph.work)) < 3 and time.monotonic() < deadline:
        time.sleep(0.05)
    time.sleep(1)
    process.send_signal(signal.SIGINT)
    time.sleep(0.3)
    checks.that(process.poll() is None, "the first signal does not let the step end")
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=300)  # the timeout for the stalled rank is much longer
    checks.that(process.returncode == 130, f"exit code {process.returncode}: {errors}")
    checks.that(not left(graph.work), f"a second signal leaves {left(graph.work)}")


def check_while_compiling(checks, graph):
    """Both programs get the signal, as from a terminal: nothing is left, nothing is trained."""
    folder = graph.work / "tmp"
    folder.mkdir()
    _, flags = outputs(graph.work)
    forever = graph.work / "list"  # zeroc waits for a writer of the list of trainable parameters
    os.mkfifo(forever)
    process = subprocess.Popen(
        ["zero-run", str(graph.folder / "model.onnx"), "--zero-stage=1", "--ranks=2",
         f"--trainable={forever}", graph.data_flag, *flags, MANY], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        preexec_fn=allow_signals, start_new_session=True,
        env={**os.environ, "TMPDIR": str(folder)})
    deadline = time.monotonic() + 300
    while not any(folder.iterdir()) and time.monotonic() < deadline:
        time.sleep(0.01)
    os.killpg(process.pid, signal.SIGTERM)
    _, errors = process.communicate(timeout=300)
    checks.that(process.returncode == 143, f"compiling: exit code {process.returncode}: {errors}")
    checks.that("interrupted before the first step" in errors, f"compiling: {errors}")
    checks.that(not any(folder.iterdir()) and not left(graph.work), "compiling: files are left")


def main():
    data, work = sys.argv[1:]
    shutil.rmtree(work, ignore_errors=True)
    checks = Checks()
    graph = Graph(data, "mlp", work)
    executable = graph.compile(2, 2, "--optimizer=sgd")
    for number in (signal.SIGINT, signal.SIGTERM):
        check_ends_in_order(checks, graph, executable, number)
    check_second_ends_at_once(checks, graph, executable)
    check_while_compiling(checks, Graph(data, "gpt2-tiny", f"{work}/compiling"))
    checks.finish()


if __name__ == "__main__":
    main()
