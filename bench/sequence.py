"""Memory and step time by the length of the sequence.

One model (6 layers, 512 wide, vocabulary 8192, one sequence per rank) at three lengths, each twice
the previous one. Memory that is proportional to the sequence grows twice as much in the second
doubling as in the first; memory that is quadratic, four times.
"""

import dataclasses
import tempfile
from pathlib import Path

from cases import Case
from common import mib, milliseconds, parser, start, table, write_json
from rounds import compare
from sides import Peak, chosen, keep_to_cores

CASE = Case("sequence", 6, 512, 8192, 1024, 1)
LENGTHS = ["1024", "2048", "4096"]
TITLES = ["side", "sequence", "step", "min", "max", "tokens/s", "of peak", "resident / rank",
          "arena / rank"]


def rows(results, side):
    for length, result in results.items():
        r = result["sides"].get(side)
        if not r:
            yield [side, length] + ["-"] * (len(TITLES) - 2)
            continue
        arena = r["arena_bytes_per_rank"]
        yield [side, length, *(milliseconds(r["seconds"][key]) for key in ("median", "min", "max")),
               f"{r['tokens_per_second']:,.0f}", f"{r['share_of_peak']:.0%}",
               mib(r["resident_bytes_per_rank"]), mib(arena) if arena else "-"]


def growth(sizes):
    """The ratio of the second doubling's increment to the first's: 2 is linear, 4 is quadratic."""
    first, second, third = sizes
    return (third - second) / (second - first)


def growths(results, side):
    """The growth of each kind of memory that is known at three lengths, each twice the previous
    one."""
    runs = [result["sides"].get(side) for result in results.values()]
    lengths = [int(length) for length in results]
    if None in runs or lengths != [lengths[0] << doubling for doubling in range(3)]:
        return {}
    columns = {key: [run[key] for run in runs]
               for key in ("arena_bytes_per_rank", "resident_bytes_per_rank")}
    return {key: growth(sizes) for key, sizes in columns.items() if None not in sizes}


def main():
    options = parser(__doc__, LENGTHS, ["zero"], rounds=3, steps=3).parse_args()
    sides = chosen(options.sides)
    keep_to_cores(CASE.ranks)
    with tempfile.TemporaryDirectory(prefix="bench-") as work:
        peak = Peak(Path(work))
        results = {length: compare(dataclasses.replace(CASE, name=length, sequence=int(length)),
                                   sides, work, options, peak)
                   for length in options.cases}
    grown = {side: growths(results, side) for side in sides}
    lines = [table(TITLES, [row for side in sides for row in rows(results, side)]), ""]
    lines += [f"{side}: the second doubling adds {ratio:.2f} times the {key.split('_')[0]} bytes "
              "of the first (linear: 2, square: 4)"
              for side, found in grown.items() for key, ratio in found.items()]
    print("\n".join(lines))
    write_json(options, {"lengths": results, "growth": grown})


if __name__ == "__main__":
    start(main)
