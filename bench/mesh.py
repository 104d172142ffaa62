"""What an axis of the mesh costs: ranks along `data` beside ranks along `tensor`.

1. Each case on two ranks of one thread, as data=2,tensor=1 and as data=1,tensor=2, in turns. All
   sides train the same global batch.
2. A large model on eight GPUs, as every mesh of eight ranks and over some global batches: simulated
   by zero-sim on the preset h100, as one node and as nodes of some GPUs each. Nothing runs.

docs/guides/tensor-parallel.md shows and explains the tables.
"""

import json
import statistics
import sys
import tempfile
from dataclasses import replace
from pathlib import Path

from cases import CASES, Case, write_case, write_graph
from common import (MIB, ROOT, mib, milliseconds, parser, run, say, select, spread, start, table,
                    write_json)
from sides import WARM_UP, keep_to_cores

ADAMW = ["--optimizer=adamw", "--lr=1e-4", "--weight-decay=0.01"]
SIDES = {  # data, tensor, flags; the first is what others are compared with
    "2x1 stage 1": (2, 1, ["--zero-stage=1"]),
    "2x1 stage 3": (2, 1, ["--zero-stage=3"]),
    "1x2": (1, 2, []),
    "1x2 sequence": (1, 2, ["--sequence-parallel"]),
}
LARGE = Case("gpt3-6.7b", 32, 4096, 50304, 2048, 1)
HEADS, GPUS = 32, 8
MESHES = [(8, 1), (4, 2), (2, 4), (1, 8)]
BATCHES = [2, 8, 16, 32]  # sequences of all ranks
NODES = {"one node of 8": 8, "2 nodes of 4": 4, "4 nodes of 2": 2}  # GPUs of each
CONNECTION = 50e9  # bytes/s of each GPU to other nodes, in each direction: 400 Gbit/s
LATENCY = 5e-6  # seconds of a message between nodes


def mesh_flag(data, tensor):
    return f"--mesh=data={data},tensor={tensor}"


