"""Step time and resident memory of Zero compared with DeepSpeed, FSDP2 and JAX.

All sides train the same case on two ranks of one thread each, in fp32 or bf16 with AdamW. The sides
alternate: each runs once per round. docs/benchmarks.md explains the tables.
"""

import tempfile
from pathlib import Path

from cases import CASES
from common import mib, milliseconds, parser, select, start, table, write_json
from rounds import compare
from sides import DISTRIBUTED, Peak, chosen, keep_to_cores

TITLES = ["side", "step", "min", "max", "tokens/s", "of peak", "resident / rank",
          "without files", "arena / rank", "fastest peer / this", "least memory of a peer / this",
          "last loss", "processor"]


def times(ratio):
    return f"{ratio:.2f}x" if ratio else "-"


def row(side, r, processor):
    arena = r["arena_bytes_per_rank"]
    return [side, *(milliseconds(r["seconds"][key]) for key in ("median", "min", "max")),
            f"{r['tokens_per_second']:,.0f}", f"{r['share_of_peak']:.0%}",
            mib(r["resident_bytes_per_rank"]), mib(r["own_bytes_per_rank"]),
            mib(arena) if arena else "-", times(r["speed_ratio"]), times(r["memory_ratio"]),
            f"{r['last_loss']:.4f}", processor]


def describe(name, result):
    sizes = result["case"]
    shape = ", ".join(f"{key} {sizes[key]}" for key in
                      ("layers", "width", "vocabulary", "sequence", "batch"))
    peak = max(result["peak_flops"]) / (sizes["ranks"] * sizes["threads"])
    rows = [row(side, figures, result["processor"]) for side, figures in result["sides"].items()]
    failures = [f"\n\n{side} left out: {reason.splitlines()[-1]}"
                for side, reason in result["failures"].items()]
    return (f"\n{name} ({sizes['family']}: {shape} a rank; ranks {sizes['ranks']}, "
            f"threads a rank {sizes['threads']}, {peak / 1e9:.0f} GFLOP/s a core)\n\n"
            f"{table(TITLES, rows)}" + "".join(failures))


def main():
    options = parser(__doc__, [name for name in CASES if name != "tiny"], list(DISTRIBUTED),
                     rounds=3, steps=7).parse_args()
    cases = select(options.cases, CASES, "cases")
    sides = chosen(options.sides)
    keep_to_cores(cases[0].cores)
    results = {}
    with tempfile.TemporaryDirectory(prefix="bench-") as work:
        peak = Peak(Path(work))
        for case in cases:
            results[case.name] = compare(case, sides, work, options, peak)
            print(describe(case.name, results[case.name]), flush=True)
            write_json(options, results)


if __name__ == "__main__":
    start(main)
