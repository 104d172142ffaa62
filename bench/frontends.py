"""Step and compile time of one GPT-2 read by each front end, beside JAX's own step.

The sides train the batch of one rank: an ONNX graph that Zero differentiates (`onnx`), JAX's whole
step as StableHLO with layers written out (`jax-unrolled`) or in one loop (`jax-scan`), PyTorch's
forward and backward as linalg (`torch-joint`), and XLA (`xla`). They alternate: each runs once per
round. The second table has the time of zeroc for these and for a model of 96 layers, without the
cache.
"""

import argparse
import dataclasses
import json
import tempfile
from pathlib import Path

import rounds
from cases import CASES, Case, write_case, write_graph
from common import (PEERS, Failure, median_ratio, mib, milliseconds, parser, python_of, run, say,
                    select, spread, start, table, write_json)
from sides import Jax, Peak, Zero, keep_to_cores

# No weights are written for it, so it is only compiled.
DEEP = Case("depth-96", 96, 768, 50304, 1024, 1, ranks=8)
ADAMW = ("--optimizer=adamw", "--lr=1e-4", "--weight-decay=0.01")
ZEROS = "--zeros=first.*,second.*,count"


class Program(Zero):
    """A program that a framework exports, compiled and run by Zero at stage 0."""

    def __init__(self, environment, exporter, form, flags):
        super().__init__(stage=0)
        self.environment, self.exporter, self.form, self.flags = environment, exporter, form, flags

    def export(self, folder):
        """Writes the program unless an earlier call did; returns the arguments of zeroc."""
        path = folder / f"{self.form}.mlir"
        if not path.exists():
            form = [self.form] if self.environment == "jax" else []
            settings = {"JAX_PLATFORMS": "cpu"}
            run([python_of(self.environment), PEERS / self.exporter, folder, *form],
                timeout=600, settings=settings)
        return [path, f"--roles={path.with_suffix('.json')}", *self.flags]

    def executable(self, folder):
        return folder / f"{self.form}.zexe"

    def prepare(self, case, folder, build):
        self.run_program = build / "bin/zero-run"
        run([build / "bin/zeroc", *self.export(folder), "--zero-stage=0", f"--ranks={case.ranks}",
             f"--threads-per-rank={case.threads}", "-o", self.executable(folder)])

    def data(self, folder):
        """JAX has integers of 32 bits, and its exporter writes them so."""
        names = json.loads((folder / f"{self.form}.json").read_text())["args"]
        inputs = [entry["name"] for entry in names if entry.get("role") == "data"]
        own = {name: folder / f"{self.form}-{name}.npy" for name in inputs}
        return {name: path if path.exists() else folder / f"{name}.npy"
                for name, path in own.items()}

    def run_flags(self, folder):
        return [f"--weights={folder / self.form}.npz"]


class Onnx(Zero):
    """The ONNX graph at stage 0."""

    def export(self, folder):
        return [folder / "model.onnx", *ADAMW]


SIDES = {"onnx": Onnx(0),
         "jax-unrolled": Program("jax", "jax_program.py", "unrolled", [ZEROS]),
         "jax-scan": Program("jax", "jax_program.py", "scan", [ZEROS]),
         "torch-joint": Program("torch", "torch_program.py", "joint", ADAMW), "xla": Jax()}
TITLES = ["side", "step", "min", "max", "arena", "step / onnx", "arena / onnx", "last loss"]
COMPILE_TITLES = ["case", "side", "compile", "min", "max", "plan only", "memory of zeroc"]


def step_rows(sides):
    onnx = sides.get("onnx")
    for side, figures in sides.items():
        seconds = [done["median_seconds"] for done in figures["runs"]]
        ratio = onnx and median_ratio(seconds, [d["median_seconds"] for d in onnx["runs"]])
        arena = figures["arena_bytes_per_rank"]
        arena_ratio = f"{arena / onnx['arena_bytes_per_rank']:.2f}" if onnx and arena else "-"
        yield [side, *(milliseconds(figures["seconds"][key]) for key in ("median", "min", "max")),
               mib(arena) if arena else "-", f"{ratio:.2f}" if ratio else "-", arena_ratio,
               f"{figures['last_loss']:.4f}"]


def compile_once(case, side, folder, options):
    command = [options.build / "bin/zeroc", *SIDES[side].export(folder), "--zero-stage=3",
               f"--ranks={case.ranks}", "--no-cache"]
    plan = run([*command, "--plan-only"], options.timeout)
    whole = run([*command, "-o", folder / "compiled.zexe"], options.timeout)
    return {"seconds": whole.seconds, "plan_seconds": plan.seconds,
            "resident_bytes": whole.resident}


def compile_all(case, sides, folder, options):
    """Compiles on each side once per round: rows, and results by side."""
    results = {side: [] for side in sides}
    for number in range(options.rounds):
        for side in list(results):
            try:
                results[side].append(compile_once(case, side, folder, options))
                seconds = results[side][-1]["seconds"]
                say(f"{case.name} round {number + 1} {side}: compiled in {seconds:.2f} s")
            except Failure as failure:
                say(f"{case.name}: {side} cannot be compiled: {failure}")
                del results[side]
    rows = []
    for side, runs in results.items():
        whole = spread([run["seconds"] for run in runs])
        plan = spread([run["plan_seconds"] for run in runs])
        rows.append([case.name, side, *(f"{whole[key]:.2f} s" for key in ("median", "min", "max")),
                     f"{plan['median']:.2f} s", mib(max(run["resident_bytes"] for run in runs))])
    return rows, results


def write_deep(folder):
    write_case(DEEP, folder)
    write_graph(DEEP, folder, sparse=True)
    return folder


def main():
    options = parser(__doc__, ["B"], list(SIDES), rounds=5, steps=20)
    options.add_argument("--threads", type=int, default=1, help="threads of the rank, default 1")
    options.add_argument("--deep", action=argparse.BooleanOptionalAction, default=True,
                         help="also compile the model of 96 layers")
    options = options.parse_args()
    select(options.sides, SIDES, "sides")
    rounds.SIDES.update(SIDES)
    compiled = [side for side in options.sides if side != "xla"]
    results, rows = {}, []
    with tempfile.TemporaryDirectory(prefix="bench-") as work:
        work = Path(work)
        peak = Peak(work)
        for case in select(options.cases, CASES, "cases"):
            case = dataclasses.replace(case, ranks=1, threads=options.threads)
            keep_to_cores(case.cores)
            result = rounds.compare(case, options.sides, work, options, peak)
            print(f"\n{case.name}, {case.threads} threads\n\n"
                  f"{table(TITLES, step_rows(result['sides']))}", flush=True)
            more, result["compile"] = compile_all(case, compiled, work / case.name, options)
            rows += more
            results[case.name] = result
        if options.deep:
            deep = [side for side in compiled if side != "torch-joint"]  # it reads weights
            more, results["deep"] = compile_all(DEEP, deep, write_deep(work / DEEP.name), options)
            rows += more
        print(f"\n{table(COMPILE_TITLES, rows)}")
        write_json(options, json.loads(json.dumps(results, default=str)))


if __name__ == "__main__":
    start(main)
