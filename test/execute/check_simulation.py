"""zero-run --calibrate writes a description of this machine, and zero-sim simulates a step on a
description: the program's commands in the program's order. bench/simulate.py measures how accurate
the simulated times are.

usage: check_simulation.py DATA WORK
"""

import json
import math
import sys
from collections import Counter
from pathlib import Path

from page_test import data_of
from zero_test import Checks, Graph, check_refused, read_trace, run_tool

RATES = ["peak_flops", "memory_bandwidth", "copy_bandwidth", "cache_bandwidth", "native_flops",
         "convolution_flops"]


def calibrate(checks, work):
    """Describes this machine. Every figure is present and plausible."""
    path = Path(work) / "machine.json"
    text = run_tool("zero-run", f"--calibrate={path}", f"--calibrate-disk={work}", "--ranks=2")
    machine = json.loads(path.read_text())
    checks.that("2 ranks of 1 thread" in text and "gather" in text and "disk" in text, text)
    checks.that(machine["ranks"] == 2 and machine["threads"] == 1, f"{machine}")
    for rate in RATES:
        checks.that(1e8 < machine[rate] < 1e14, f"{rate}: {machine[rate]}")
    for product in machine["products"]:
        checks.that(product["flops"] > 0, f"{product}")
    sizes = [tuple(p.get(key, False) for key in ("m", "n", "k", "transposed_a", "transposed_b"))
             for p in machine["products"]]
    checks.that(len(set(sizes)) == len(sizes) == 81, f"{len(sizes)} products")
    checks.that(machine["disk"]["write_bandwidth"] > 0, f"{machine['disk']}")
    checks.that(machine["copy_bandwidth"] <= machine["memory_bandwidth"], "copies beyond memory")
    return path


def changed(machine, name, change):
    """A description like `machine` with another name and changed fields."""
    fields = json.loads(machine.read_text())
    change(fields)
    other = machine.with_name(name)
    other.write_text(json.dumps(fields))
    return other


def without_latency(fields):
    """Other work on the machine delays some ranks, so that even the fastest empty collective waits.
    """
    fields["gather"]["latency"] = fields["reduce"]["latency"] = 0


def simulate(executable, *flags):
    return json.loads(run_tool("zero-sim", executable, "--json", *flags))


def slices(path):
    """The node, kernel and micro-batch of each command of rank 0, in order."""
    mine = [event for rank, track, event in read_trace(path)
            if rank == 0 and track in ("compute", "collective")]
    return [(e["name"], e["args"]["kernel"], e["args"]["micro_batch"]) for e in mine]


def check_order(checks, label, graph, executable):
    """The simulated step has the same commands as a run, in the same order."""
    ran, replayed = graph.work / "ran.json", graph.work / "replayed.json"
    run_tool("zero-run", executable, graph.data_flag, "--steps=3", "--quiet", f"--trace={ran}")
    simulate(executable, f"--trace={replayed}")
    checks.that(slices(replayed) == slices(ran), f"{label}: another order")
    checks.that(len(slices(ran)) > 50, f"{label}: {len(slices(ran))} commands")


def check_costs(checks, label, graph, executable, machine):
    """Launches and operations as recorded, with the seconds they took."""
    report = graph.run(executable, 12, "--profile").report
    measured, simulated = report["profile"], simulate(executable, f"--machine={machine}")
    costs = lambda rows: {r["kernel"]: (r["launches"], r["flops"], r["bytes"]) for r in rows}
    checks.that(costs(simulated["profile"]["kernels"]) == costs(measured["kernels"]),
                f"{label}: other kernels")
    checks.that(simulated["peak_bytes"] == report["memory"]["device"]["peak"], f"{label}: peak")
    lanes = Counter(simulated["lanes"])
    checks.that(abs(lanes.total() / simulated["seconds"] - 1) < 1e-6, f"{label}: {lanes}")


