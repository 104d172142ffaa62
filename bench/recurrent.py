"""Step times of recurrent layers compared with PyTorch, on one thread.

A language model of 2 layers, 256 wide, 16 sequences of 128 tokens, vocabulary 1000. The sides
alternate, and the ratio is the median of the ratios of the rounds. The growth of Zero's time and
arena with the sequence length is also measured.
"""

import json
import re
import statistics
import tempfile
from pathlib import Path

from common import (PEERS, median_ratio, mib, milliseconds, parser, python_of, run, start, table,
                    write_json)
from sides import WARM_UP, thread_settings

CASES = ["LSTM-128", "GRU-128", "LSTM-512"]
TITLES = ["case", "zero", "PyTorch", "ratio", "zero's arena", "PyTorch's resident", "compile"]


class Sides:
    """Both sides of one case."""

    def __init__(self, case, folder, options):
        self.cell, self.steps = case.split("-")
        self.folder, self.options, self.python = folder, options, options.python or python_of("torch")
        run([self.python, PEERS / "lstm.py", "export", folder, self.cell, self.steps])
        made = run([options.build / "bin/zeroc", folder / "model.onnx", "--optimizer=adamw",
                    "--lr=1e-4", "--weight-decay=0.01", "-o", folder / "step.zexe"])
        self.compile_seconds = made.seconds
        self.arena = int(re.search(r"^ *arena +(\d+)", made.output, re.MULTILINE)[1])

    def zero(self):
        report = self.folder / "zero.json"
        data = ",".join(f"{name}={self.folder / name}.npy" for name in ("tokens", "labels"))
        run([self.options.build / "bin/zero-run", self.folder / "step.zexe", f"--data={data}",
             f"--steps={WARM_UP + self.options.steps}", "--quiet", "--threads-per-rank=1",
             f"--report-json={report}"], self.options.timeout)
        report = json.loads(report.read_text())
        return statistics.median(report["seconds"][WARM_UP:]), report["losses"]

    def torch(self):
        report = self.folder / "torch.json"
        run([self.python, PEERS / "lstm.py", "train", self.folder, self.cell, self.steps,
             self.options.steps, report], self.options.timeout, thread_settings(1))
        report = json.loads(report.read_text())
        self.resident = report["resident_bytes"]
        return statistics.median(report["seconds"]), report["losses"]


def compare(case, options):
    with tempfile.TemporaryDirectory() as scratch:
        sides = Sides(case, Path(scratch), options)
        ours, theirs = [], []
        for _ in range(options.rounds):
            seconds, losses = sides.zero()
            ours.append(seconds)
            seconds, expected = sides.torch()
            theirs.append(seconds)
            if abs(losses[-1] - expected[-1]) > 1e-3 * expected[-1]:
                raise SystemExit(f"bench: {case}: last loss {losses[-1]}, PyTorch's {expected[-1]}")
    return {"zero": ours, "torch": theirs, "ratio": median_ratio(ours, theirs),
            "arena_bytes": sides.arena, "resident_bytes": sides.resident,
            "compile_seconds": sides.compile_seconds}


def main():
    made = parser(__doc__, CASES, ["zero"], rounds=5, steps=7)
    made.add_argument("--python", type=Path, help="interpreter that has PyTorch, if not bench's own")
    options = made.parse_args()
    results = {case: compare(case, options) for case in options.cases}
    print(table(TITLES, [[case, milliseconds(statistics.median(r["zero"])),
                          milliseconds(statistics.median(r["torch"])), f"{r['ratio']:.2f}",
                          mib(r["arena_bytes"]), mib(r["resident_bytes"]),
                          f"{r['compile_seconds']:.1f} s"] for case, r in results.items()]))
    write_json(options, results)


if __name__ == "__main__":
    start(main)
