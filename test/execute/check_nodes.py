"""Training on several nodes: namespaces of the network, see nodes.py.

usage: check_nodes.py DATA WORK MPI

The weights are bitwise those of ranks in one process, and the bytes that cross between nodes are
those that follow from the collectives of the program.
"""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

from nodes import Nodes
from zero_test import Checks, Graph, run_tool

TIMEOUT = 3  # seconds, of a run whose network fails
HEADERS = 0.03  # of TCP, IP and Ethernet, acknowledgements, and messages between steps


class Bytes:
    """What nodes receive in a step, by docs/design/mpi.md#bytes-between-nodes."""

    def __init__(self, executable, nodes, by_node, is_narrow):
        self.nodes, self.ranks, self.by_node = nodes, sum(nodes), by_node
        self.widths = 2 if is_narrow and by_node else 1  # sums of nodes are f32
        trace = executable.with_suffix(".trace")
        run_tool("zero-sim", executable, f"--trace={trace}")
        events = [event for event in json.loads(trace.read_text())["traceEvents"]
                  if event["ph"] == "X" and event["pid"] == 1]
        self.collectives = [(event["args"]["kernel"], event["args"]["bytes"]) for event in events
                            if event["args"].get("kernel") in ("all-gather", "reduce-scatter", "all-reduce")]
        self.collectives.append(("all-reduce", 8 * (self.ranks - 1)))  # whether all go on

    def of_step(self, node, model=None):
        """`model`: the bytes of parameters and gradients, if these are not exchanged among all ranks only."""
        each = [(kind, received // (self.ranks - 1)) for kind, received in self.collectives]
        control = sum(self.of(node, kind, received) for kind, received in each if received <= 8)
        return control + (model or sum(self.of(node, kind, received) for kind, received in each if received > 8))

    def of(self, node, kind, received):
        """Of a collective in which the first rank receives so many bytes of each other rank."""
        here, others = self.nodes[node], self.ranks - self.nodes[node]
        sums = len(self.nodes) - 1 if self.by_node else others
        if kind == "all-gather":
            return others * received
        if kind == "reduce-scatter":
            return here * sums * received * self.widths
        if received <= 8:  # one element, which rank 0 adds up
            return received if node else sums * received
        return (here * sums + others) * received // 2  # a reduce-scatter and an all-gather


class Run:
    """zero-run on nodes of `processes` processes each, and as threads of one process."""

    def __init__(self, graph, mpi, nodes, processes):
        self.graph, self.nodes, self.processes = graph, nodes, processes
        self.launcher = nodes.launcher(mpi, processes)
        self.weights, self.report = graph.work / "weights.safetensors", graph.work / "report.json"

    def command(self, executable, *flags):
        return ["zero-run", executable, self.graph.data_flag, "--quiet", *flags]

    def files(self, *flags):
        return [f"--save={self.weights}", f"--report-json={self.report}", *flags]

    def here(self, executable, *flags):
        run_tool(*self.command(executable, *self.files(*flags)))
        return self.weights.read_bytes()

    def there(self, executable, *flags):
        """The weights, the report, and the bytes that left each node."""
        before = [self.nodes.sent(node) for node in range(self.nodes.count)]
        self.weights.unlink(missing_ok=True)
        result = self.nodes.run(0, [*self.launcher, *self.command(
            executable, "--timeout=30", *self.files(*flags))], timeout=120)
        if result.returncode != 0:
            raise RuntimeError(f"{flags}: status {result.returncode}: {result.stdout}{result.stderr}")
        sent = [self.nodes.sent(node) - bytes for node, bytes in enumerate(before)]
        return self.weights.read_bytes(), json.loads(self.report.read_text()), sent

    def received(self, report):
        """The bytes of messages that each node has received, as the program counts them."""
        ranks = iter(report["per_rank"])
        return [sum(next(ranks)["link_bytes"] for _ in range(count)) for count in self.processes]


def check_training(checks, run, stage, *flags, steps=(2, 12)):
    """Weights of runs of so many steps, and the bytes of the steps between them."""
    label = f"{run.processes} stage {stage} {flags}"
    executable = run.graph.compile(stage, sum(run.processes), *flags)
    expected = run.here(executable, f"--steps={steps[1]}")
    _, _, start = run.there(executable, f"--steps={steps[0]}")
    weights, report, sent = run.there(executable, f"--steps={steps[1]}")
    checks.that(weights == expected, f"{label}: other weights than in one process")
    plan = Bytes(executable, run.processes, "--ranks-per-node=2" in flags, "--precision=bf16" in flags)
    by_node = re.search(r"^each node of \d+ ranks receives (\d+) bytes", run.graph.report, re.MULTILINE)
    certified = int(by_node.group(1)) if by_node else None
    planned = [plan.of_step(node) for node in range(run.nodes.count)]
    if "--shard-params=node" in flags:
        planned = [plan.of_step(node, certified) for node in range(run.nodes.count)]
    elif by_node:
        checks.that(plan.of_step(0, certified) == planned[0], f"{label}: certified {certified}, planned {planned}")
    counted = run.received(report)
    checks.that(counted == [bytes * steps[1] for bytes in planned],
                f"{label}: received {counted} bytes in {steps[1]} steps, planned {planned} in each")
    by_kernel = sum(sent) - sum(start)
    total = sum(planned) * (steps[1] - steps[0])
    checks.that(total <= by_kernel <= total * (1 + HEADERS),
                f"{label}: the kernel has counted {by_kernel} bytes, planned {total}")
    print(f"{label}: {sum(planned)} bytes per step, kernel {by_kernel / total - 1:+.2%}")


def check_files(checks, run):
    """A model that process 0 compiles, and a checkpoint from which all go on."""
    model, state = run.graph.folder / "model.onnx", run.graph.work / "state"
    shutil.rmtree(state, ignore_errors=True)
    flags = ("--zero-stage=2", f"--ranks={sum(run.processes)}")
    expected = run.here(model, *flags, "--steps=6")
    run.there(model, *flags, "--steps=3", f"--save-state={state}")
    weights, report, _ = run.there(model, *flags, "--steps=6", f"--resume={state}")
    checks.that(weights == expected, "resumed: other weights than in one process")
    checks.that(report["first_step"] == 3 and report["steps"] == 3, f"resumed: {report['first_step']}")


def check_without_mpi(checks, run, executable):
    """Processes that meet as torchrun tells them, without a launcher of MPI."""
    address = run.nodes.address(0)
    check_torchrun(checks, run, executable, {}, f"processes that meet at tcp:{address}:29512 need a secret")
    check_torchrun(checks, run, executable, {"ZERO_JOB_SECRET": "0123456789abcdef"},
                   "ranks on CPUs of 2 nodes exchange messages through MPI: expected a launcher of MPI")


def check_torchrun(checks, run, executable, others, expected):
    started = []
    for rank, node in enumerate([0, 0, 1, 1]):
        variables = {"RANK": rank, "WORLD_SIZE": 4, "MASTER_ADDR": run.nodes.address(0), "MASTER_PORT": 29511,
                     **others}
        words = ["env", *(f"{name}={value}" for name, value in variables.items()),
                 *run.command(executable, "--timeout=20")]
        started.append(subprocess.Popen(run.nodes.command(node, words), text=True, stdout=subprocess.PIPE,
                                        stderr=subprocess.PIPE))
    for rank, process in enumerate(started):
        _, errors = process.communicate(timeout=60)
        checks.that(process.returncode == 1 and expected in errors,
                    f"without MPI: rank {rank}: status {process.returncode}: {errors}")


def wait_until(condition, seconds):
    end = time.monotonic() + seconds
    while not condition() and time.monotonic() < end:
        time.sleep(0.02)
    return condition()


def trainers(nodes):
    """Processes of zero-run on the nodes."""
    def name(process):
        try:
            return Path(f"/proc/{process}/comm").read_text().strip()
        except OSError:
            return ""
    return [process for process in nodes.processes() if name(process) == "zero-run"]


def check_cut(checks, run, executable):
    """Node 1 loses its network: all processes end in time, and say why."""
    errors = run.graph.work / "errors"
    errors.mkdir(exist_ok=True)
    for old in errors.iterdir():
        old.unlink()
    rank = "${OMPI_COMM_WORLD_RANK:-$PMI_RANK}"  # node 1 has no way to the launcher
    words = " ".join(map(str, run.command(executable, f"--timeout={TIMEOUT}", "--steps=1000000")))
    launcher = subprocess.Popen(
        run.nodes.command(0, [*run.launcher, "sh", "-c", f"exec {words} 2> {errors}/{rank}"]),
        stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)
    try:
        begin = run.nodes.sent(1)
        training = wait_until(lambda: run.nodes.sent(1) - begin > 5_000_000, 20)
        checks.that(training and len(trainers(run.nodes)) == 4, "the network fails: no training before")
        run.nodes.cut(1)
        cut = time.monotonic()
        wait_until(lambda: not trainers(run.nodes), TIMEOUT + 20)
        seconds = time.monotonic() - cut
        print(f"processes ended {seconds:.1f} s after the network of node 1")
        checks.that(seconds < TIMEOUT + 4, f"the network fails: processes are left after {seconds:.1f} s")
        for number in range(4):
            text = (errors / str(number)).read_text()
            other = "node1" if number < 2 else "node0"
            checks.that(text.count("error:") == 1 and f"on host '{other}'" in text,
                        f"the network fails: rank {number}: {text}")
    finally:
        os.killpg(launcher.pid, signal.SIGKILL)
        launcher.wait()


def main():
    data, work, mpi = sys.argv[1:]
    checks, graph = Checks(), Graph(data, "mlp", Path(work) / mpi)
    with Nodes(2) as nodes:
        even = Run(graph, mpi, nodes, [2, 2])
        for stage in (0, 2, 3) if mpi == "openmpi" else (3,):
            check_training(checks, even, stage)
            check_training(checks, even, stage, "--ranks-per-node=2")
        check_training(checks, even, 3, "--precision=bf16", "--ranks-per-node=2")
        check_training(checks, even, 3, "--ranks-per-node=2", "--shard-params=node")
        check_training(checks, even, 3, "--precision=bf16", "--ranks-per-node=2", "--shard-params=node")
        check_files(checks, even)
        check_training(checks, Run(graph, mpi, nodes, [1, 2]), 3)
        executable = graph.compile(2, 4)
        check_without_mpi(checks, even, executable)
        check_cut(checks, even, executable)
    with Nodes(3) as nodes:
        check_training(checks, Run(graph, mpi, nodes, [1, 1, 1]), 2)
    checks.finish()


if __name__ == "__main__":
    main()