def check_whatif(checks, executable, machine):
    """The effects of another machine and of a slow rank."""
    plain, slow = simulate(executable), simulate(executable, "--slowest=2")
    checks.that(plain == simulate(executable, "--machine=cpu"), "cpu is the default")
    checks.that("the default" in run_tool("zero-sim", executable), "the default is not told")
    checks.that(slow["profile"]["ranks"][0]["waiting"] > 0.5 * plain["lanes"]["compute"],
                f"nobody waits: {slow['profile']['ranks']}")
    checks.that(slow["profile"]["ranks"][1]["waiting"] == 0, "the slow rank waits")
    checks.that(slow["seconds"] > plain["seconds"] + 0.9 * plain["lanes"]["compute"], "not slower")
    same = simulate(executable, "--slowest=2", "--what-if=peak=1x")["what_if"]["peak=1x"]
    checks.that(same["seconds"] == slow["seconds"], f"the slow rank is not slow: {same}")
    for preset in ("a100", "h100", "h200"): # whose lanes overlap
        gpu = simulate(executable, f"--machine={preset}")
        busy = gpu["lanes"]["compute"] + gpu["lanes"]["collective"]
        checks.that(gpu["seconds"] < busy < 0.1 * plain["seconds"], f"{preset}: {gpu['lanes']}")
    slower = changed(machine, "slow-gather.json",
                     lambda fields: fields["gather"].update(bandwidth=1e6))
    before, after = (simulate(executable, f"--machine={m}")["lanes"] for m in (machine, slower))
    checks.that(after["compute"] == before["compute"], "gathers are no computing")
    checks.that(after["collective"] > 20 * before["collective"], f"{before}, {after}")


def check_explanation(checks, graph):
    """Figures that follow from others, and what changes of a machine do."""
    executable = graph.compile(3, 1, "--optimizer=adamw", "--device=cuda", "--checkpoint=layer",
                               "--offload-optimizer=nvme")
    machine = graph.work / "priced.json"
    preset = Path(__file__).parents[2] / "lib" / "Machine" / "presets" / "rtx4090.json"
    machine.write_text(json.dumps(json.loads(preset.read_text()) | {"price": 0.5}))
    flags = "--what-if=disks=24,h2d=2x,disk-bus=40GB/s"
    report = simulate(executable, f"--machine={machine}", flags)
    why, step = report["explanation"], report["seconds"]
    checks.that(abs(sum(why["critical_path"].values()) / step - 1) < 1e-6, f"{why}, {step}")
    checks.that(0 < why["recomputed_flops"] < why["flops"], f"{why}")
    checks.that(abs(why["flops"] / step / why["flops_per_second"] - 1) < 1e-6, f"{why}")
    tokens = graph.inputs["input_ids"].size
    checks.that(why["tokens"] == tokens, f"{tokens} tokens: {why}")
    checks.that(abs(why["tokens_per_price"] / (tokens / step * 3600 / 0.5) - 1) < 1e-6, f"{why}")
    for name, link in why["links"].items():
        checks.that(link["bytes"] == report["moved_bytes"][name], f"{name}: {link}")
        checks.that(abs(link["needs"] * report["lanes"]["compute"] / link["bytes"] - 1) < 1e-6,
                    f"{name}: {link}")
    steps = report["what_if"]
    changed = {change: each["seconds"] for change, each in steps.items()}
    for each in steps.values():
        rate = tokens / each["seconds"]
        checks.that(each["ranks"] == 1 and each["tokens"] == tokens, f"{each}")
        checks.that(abs(each["tokens_per_second"] / rate - 1) < 1e-6, f"{each}")
        checks.that(abs(each["tokens_per_price"] / (rate * 3600 / 0.5) - 1) < 1e-6, f"{each}")
    # The bus limits the drives, so that more of them do not help.
    checks.that(changed["disks=24"] == step and changed["disk-bus=40GB/s"] < 0.9 * step, f"{changed}")
    checks.that(changed["all of these"] < changed["disk-bus=40GB/s"], f"{changed}")
    text = run_tool("zero-sim", executable, f"--machine={machine}", flags)
    for words in ("of the peak", "tokens/s", "critical path: nvme", "slower than computing", "disks=24",
                  "tokens/price"):
        checks.that(words in text, f"'{words}' is not in {text}")
    check_page(checks, graph, executable, [f"--machine={machine}", flags])
    for words, value in ((["expected one of ranks, peak, ", "disk-bus, got 'speed'"], "speed=2"),
                         (["expected one of ranks, ", "got ''"], "disks=2,"),
                         (["'h2d=fast'", "a positive number, a rate as '25GB/s'"], "disks=2,h2d=fast"),
                         (["'h2d'", "a positive number", "got ''"], "h2d"),
                         (["'h2d=25GB'", "a positive number"], "h2d=25GB"),
                         (["'peak=25GB/s'", "a rate as '25GFLOP/s'"], "peak=25GB/s"),
                         (["'disks=2GB/s'", "a positive number, or a factor"], "disks=2GB/s"),
                         (["'disks=0'", "a positive number"], "disks=0"),
                         (["'d2h=-1x'", "a positive number"], "d2h=-1x"),
                         (["'d2h=1e300TB/s'", "a positive number"], "d2h=1e300TB/s"),
                         (["'h2d=3x'", "expected one change of h2d, got two"], "h2d=2x,h2d=3x"),
                         (["'network=2x'", "no such figure"], "network=2x")):
        check_refused(checks, value, ["--what-if", *words], "zero-sim", executable,
                      f"--machine={machine}", f"--what-if={value}")


