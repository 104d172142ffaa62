"""Several threads per rank compute the same as one thread. The plan includes their memory. More
threads than cores cause a warning.

usage: check_threads.py DATA WORK
"""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np

from zero_test import Checks, Failed, Graph, run_tool


def check_results(checks, graph, ranks, planned):
    """oneDNN may split sums differently for several threads, so its products differ in the last
    bits. Native kernels may not differ; the unit tests check that."""
    executable = graph.compile(2, ranks, "--lr=1e-3", f"--threads-per-rank={planned}")
    one = graph.run(executable, 2, "--threads-per-rank=1")
    checks.that(abs(one.losses[0] - graph.truth["loss"]) <= 1e-5, f"loss {one.losses[0]}")
    for threads in range(2, planned + 1):
        label = f"{graph.name} on {ranks} x {threads}"
        more = graph.run(executable, 2, f"--threads-per-rank={threads}")
        error = np.max(np.abs(more.losses - one.losses) / one.losses)
        checks.that(error <= 1e-6, f"{label}: losses differ by {error:.1e}")
    again = graph.run(executable, 2)
    checks.that(again.same_bits(more), f"{label}: bits differ from the number as planned")


def output(*arguments, **options):
    done = subprocess.run([str(a) for a in arguments], capture_output=True, text=True, **options)
    return done.stdout + done.stderr


def check_refusal(checks, graph):
    executable = graph.compile(0, 1)
    text = output("zero-run", executable, graph.data_flag, "--threads-per-rank=8")
    checks.that("it needs" in text and "with 8 threads per rank, the plan has" in text and
                "compile it here with --threads-per-rank=8" in text, f"no refusal: {text}")
    run_tool("zero-run", graph.folder / "model.onnx", graph.data_flag, "--quiet",
             "--threads-per-rank=3")
    for value in ("0", "1025"):
        try:
            graph.compile(0, 1, f"--threads-per-rank={value}")
            checks.that(False, f"--threads-per-rank={value} is taken")
        except Failed as error:
            checks.that(f"--threads-per-rank: expected 1 to 1024, got {value}" in str(error),
                        str(error))


def check_cores(checks, graph):
    """Ranks and threads are compared with the cores that the process may use."""
    core = min(os.sched_getaffinity(0))
    executable = graph.compile(1, 2)
    text = output("zero-run", executable, graph.data_flag,
                  preexec_fn=lambda: os.sched_setaffinity(0, {core}))
    warning = "zero-run: warning: 2 ranks of 1 thread on 1 core: threads share cores"
    checks.that(text.count(warning) == 1, f"no warning: {text}")
    one = output("zero-run", graph.compile(0, 1), graph.data_flag)
    checks.that("warning" not in one, f"a warning for one thread: {one}")


def environment(executable, graph, **variables):
    """The environment of a run as OpenMP sees it."""
    run = subprocess.Popen(["zero-run", executable, graph.data_flag, "--steps=1000"],
                           stdout=subprocess.PIPE, text=True, env={**os.environ, **variables})
    while not run.stdout.readline().startswith("step 0"):
        pass
    text = Path(f"/proc/{run.pid}/environ").read_text()
    run.kill()
    run.communicate()
    return text


def check_waiting(checks, graph):
    """Waiting threads do not keep cores busy, unless the user asks for that."""
    two = graph.compile(0, 1, "--threads-per-rank=2")
    checks.that("GOMP_SPINCOUNT=1000" in environment(two, graph), "threads spin")
    checks.that("GOMP_SPINCOUNT" not in environment(two, graph, OMP_WAIT_POLICY="active"),
                "OMP_WAIT_POLICY is not respected")
    one = graph.compile(0, 1)
    checks.that("GOMP_SPINCOUNT" not in environment(one, graph), "one thread waits for none")


def main():
    data, work = sys.argv[1:]
    checks = Checks()
    graph = Graph(data, "gpt2-mini", f"{work}/gpt2-mini")
    check_results(checks, graph, 1, 3)
    check_results(checks, graph, 2, 2)
    small = Graph(data, "gpt2-tiny", f"{work}/gpt2-tiny")
    check_refusal(checks, small)
    check_cores(checks, small)
    check_waiting(checks, small)
    checks.finish()


if __name__ == "__main__":
    main()
