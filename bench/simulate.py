"""Compares the predictions of zero-sim for a step with the measurements of zero-run.

Each round describes the machine (zero-run --calibrate), then profiles each side and simulates the
same executable on that description. docs/reference/machine.md explains the tables.
"""

import json
import statistics
import tempfile
from pathlib import Path

from cases import CASES
from common import Failure, milliseconds, parser, run, select, start, say, table, write_json
from rounds import prepare
from sides import DISTRIBUTED, SIDES, is_ours, keep_to_cores

COLLECTIVES = ["all-gather", "reduce-scatter", "all-reduce"]
LIBRARY = ["matrix product", "convolution", "attention"]
PARTS = [*LIBRARY, "compiled loops", "collectives", "waiting", "between commands"]
OURS = {name: name for name, side in DISTRIBUTED.items() if is_ours(name) and not side.nvme}
WORK = "step without waiting"  # other programs on the machine lengthen the waiting
TITLES = ["part", "simulated", "measured", "error", "of the step"]


def part_of(kind):
    """The row to which a kind of a profile belongs."""
    if kind in COLLECTIVES:
        return "collectives"
    return kind if kind in LIBRARY else "compiled loops"


def parts_of(profile):
    """Seconds of each part of the step of `profile`, and of the entire step."""
    seconds = dict.fromkeys(PARTS, 0.0)
    for row in profile["kinds"]:
        seconds[part_of(row["kind"])] += row["seconds"]
    rank = profile["ranks"][0]
    return {**seconds, "waiting": rank["waiting"], "between commands": rank["between"],
            WORK: rank["seconds"] - rank["waiting"], "step": rank["seconds"]}


def calibrate(build, ranks, folder):
    machine = folder / "machine.json"
    run([build / "bin/zero-run", f"--calibrate={machine}", f"--ranks={ranks}"])
    return machine


def measure(case, side, folder, options):
    """The profile of a run."""
    data = ",".join(f"{name}={folder / name}.npy"
                    for name in json.loads((folder / "case.json").read_text())["inputs"])
    report = folder / "report.json"
    run([options.build / "bin/zero-run", SIDES[side].executable(folder), "--threads-per-rank=1",
         "--quiet", "--profile", f"--data={data}", f"--steps={2 + options.steps}",
         f"--report-json={report}"], options.timeout)
    return json.loads(report.read_text())["profile"]


def simulate(side, folder, machine, options):
    printed = run([options.build / "bin/zero-sim", SIDES[side].executable(folder),
                   f"--machine={machine}", "--json"]).output
    return json.loads(printed)["profile"]


def play(case, side, folder, options):
    """Both sides of each round, as seconds of the parts."""
    rounds = []
    for number in range(options.rounds):
        machine = calibrate(options.build, case.ranks, folder)
        measured = parts_of(measure(case, side, folder, options))
        simulated = parts_of(simulate(side, folder, machine, options))
        say(f"{case.name} {side} round {number + 1}: {simulated['step'] * 1e3:.1f} ms simulated, "
            f"{measured['step'] * 1e3:.1f} ms measured")
        rounds.append({"simulated": simulated, "measured": measured})
    return rounds


def row(part, rounds):
    """Medians over rounds. Those of errors are computed from the error of each round."""
    of = lambda side: statistics.median(r[side][part] for r in rounds)
    errors = [r["simulated"][part] / r["measured"][part] - 1 for r in rounds if r["measured"][part]]
    foretold = of("simulated") > 0 and errors
    share = statistics.median(r["measured"][part] / r["measured"]["step"] for r in rounds)
    return [part, milliseconds(of("simulated")), milliseconds(of("measured")),
            f"{statistics.median(errors):+.0%}" if foretold else "-", f"{share:.1%}"]


def describe(case, side, rounds):
    rows = [row(part, rounds) for part in [*PARTS, WORK, "step"]
            if any(r[who][part] for r in rounds for who in r)]
    return f"\n{case.name}, {side}\n\n{table(TITLES, rows)}"


def main():
    options = parser(__doc__, ["A", "B"], list(OURS), rounds=3, steps=20).parse_args()
    cases = select(options.cases, CASES, "cases")
    sides = select(options.sides, OURS, "sides")
    keep_to_cores(cases[0].ranks)
    results = {}
    with tempfile.TemporaryDirectory(prefix="bench-") as work:
        for case in cases:
            folder = Path(work) / case.name
            ready, failures = prepare(case, sides, folder, options.build)
            if failures:
                raise Failure("\n".join(failures.values()))
            for side in ready:
                rounds = play(case, side, folder, options)
                results.setdefault(case.name, {})[side] = rounds
                print(describe(case, side, rounds), flush=True)
                write_json(options, results)


if __name__ == "__main__":
    start(main)
