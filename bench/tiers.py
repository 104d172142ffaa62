"""How well transfers to and from the disk overlap with compute.

A perceptron of many equal layers, with parameters and optimizer state on disk, in three batch
sizes: a small one for which the disk is the bottleneck, one whose step takes about as long in
memory as the disk alone, and one four times as large. Every round runs each of them in memory, on
disk, and only its transfers (bench/transfers.cpp). zeroc plans for this machine and the disk of
--folder, both calibrated first; a folder in memory (/dev/shm) is a disk that is as fast as memory.
docs/benchmarks.md shows and explains the table.
"""

import json
import statistics
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from common import ROOT, mib, milliseconds, parser, run, say, start, table, write_json
from sides import NVME_FLAGS, WARM_UP, keep_to_cores

sys.path.insert(0, str(ROOT / "test/support"))
import make_deep  # pylint: disable=wrong-import-position

RANKS, LAYERS, WIDTH = 2, 24, 1024
TITLES = ["rows a rank", "in memory", "transfers alone", "on disk", "on disk / the longer",
          "read", "written", "GB/s of the disk", "alone"]


@dataclass
class Graph:
    """One batch size, compiled to run in memory and on disk."""
    folder: Path
    rows: int
    options: object

    @property
    def disk(self):
        return self.options.folder or self.folder

    def tool(self, name, *words):
        return run([self.options.build / "bin" / name, *words], self.options.timeout).output

    def calibrate(self):
        """The machine that all graphs are planned for."""
        machine = self.folder.parent / "machine.json"
        if not machine.exists():
            self.tool("zero-run", f"--calibrate={machine}", f"--ranks={RANKS}",
                      "--threads-per-rank=1", f"--calibrate-disk={self.disk}")
        return f"--machine={machine}"

    def prepare(self):
        make_deep.write(self.folder / "model.onnx", LAYERS, WIDTH, self.rows)
        np.save(self.folder / "x.npy", np.random.default_rng(0).standard_normal(
            (RANKS * self.rows, WIDTH), dtype=np.float32))
        disk = [*NVME_FLAGS, f"--nvme-dir={self.disk}", self.calibrate(), *self.options.flags.split()]
        for name, flags in (("memory", ()), ("disk", disk)):
            self.tool("zeroc", self.folder / "model.onnx", "--zero-stage=3", f"--ranks={RANKS}",
                      "--optimizer=adamw", "-o", self.folder / f"{name}.zexe", *flags)
        return self

    def step(self, name):
        """Seconds of the median step."""
        report = self.folder / "report.json"
        disk = [f"--nvme-dir={self.disk}"] if name == "disk" else []
        self.tool("zero-run", self.folder / f"{name}.zexe", f"--data=x={self.folder / 'x.npy'}",
                  "--quiet", "--threads-per-rank=1", f"--report-json={report}",
                  f"--steps={WARM_UP + self.options.steps}", *disk)
        return statistics.median(json.loads(report.read_text())["seconds"][WARM_UP:])

    def transfers(self):
        """The same for the transfers alone, and the bytes that a rank reads and writes."""
        printed = self.tool("transfers", self.folder / "disk.zexe", self.disk,
                            WARM_UP + self.options.steps)
        moved = json.loads(printed)
        return statistics.median(moved["seconds"][WARM_UP:]), moved["read"], moved["written"]


def balanced_rows(work, options):
    """The rows per rank for which a step in memory takes as long as the transfers alone."""
    few, many = (Graph(work / f"rows-{rows}", rows, options).prepare() for rows in (32, 256))
    slow = many.step("memory")
    slope = (slow - few.step("memory")) / (many.rows - few.rows)
    rows = many.rows + (few.transfers()[0] - slow) / slope
    return max(16, round(rows / 16) * 16)


def play(graph, options):
    """Figures of all rounds."""
    rounds = []
    for number in range(options.rounds):
        alone, read, written = graph.transfers()
        rounds.append({"memory": graph.step("memory"), "alone": alone, "disk": graph.step("disk"),
                       "read": read, "written": written})
        say(f"{graph.rows} rows, round {number + 1}: " + ", ".join(
            f"{key} {rounds[-1][key] * 1e3:.1f} ms" for key in ("memory", "alone", "disk")))
    return rounds


def row(rows, rounds):
    """Medians over rounds. That of the ratio is computed from the ratio of each round."""
    of = lambda key: statistics.median(r[key] for r in rounds)
    ratio = statistics.median(r["disk"] / max(r["memory"], r["alone"]) for r in rounds)
    moved = RANKS * (of("read") + of("written")) / 1e9
    return [rows, *(milliseconds(of(key)) for key in ("memory", "alone", "disk")), f"{ratio:.2f}",
            mib(of("read")), mib(of("written")), f"{moved / of('disk'):.2f}",
            f"{moved / of('alone'):.2f}"]


def main():
    arguments = parser(__doc__, ["small", "equal", "large"], ["zero"], rounds=3, steps=7)
    arguments.add_argument("--flags", default="", help="more of zeroc, as --host-budget=128MiB")
    arguments.add_argument("--folder", help="on the disk; default: beside the executables")
    options = arguments.parse_args()
    keep_to_cores(RANKS)
    results, rows = {}, []
    with tempfile.TemporaryDirectory(prefix="bench-", dir=options.build) as work:
        equal = balanced_rows(Path(work), options)
        for case, count in (("small", 8), ("equal", equal), ("large", 4 * equal)):
            if case in options.cases:
                graph = Graph(Path(work) / case, count, options).prepare()
                results[case] = play(graph, options)
                rows.append(row(count, results[case]))
                write_json(options, results)
    print(f"\n{LAYERS} layers of {WIDTH} x {WIDTH}, {RANKS} ranks\n\n{table(TITLES, rows)}")


if __name__ == "__main__":
    start(main)
