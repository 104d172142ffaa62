"""Step time and resident memory of Zero in one process compared with PyTorch, JAX and onnxruntime.

All sides train the batch of one rank on one thread and on two, in fp32 or bf16 with AdamW. The
sides alternate, and the tables are those of bench/step.py. docs/benchmarks.md explains them.
"""

import dataclasses
import tempfile
from pathlib import Path

from cases import CASES
from common import parser, select, start, write_json
from rounds import compare
from sides import SINGLE, Peak, chosen, keep_to_cores
from step import describe


def main():
    arguments = parser(__doc__, ["A", "B"], list(SINGLE), rounds=3, steps=7)
    arguments.add_argument("--threads", type=lambda text: [int(count) for count in text.split(",")],
                           default=[1, 2], help="default 1,2")
    options = arguments.parse_args()
    cases = [dataclasses.replace(case, ranks=1, threads=threads)
             for case in select(options.cases, CASES, "cases") for threads in options.threads]
    sides = chosen(options.sides, SINGLE)
    results = {}
    with tempfile.TemporaryDirectory(prefix="bench-") as work:
        peak = Peak(Path(work))
        for case in cases:
            keep_to_cores(case.cores)
            name = f"{case.name}-{case.threads}"
            results[name] = compare(case, sides, work, options, peak)
            print(describe(case.name, results[name]), flush=True)
            write_json(options, results)


if __name__ == "__main__":
    start(main)