def duration(seconds):
    """As zero-sim writes it."""
    for least, unit, name in ((1, 1, "s"), (1e-5, 1e-3, "ms"), (1e-8, 1e-6, "us"), (0, 1e-9, "ns")):
        if seconds >= least:
            return f"{seconds / unit:.4g} {name}"


def check_page(checks, graph, executable, flags):
    """The page is well-formed, has the figures of the report, and overwrites no input."""
    path = graph.work / "step.html"
    report = simulate(executable, *flags, f"--html={path}")
    page = json.loads(data_of(path.read_text()))
    checks.that(page["heading"] == f"A step takes {duration(report['seconds'])}", page["heading"])
    rows = {row[0]: row for section in page["sections"] for row in section.get("rows", [])}
    for lane, seconds in report["lanes"].items():
        checks.that(seconds == 0 or duration(seconds) in rows.get(lane, []), f"{lane}: {rows}")
    checks.that("disks=24" in rows and "all of these" in rows, f"{list(rows)}")
    lanes = {lane["name"]: lane["bars"] for lane in page["sections"][0]["drawing"]["lanes"]}
    checks.that(lanes.keys() == {name for name, seconds in report["lanes"].items() if seconds > 0}
                and sum(map(len, lanes.values())) > len(lanes), f"{list(lanes)}")
    for name, bars in lanes.items():
        ends = [0, *(end for bar in bars for end in bar[:2]), 1000]
        checks.that(all(a <= b + 0.011 for a, b in zip(ends, ends[1:])), f"{name}: {bars}")
    check_refused(checks, "--html over the model", ["the page would overwrite"], "zero-sim",
                  executable, f"--html={executable}")