class Side:
    """A case compiled for a mesh."""

    def __init__(self, case, name, work, options):
        self.name, self.options = name, options
        data, tensor, flags = SIDES[name]
        samples = case.ranks * case.batch
        self.folder = work / f"{case.name}-{data}"
        if not self.folder.exists():
            part = replace(case, ranks=data, batch=samples // data)
            write_case(part, self.folder)
            write_graph(part, self.folder)
        self.executable = self.folder / f"{name.replace(' ', '-')}.zexe"
        run([options.build / "bin/zeroc", self.folder / "model.onnx", mesh_flag(data, tensor), *flags,
             *ADAMW, "--threads-per-rank=1", "-o", self.executable])

    def train(self):
        """The report of a run."""
        names = json.loads((self.folder / "case.json").read_text())["inputs"]
        data = ",".join(f"{name}={self.folder / name}.npy" for name in names)
        report = self.folder / "report.json"
        run([self.options.build / "bin/zero-run", self.executable, "--quiet", f"--data={data}",
             "--threads-per-rank=1", f"--steps={WARM_UP + self.options.steps}",
             f"--report-json={report}"], self.options.timeout)
        return json.loads(report.read_text())


def play(case, sides):
    """Runs each side once per round. Reports by side."""
    reports = {side.name: [] for side in sides}
    for number in range(sides[0].options.rounds):
        for side in sides:
            report = side.train()
            reports[side.name].append(report)
            say(f"{case.name} round {number + 1} {side.name}: {1e3 * seconds_of(report):.1f} ms, "
                f"loss {report['losses'][0]:.4f} -> {report['losses'][-1]:.4f}")
    return reports


def seconds_of(report):
    return statistics.median(report["seconds"][WARM_UP:])


def measured_row(case, name, reports, first):
    ratios = spread([seconds_of(own) / seconds_of(other) for own, other in zip(reports, first)])
    per_rank = reports[0]["per_rank"][0]
    return [f"{case.name}, {name}", milliseconds(statistics.median(map(seconds_of, reports))),
            f"{ratios['median']:.3f} ({ratios['min']:.3f} to {ratios['max']:.3f})",
            mib(per_rank["arena_bytes"]),
            f"{per_rank['received_bytes'] / reports[0]['steps'] / MIB:,.1f} MiB"]


def measure(cases, options, work):
    rows = []
    for case in cases:
        keep_to_cores(case.cores)
        reports = play(case, [Side(case, name, work, options) for name in options.sides])
        first = reports[options.sides[0]]
        rows += [measured_row(case, name, runs, first) for name, runs in reports.items()]
    titles = ["case, data x tensor", "step", f"/ {options.sides[0]}", "arena of a rank",
              "received by a rank"]
    print(f"\n{table(titles, rows)}", flush=True)
    return rows


def machines(work):
    """Descriptions of eight GPUs as each kind of node."""
    preset = json.loads((ROOT / "lib/Machine/presets/h100.json").read_text())
    for name, each in NODES.items():
        path = work / f"{name.replace(' ', '-')}.json"
        network = {"ranks_per_node": each, "bandwidth": each * CONNECTION, "latency": LATENCY}
        path.write_text(json.dumps({**preset, **({"network": network} if each < GPUS else {})}))
        yield name, path


def compile_large(data, tensor, batch, options, work):
    """The executable of the large model, each of whose ranks along data has its part of `batch`."""
    folder = work / f"large-{batch // data}"
    if not folder.exists():
        folder.mkdir()
        sizes = [f"--{key}={getattr(LARGE, key)}" for key in ("layers", "width", "vocabulary", "sequence")]
        run([sys.executable, ROOT / "test/support/make_gpt2.py", folder / "model.onnx", *sizes,
             f"--heads={HEADS}", f"--batch={batch // data}", "--sparse"])
    executable = folder / f"{data}x{tensor}.zexe"
    shards = ["--sequence-parallel"] if tensor > 1 else []
    run([options.build / "bin/zeroc", folder / "model.onnx", mesh_flag(data, tensor), *shards, *ADAMW,
         "--zero-stage=3", "--precision=bf16", "--device=cuda", "--machine=h100", "-o", executable],
        options.timeout)
    return executable


def simulate(options, work):
    """What zero-sim says, by batch, kind of nodes and mesh. A batch of fewer sequences than there are
    ranks along data cannot be divided."""
    figures, rows = {}, []
    for batch in BATCHES:
        executables = {mesh: compile_large(*mesh, batch, options, work)
                       for mesh in MESHES if mesh[0] <= batch}
        for name, machine in machines(work):
            steps = {mesh: json.loads(run([options.build / "bin/zero-sim", executable,
                                           f"--machine={machine}", "--json"]).output)
                     for mesh, executable in executables.items()}
            seconds = {mesh: step["seconds"] for mesh, step in steps.items()}
            rows.append([f"batch {batch}, {name}", *row_of({
                mesh: f"**{milliseconds(value)}**" if value == min(seconds.values()) else
                milliseconds(value) for mesh, value in seconds.items()})])
            say(", ".join(rows[-1]))
            figures[f"{batch}, {name}"] = {
                f"{data}x{tensor}": {key: step[key] for key in ("seconds", "peak_bytes", "lanes")}
                for (data, tensor), step in steps.items()}
        rows.append([f"batch {batch}, memory of a rank", *row_of({
            mesh: f"{step['peak_bytes'] / 2**30:.1f} GiB" for mesh, step in steps.items()})])
    print(f"\n{table([LARGE.name, *(f'{data}x{tensor}' for data, tensor in MESHES)], rows)}", flush=True)
    return figures


def row_of(cells):
    """The cell of each mesh, or a dash."""
    return [cells.get(mesh, "-") for mesh in MESHES]


def main():
    arguments = parser(__doc__, ["B", "gpt2-124m"], list(SIDES), rounds=5, steps=7)
    arguments.add_argument("--only", choices=["measured", "simulated"], help="one of the two parts")
    options = arguments.parse_args()
    cases = select(options.cases, CASES, "cases")
    select(options.sides, SIDES, "sides")
    results = {}
    with tempfile.TemporaryDirectory(prefix="bench-") as work:
        if options.only != "simulated":
            results["measured"] = measure(cases, options, Path(work))
            write_json(options, results)
        if options.only != "measured":
            results["simulated"] = simulate(options, Path(work))
            write_json(options, results)


if __name__ == "__main__":
    start(main)
