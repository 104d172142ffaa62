"""Compares simulated with measured steps over many configurations, tiers included.

Each round describes the machine (zero-run --calibrate, disk included), then runs each executable and
simulates it on that description. docs/reference/machine.md has the table.
"""

import json
import statistics
import tempfile
from pathlib import Path

import numpy as np
from common import ROOT, milliseconds, parser, run, say, select, start, table, write_json

#: A GPT-2 of 24.6 million parameters, with positions of 256 tokens and 4,096 of them in a
#: vocabulary.
MADE = "layers=3,width=768,heads=12,vocabulary=4096,sequence=256,batch=2"
BATCHES = {"gpt2-mini": (4, 128, 8192), "GPT of width 768": (2, 256, 4096)}
SMALL, LARGE = BATCHES
UPDATES = "--offload-gradients=host --offload-optimizer="
#: A model and flags of zeroc.
CONFIGURATIONS = [
    (SMALL, ""),
    (SMALL, "--checkpoint=layer"),
    (SMALL, "--micro-batches=4"),
    (SMALL, "--precision=bf16"),
    (SMALL, "--ranks=2 --zero-stage=1"),
    (SMALL, "--ranks=2 --zero-stage=2 --micro-batches=4"),
    (SMALL, "--ranks=2 --zero-stage=3"),
    (SMALL, "--ranks=2 --zero-stage=3 --checkpoint=layer"),
    (SMALL, f"{UPDATES}host"),
    (SMALL, f"{UPDATES}nvme"),
    (SMALL, f"{UPDATES}nvme --micro-batches=4"),
    (SMALL, "--offload-activations=host"),
    (SMALL, f"--zero-stage=3 --offload-params=nvme {UPDATES}nvme"),
    (SMALL, f"--ranks=2 --zero-stage=3 --offload-params=host --offload-activations=host "
            f"{UPDATES}host"),
    (LARGE, ""),
    (LARGE, "--ranks=2 --zero-stage=2"),
    (LARGE, "--ranks=2 --zero-stage=3 --micro-batches=2"),
    (LARGE, "--checkpoint=layer --micro-batches=2"),
    (LARGE, f"{UPDATES}nvme"),
    (LARGE, f"--ranks=2 --zero-stage=3 --offload-params=nvme --offload-activations=nvme "
            f"{UPDATES}nvme"),
]
TITLES = ["model", "flags", "simulated", "measured", "error"]
WARM = 2


def model_of(name, folder, options):
    """The path of a model, and flags that it needs."""
    if name == SMALL:
        return ROOT / "test/data/gpt2-mini/model.onnx", []
    path = folder / "gpt.onnx"
    if not path.exists():
        run([options.build / "bin/zero-translate", f"--make-gpt={MADE}", "-o", path])
    return path, ["--init=normal:0.02"]


def value_of(flags, name):
    return next((int(flag.split("=")[1]) for flag in flags if flag.startswith(name)), 1)


def prepare(name, flags, folder, options):
    """Compiles a configuration; returns its executable, data and ranks."""
    model, needed = model_of(name, folder, options)
    words = flags.split()
    executable = folder / f"{len(list(folder.glob('*.zexe')))}.zexe"
    run([options.build / "bin/zeroc", model, "--optimizer=adamw", *needed, *words, "-o",
         executable])
    ranks = value_of(words, "--ranks")
    rows, length, vocabulary = BATCHES[name]
    tokens = np.random.default_rng(0).integers(
        0, vocabulary, (rows * ranks * value_of(words, "--micro-batches"), length))
    data = executable.with_suffix(".npy")
    np.save(data, tokens)
    return executable, f"input_ids={data},labels={data}", ranks


def measure(executable, data, folder, options):
    """Seconds of a step in the median."""
    report = folder / "report.json"
    run([options.build / "bin/zero-run", executable, f"--data={data}", "--quiet",
         f"--report-json={report}", f"--steps={WARM + options.steps}", f"--nvme-dir={folder}"],
        options.timeout)
    return statistics.median(json.loads(report.read_text())["seconds"][WARM:])


def simulate(executable, machine, options):
    printed = run([options.build / "bin/zero-sim", executable, f"--machine={machine}", "--json"])
    return json.loads(printed.output)["seconds"]


def calibrate(ranks, folder, options):
    machine = folder / f"machine-{ranks}.json"
    run([options.build / "bin/zero-run", f"--calibrate={machine}", f"--ranks={ranks}",
         f"--calibrate-disk={folder}"])
    return machine


def row(configuration, rounds):
    errors = [simulated / measured - 1 for simulated, measured in rounds]
    of = lambda side: milliseconds(statistics.median(each[side] for each in rounds))
    name, flags = configuration
    return [name, f"`{flags}`" if flags else "", of(0), of(1), f"{statistics.median(errors):+.0%}"]


def main():
    names = {str(number + 1): each for number, each in enumerate(CONFIGURATIONS)}
    options = parser(__doc__, list(names), [], rounds=3, steps=20).parse_args()
    chosen = select(options.cases, names, "cases")
    results = {}
    with tempfile.TemporaryDirectory(prefix="bench-", dir=options.build) as work:
        folder = Path(work)
        ready = {each: prepare(*each, folder, options) for each in chosen}
        for number in range(options.rounds):
            machines = {ranks: calibrate(ranks, folder, options)
                        for ranks in {ranks for _, _, ranks in ready.values()}}
            for each, (executable, data, ranks) in ready.items():
                pair = (simulate(executable, machines[ranks], options),
                        measure(executable, data, folder, options))
                say(f"round {number + 1}, {' '.join(each)}: {pair[0] * 1e3:.1f} ms simulated, "
                    f"{pair[1] * 1e3:.1f} ms measured")
                results.setdefault(each, []).append(pair)
    print(table(TITLES, [row(each, rounds) for each, rounds in results.items()], texts=2))
    write_json(options, {" ".join(each): rounds for each, rounds in results.items()})


if __name__ == "__main__":
    start(main)