def check_errors(checks, graph, executable, machine):
    good = json.loads(machine.read_text())
    bad = machine.with_name("bad.json")

    def refused(words, text):
        bad.write_text(text)
        check_refused(checks, f"{words}", ["'" + str(bad) + "'", *words], "zero-sim", executable,
                      f"--machine={bad}")

    def without(*path, value=None):
        """The description without a field, or with another value for it."""
        copy = json.loads(json.dumps(good))
        place = copy
        for key in path[:-1]:
            place = place[key]
        if value is None:
            del place[path[-1]]
        else:
            place[path[-1]] = value
        return json.dumps(copy)

    refused(["field 'peak_flops' is missing"], without("peak_flops"))
    refused(["field 'gather.latency' is missing"], without("gather", "latency"))
    refused(["field 'products[3].flops' is missing"], without("products", 3, "flops"))
    refused(["field 'gather' is missing"], without("gather"))
    refused(["field 'memory_bandwidth'", "expected a positive number, got -2"],
            without("memory_bandwidth", value=-2))
    refused(["field 'reduce.latency'", "at least 0, got -1"], without("reduce", "latency", value=-1))
    link = {"bandwidth": 1e9, "latency": 0}
    refused(["expected all of 'host'"], json.dumps(good | {"host_to_device": link}))
    refused(["field 'host.memory_bandwidth' is missing"], json.dumps(good | {"host": {}}))
    refused(["field 'ranks'", "got 0"], without("ranks", value=0))
    refused(["field 'peak_flops'", "got inf"], without("peak_flops", value="Infinity"))
    refused(["turbo"], without("turbo", value=1))
    refused(["cores"], without("cores", value=-1))
    refused(["peak_flops"], without("peak_flops", value="fast"))
    refused(["no machine description"], "{")
    refused(["no machine description: more than 64 levels of nesting"], "[" * 20000)
    check_refused(checks, "no file", ["cannot open '/nonexistent.json'", "presets are cpu, "], "zero-sim", executable,
                  "--machine=/nonexistent.json")
    check_refused(checks, "no executable", [str(machine)], "zero-sim", machine)
    for words, *flags in ((["no model"],), (["one model", "got also 'b'"], "a", "b"),
                          (["unknown option '--fast'"], executable, "--fast"),
                          (["--slowest", "at least 1, got '0.5'"], executable, "--slowest=0.5"),
                          (["--json' is given twice"], executable, "--json", "--json"),
                          (["--machine", "expected a value"], executable, "--machine="),
                          (["the trace would overwrite"], executable, f"--trace={executable}"),
                          (["/nonexistent/t"], executable, "--trace=/nonexistent/t")):
        check_refused(checks, f"{flags}", words, "zero-sim", *flags)
    for words, *flags in ((["takes no model"], executable), (["--steps has no effect"], "--steps=3"),
                          (["unknown option '--zero-stage"], "--zero-stage=3"),
                          (["1024 ranks of 4 threads", "threads would share cores"], "--ranks=1024", "--threads-per-rank=4"),
                          (["'/nonexistent'"], "--calibrate-disk=/nonexistent")):
        check_refused(checks, f"{flags}", words, "zero-run", f"--calibrate={bad}", *flags)
    alone = graph.compile(0, 1)
    check_refused(checks, "one rank", ["--slowest has no effect"], "zero-sim", alone, "--slowest=2")
    check_refused(checks, "ranks", ["--ranks has no effect"], "zero-run", executable, "--ranks=2")
    check_refused(checks, "disk", ["no effect without --calibrate"], "zero-run", executable,
                  "--calibrate-disk=.")
    check_refused(checks, "folder", ["/nonexistent/m"], "zero-run", "--calibrate=/nonexistent/m")


def check_sensitivity(checks, executable):
    """Slopes are those of steps on changed machines, and they add up to -1 where all figures are rates."""
    report = simulate(executable, "--machine=cpu", "--sensitivity", "--what-if=peak=1.01x,memory=1.01x")
    found = report["sensitivity"]
    sizes = [abs(slope) for slope in found.values()]
    checks.that(sizes == sorted(sizes, reverse=True) and min(sizes) >= 0.005, f"sensitivity: {found}")
    rates = sum(slope for name, slope in found.items() if "seconds" not in name)
    times = sum(slope for name, slope in found.items() if "seconds" in name)
    # With all rates doubled and all times halved, a step takes half as long.
    checks.that(abs(rates - times + 1) < 0.02, f"sensitivity: rates {rates}, times {times}")
    # The names are those of --what-if.
    for name in ("peak", "memory"):
        change = (math.log(report["what_if"][f"{name}=1.01x"]["seconds"] / report["seconds"]) /
                  math.log(1.01))
        checks.that(abs(change - found.get(name, 0)) < 0.02, f"{name}: {change}, {found}")


def main():
    data, work = sys.argv[1:]
    checks = Checks()
    graph = Graph(data, "gpt2-tiny", work)
    machine = calibrate(checks, work)
    prompt = changed(machine, "prompt.json", without_latency)
    for stage, turns in ((1, 1), (3, 1), (2, 3)):
        label = f"stage {stage}, {turns} micro-batches"
        executable = graph.compile(stage, 2, "--optimizer=adamw", f"--micro-batches={turns}")
        check_order(checks, label, graph, executable)
        check_costs(checks, label, graph, executable, prompt)
    executable = graph.compile(3, 2, "--optimizer=adamw")
    check_whatif(checks, executable, prompt)
    check_sensitivity(checks, executable)
    check_explanation(checks, graph)
    check_errors(checks, graph, executable, machine)
    checks.finish()


if __name__ == "__main__":
    main()
