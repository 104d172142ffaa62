"""A step of ranks in threads, in processes and on nodes, and the start of many processes.

1. Case B as threads of one process and as processes, in turns.
2. The start of 16 processes: a run of one step.
3. A GPT-2 on two nodes, in network namespaces with limited links (as root): as zero-sim predicts
   and as measured, and with sums by node beside sums over all ranks alike.

docs/benchmarks.md shows and explains the tables.
"""

import json
import statistics
import sys
import tempfile
from dataclasses import replace
from pathlib import Path

from cases import CASES, write_case, write_graph
from common import ROOT, Failure, mib, milliseconds, parser, run, say, start, table, write_json
from sides import WARM_UP, keep_to_cores

sys.path.insert(0, str(ROOT / "test/support"))
from nodes import Nodes, missing  # pylint: disable=wrong-import-position

MANY = 16  # processes
NODES = 2
PAYLOAD = 0.94  # of a frame of 1500 bytes with headers of Ethernet, IP and TCP, gaps included
LATENCY = 100e-6  # seconds, of a message between namespaces, most of it waiting for a core


class Work:
    """A case and what runs it."""

    def __init__(self, case, folder, options):
        self.case, self.folder, self.options = case, folder / case.name, options
        write_case(case, self.folder)
        write_graph(case, self.folder)
        names = json.loads((self.folder / "case.json").read_text())["inputs"]
        self.data = ",".join(f"{name}={self.folder / name}.npy" for name in names)

    def tool(self, name):
        return self.options.build / "bin" / name

    def compile(self, stage, ranks, *flags):
        executable = self.folder / f"{stage}{''.join(flags)}.zexe"
        run([self.tool("zeroc"), self.folder / "model.onnx", f"--zero-stage={stage}", f"--ranks={ranks}",
             "--threads-per-rank=1", "--optimizer=adamw", "--lr=1e-4", *flags, "-o", executable])
        return executable

    def command(self, executable, *flags):
        self.report = self.folder / "report.json"
        return [self.tool("zero-run"), executable, "--quiet", f"--data={self.data}", "--threads-per-rank=1",
                f"--steps={WARM_UP + self.options.steps}", f"--report-json={self.report}", *flags]

    def read(self):
        """The median step, and the bytes that all ranks received from other nodes in a step."""
        report = json.loads(self.report.read_text())
        return (statistics.median(report["seconds"][WARM_UP:]),
                sum(rank["link_bytes"] for rank in report["per_rank"]) / report["steps"])

    def seconds(self, executable, *flags):
        run(self.command(executable, *flags), self.options.timeout)
        return self.read()[0]


def compare_processes(work, options):
    rows = []
    for stage in (2, 3):
        executable = work.compile(stage, work.case.ranks)
        turns = []
        for number in range(options.rounds):
            threads = work.seconds(executable)
            processes = work.seconds(executable, f"--processes={work.case.ranks}")
            say(f"stage {stage} round {number + 1}: {threads * 1e3:.1f} ms threads, {processes * 1e3:.1f} ms processes")
            turns.append((threads, processes))
        rows.append([f"{work.case.name}, stage {stage}",
                     *(milliseconds(statistics.median(turn[side] for turn in turns)) for side in (0, 1)),
                     f"{statistics.median(own / other for other, own in turns):.3f}"])
    return rows


def time_start(work, options):
    executable = work.compile(2, MANY)
    command = [work.tool("zero-run"), executable, "--quiet", f"--data={work.data}", "--steps=1"]
    return [[f"{MANY} processes" if processes else f"{MANY} threads",
             milliseconds(statistics.median(run([*command, *processes], options.timeout).seconds
                                            for _ in range(options.rounds)))]
            for processes in ((), (f"--processes={MANY}",))]


def train_on(nodes, work, executable, each, options):
    """The median step of some runs on nodes of `each` ranks, and the bytes that a node received in it."""
    launcher, measured = nodes.launcher("openmpi", [each] * NODES), []
    for _ in range(options.rounds):
        result = nodes.run(0, [*launcher, *work.command(executable)], timeout=options.timeout)
        if result.returncode != 0:
            raise Failure(result.stdout + result.stderr)
        measured.append(work.read())
    return statistics.median(seconds for seconds, _ in measured), measured[0][1] / NODES


def describe_machine(work, rate):
    """This machine as measured, each core a node."""
    path = work.folder / "machine.json"
    run([work.tool("zero-run"), f"--calibrate={path}", f"--ranks={NODES}", "--threads-per-rank=1"])
    machine = json.loads(path.read_text())
    machine["network"] = {"ranks_per_node": 1, "bandwidth": rate * PAYLOAD, "latency": LATENCY}
    path.write_text(json.dumps(machine))
    return path


def compare_simulation(work, options):
    rows = []
    for megabits in (1000, 250):
        machine = describe_machine(work, megabits * 1e6 / 8)
        with Nodes(NODES, rate=f"{megabits}mbit") as nodes:
            for stage in (0, 2, 3):
                executable = work.compile(stage, NODES)
                seconds, received = train_on(nodes, work, executable, 1, options)
                printed = run([work.tool("zero-sim"), executable, f"--machine={machine}", "--json"]).output
                simulated = json.loads(printed)["profile"]["ranks"][0]["seconds"]
                say(f"{megabits} Mbit/s, stage {stage}: {simulated * 1e3:.1f} ms simulated, "
                    f"{seconds * 1e3:.1f} ms measured")
                rows.append([f"{megabits} Mbit/s, stage {stage}", mib(received), milliseconds(simulated),
                             milliseconds(seconds), f"{simulated / seconds - 1:+.0%}"])
    return rows


def compare_orders(work, options):
    """Sums by node and over all ranks alike, of two ranks on each node."""
    rows = []
    with Nodes(NODES, rate="1gbit") as nodes:
        for stage in (2, 3):
            flat, by_node = (train_on(nodes, work, work.compile(stage, 2 * NODES, *order), 2, options)
                             for order in ((), ("--ranks-per-node=2",)))
            rows.append([f"stage {stage}", mib(flat[1]), mib(by_node[1]), f"{flat[1] / by_node[1]:.2f}",
                         milliseconds(flat[0]), milliseconds(by_node[0]), f"{flat[0] / by_node[0]:.2f}"])
    return rows


def main():
    options = parser(__doc__, ["B"], [], rounds=3, steps=10).parse_args()
    keep_to_cores(2)
    results = {}

    def show(name, titles, rows):
        results[name] = rows
        print(f"\n{table(titles, rows)}", flush=True)
        write_json(options, results)

    with tempfile.TemporaryDirectory(prefix="bench-") as folder:
        folder = Path(folder)
        for name in options.cases:
            work = Work(CASES[name], folder, options)
            show(name, ["case", "threads", "processes", "processes / threads"], compare_processes(work, options))
        tiny = Work(replace(CASES["tiny"], ranks=MANY), folder, options)
        show("start", ["run of one step", "seconds"], time_start(tiny, options))
        if reason := missing():
            say(f"nodes are left out: {reason}")
            return
        nodes = Work(CASES["A"], folder, options)
        show("nodes", ["two nodes of a rank", "received by a node", "simulated", "measured", "error"],
             compare_simulation(nodes, options))
        light = Work(replace(CASES["A"], name="light", ranks=2 * NODES, sequence=32, batch=1), folder, options)
        show("orders", ["two nodes of two ranks", "received, flat", "by node", "flat / by node",
                        "step, flat", "by node", "flat / by node"], compare_orders(light, options))


if __name__ == "__main__":
    start(main)
