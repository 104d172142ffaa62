"""Measures the plan that the planner chooses within budgets beside plans that flags say.

Each round runs the executables in turns. Plans that do not fit the budgets are left out.
"""

import statistics
import tempfile
from pathlib import Path

from common import ROOT, arenas, milliseconds, parser, run, say, start, table, write_json
from configurations import SMALL, calibrate, measure, prepare

RANKS = 2
#: Bytes of a rank on the device and on the host.
BUDGETS = [("90MB", "40MB"), ("60MB", "40MB"), ("50MB", "30MB")]
AUTO = "--zero=auto --offload=auto --offload-gain=0"
UPDATES = "--offload-gradients=host --offload-optimizer="
PLANS = ["--zero-stage=0", "--zero-stage=1", "--zero-stage=2", "--zero-stage=3",
         "--zero-stage=1 --checkpoint=layer", "--zero-stage=3 --checkpoint=layer",
         f"--zero-stage=1 {UPDATES}host", f"--zero-stage=2 {UPDATES}host --checkpoint=layer",
         f"--zero-stage=3 {UPDATES}host --checkpoint=layer",
         f"--zero-stage=3 --offload-params=host {UPDATES}host --checkpoint=layer",
         f"--zero-stage=3 --offload-params=host {UPDATES}nvme --offload-activations=host",
         f"--zero-stage=3 --offload-params=nvme {UPDATES}nvme --checkpoint=layer"]
TITLES = ["device", "host", "plans that fit", "chosen plan", "best other", "ratio", "other"]


def bytes_of(text):
    return int(text.removesuffix("MB")) * 1_000_000


def sizes_of(flags, options):
    """Bytes of the device and of the host of a rank."""
    text = run([options.build / "bin/zeroc", ROOT / "test/data/gpt2-mini/model.onnx", "--plan-only",
                "--optimizer=adamw", *flags.split()]).output
    found = arenas(text)
    return [found["memory"], found["host"]]


def row(device, host, chosen, others, results):
    median = lambda flags: statistics.median(results[flags])
    best = min(others, key=median)
    ratio = statistics.median(a / b for a, b in zip(results[chosen], results[best]))
    return [device, host, len(others), milliseconds(median(chosen)), milliseconds(median(best)),
            f"{ratio:.2f}", f"`{best}`"]


def main():
    options = parser(__doc__, [], [], rounds=3, steps=10).parse_args()
    results, rows = {}, []
    with tempfile.TemporaryDirectory(prefix="bench-", dir=options.build) as work:
        folder = Path(work)
        machine = calibrate(RANKS, folder, options)
        plans = [f"--ranks={RANKS} {flags}" for flags in PLANS]
        chosen = {(device, host): f"--ranks={RANKS} {AUTO} --machine={machine} "
                                  f"--memory-budget={device} --host-budget={host}"
                  for device, host in BUDGETS}
        ready = {flags: prepare(SMALL, flags, folder, options)
                 for flags in [*plans, *chosen.values()]}
        sizes = {flags: sizes_of(flags, options) for flags in plans}
        for number in range(options.rounds):
            for flags, (executable, data, _) in ready.items():
                seconds = measure(executable, data, folder, options)
                say(f"round {number + 1}, {flags}: {seconds * 1e3:.1f} ms")
                results.setdefault(flags, []).append(seconds)
        for (device, host), flags in chosen.items():
            fitting = [each for each in plans if sizes[each][0] <= bytes_of(device)
                       and sizes[each][1] <= bytes_of(host)]
            if fitting:
                rows.append(row(device, host, flags, fitting, results))
    print(table(TITLES, rows))
    write_json(options, results)


if __name__ == "__main__":
    start(main)
