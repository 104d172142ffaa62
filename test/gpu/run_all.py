"""Runs the checks that need a GPU, and prints a table of the results.

usage: run [--build BUILD] [--graphs mlp,gpt2-tiny] [--ranks 1,2,4]

Ranks share GPU 0, so sums have the order of ranks and stages must be bitwise identical. Exits with
1 if a check failed, and with 2 if there is no GPU.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

TEST = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(TEST / "support"))

from torch_step import torch_step  # noqa: E402
from zero_test import Failed, Graph, run_tool  # noqa: E402


class Missing(Exception):
    """Something that a check needs is not installed."""


class Table:
    """Prints one line per check when it ends."""

    def __init__(self):
        self.failed = 0

    def row(self, what, result, detail):
        print(f"{what:<44} {result:<7} {detail}", flush=True)
        self.failed += result == "FAILED"

    def check(self, what, body):
        begin = time.time()
        try:
            detail = body()
            self.row(what, "ok", f"{detail} ({time.time() - begin:.1f} s)")
        except Missing as error:
            self.row(what, "skipped", error)
        except (Failed, AssertionError, subprocess.TimeoutExpired) as error:
            self.row(what, "FAILED", str(error).strip().replace("\n", "\n    "))


def communicator(build):
    """Runs the conformance suite of communicators with the communicator of the GPU."""
    environment = {**os.environ, "ZERO_TEST_GPU": "1"}
    done = subprocess.run([build / "bin/unit/runtime-communicator-test", "--gtest_brief=1",
                           "--gtest_filter=*gpu*"], env=environment, capture_output=True, text=True,
                          timeout=600)
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
    return done.stdout.strip().splitlines()[-1]


def ground_truth(args, graph, work):
    """Compares with PyTorch's losses and gradients; stages must be bitwise identical."""
    done = subprocess.run([sys.executable, TEST / "execute/check_groundtruth.py", TEST / "data", work, graph,
                           f"--ranks={args.ranks}", "--device=cuda", "--optimizers=adamw"],
                          capture_output=True, text=True, timeout=3000)
    assert done.returncode == 0, (done.stdout + done.stderr)[-3000:]
    return done.stdout.strip().splitlines()[-1]


def certificate(args, graph, work):
    """Each rank allocates the memory that was printed before."""
    graph, details = Graph(TEST / "data", graph, work), []
    for stage in (0, 3):
        ranks = max(map(int, args.ranks.split(",")))
        report = graph.run(graph.compile(stage, ranks, "--device=cuda"), 3).report
        peak = report["memory"]["device"]["peak"]
        taken = {rank["arena_bytes"] for rank in report["per_rank"]}
        assert taken == {peak}, f"stage {stage}: {peak} bytes were certified, {taken} allocated"
        details.append(f"stage {stage}: {peak}")
    return "bytes of a rank, " + ", ".join(details)


def count_gpus():
    """The number of GPUs, or one if it is unknown."""
    try:
        return max(1, subprocess.run(["nvidia-smi", "-L"], capture_output=True, text=True).stdout.count("GPU "))
    except OSError:
        return 1


def processes(graph, work):
    """One process for each of up to two GPUs, joined by NCCL, has the same losses as ranks that
    share a GPU."""
    graph, gpus = Graph(TEST / "data", graph, work), min(2, count_gpus())
    executable, log = graph.compile(3, gpus, "--device=cuda"), work / "processes.jsonl"
    expected = graph.run(executable, 5).losses
    running = [subprocess.Popen(["zero-run", executable, graph.data_flag, "--steps=5", "--quiet", f"--log={log}",
                                 f"--join={work / 'join'}", f"--rank={rank}", f"--gpus={rank}"],
                                stderr=subprocess.PIPE, text=True) for rank in range(gpus)]
    errors = "".join(process.communicate(timeout=300)[1] for process in running)
    if "NCCL was not found" in errors:
        raise Missing(errors.strip().splitlines()[0])
    assert all(process.returncode == 0 for process in running), errors
    losses = [json.loads(line)["loss"] for line in log.read_text().splitlines()]
    assert np.allclose(losses, expected, rtol=1e-5), f"losses {losses}, expected {expected}"
    return f"{len(losses)} steps on {gpus} GPU{'s' if gpus > 1 else ''}"


def step_time(args, graph, work):
    """Seconds of a step at stages 0 and 3 on one rank, and those of PyTorch if it is installed."""
    graph = Graph(TEST / "data", graph, work)
    seconds = []
    for stage in (0, 3):
        executable = graph.compile(stage, 1, "--device=cuda", "--optimizer=adamw")
        report = graph.run(executable, args.steps).report
        seconds.append(np.median(report["seconds"][5:]))
    torch = torch_step(graph, args.steps)
    return (f"{1e3 * seconds[0]:.3f} ms at stage 0, {1e3 * seconds[1]:.3f} ms at stage 3; PyTorch "
            + (f"{1e3 * torch:.3f} ms" if torch else "is not there or has no GPU"))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--build", type=Path, default=TEST.parent / "build")
    parser.add_argument("--graphs", default="mlp,gpt2-tiny")
    parser.add_argument("--timed", default="gpt2-tiny,gpt2-mini")
    parser.add_argument("--ranks", default="1,2,4")
    parser.add_argument("--steps", type=int, default=50)
    args = parser.parse_args()
    os.environ["PATH"] = f"{args.build}/bin:{os.environ['PATH']}"
    os.environ["PYTHONPATH"] = str(TEST / "support")
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder)
        try:
            graph = Graph(TEST / "data", "mlp", work)
            graph.run(graph.compile(0, 1, "--device=cuda"), 1)
        except Failed as error:
            print(error)
            sys.exit(2)
        table = Table()
        table.check("communicator between ranks on one GPU", lambda: communicator(args.build))
        for name in args.graphs.split(","):
            table.check(f"{name}: PyTorch's numbers, equal stages", lambda: ground_truth(args, name, work))
            table.check(f"{name}: certificate", lambda: certificate(args, name, work))
        table.check("mlp: a process for each GPU", lambda: processes("mlp", work))
        for name in filter(None, args.timed.split(",")):
            table.check(f"{name}: a step", lambda: step_time(args, name, work))
    sys.exit(1 if table.failed else 0)


if __name__ == "__main__":
    main()
