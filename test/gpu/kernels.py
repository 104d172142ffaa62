"""Where a step's time goes: the times of commands on the GPU beside those that were planned."""

import collections
import csv
import dataclasses
import re
import subprocess

from machine import find_tool, name_of_preset
from models import gpt2
from report import Missing
from zero_test import read_trace, run_tool

MOST_ROWS, MOST_KERNELS = 25, 10
# By the first letters of ncu's units, which are "ns" or "nsecond".
MICROSECONDS = {"ns": 1e-3, "ms": 1e3, "s": 1e6, "se": 1e6}


def kind_of(event):
    """Kernel and node without numbers: those of all layers are of one kind."""
    kernel = re.sub(r"^k\d+_", "", event["args"]["kernel"])
    return f"{kernel} of {re.sub(r'[0-9]+', '*', event['name'])}"


def times_of(trace):
    """Milliseconds of rank 0 by kind: counts, what was measured, and what was planned."""
    found = collections.defaultdict(lambda: [0, 0.0, 0.0])
    for rank, track, event in read_trace(trace):
        if rank == 0 and "kernel" in event["args"]:
            entry = found[kind_of(event)]
            is_plan = track.startswith("planned")
            entry[2 if is_plan else 1] += event["dur"] / 1e3
            entry[0] += not is_plan
    return found


def compare(context, name):
    """Rows of the longest kinds of commands of a step."""
    model = gpt2(context, name)
    model.write()
    machine = f"--machine={name_of_preset(context.machine) or 'h200'}"
    trace = model.work / "trace.json"
    executable = model.compile("traced", "--precision=bf16", machine)
    run_tool("zero-run", executable, model.data_flag, "--steps=3", "--quiet", f"--trace={trace}")
    found = sorted(times_of(trace).items(), key=lambda each: -each[1][1])
    total = sum(measured for _, (_, measured, _) in found)
    return [{"table": f"Time of a step of {model.name}", "commands": kind, "count": count,
             "ms": f"{measured:.3f}", "share": f"{100 * measured / max(total, 1e-9):.1f} %",
             "planned ms": f"{planned:.3f}", "times the roofline": f"{measured / planned:.2f}" if planned else ""}
            for kind, (count, measured, planned) in found[:MOST_ROWS]]


def profile(context, name):
    """Rows of ncu for the kernels of a step of one layer, which are those of all, the longest ones
    first."""
    program = find_tool("ncu")
    if not program:
        raise Missing("ncu: not found")
    model = gpt2(context, name)
    model.sizes, model.work = dataclasses.replace(model.sizes, layers=1), model.work / "layer"
    model.path = model.work / "model.onnx"
    model.write()
    executable = model.compile("profiled", "--precision=bf16")
    metrics = {"gpu__time_duration.sum": "us", "sm__throughput.avg.pct_of_peak_sustained_elapsed": "SM %",
               "dram__throughput.avg.pct_of_peak_sustained_elapsed": "memory %",
               "sm__warps_active.avg.pct_of_peak_sustained_active": "occupancy %"}
    done = subprocess.run([program, "--csv", "--clock-control", "none", "--metrics", ",".join(metrics),
                           "--launch-count", "300", "zero-run", executable, model.data_flag, "--steps=1",
                           "--quiet", "--gpu-graphs=off"], capture_output=True, text=True)
    assert done.returncode == 0, (done.stdout + done.stderr)[-2000:]
    return rows_of_ncu(done.stdout, metrics)


def rows_of_ncu(text, metrics):
    """The longest launch of each of the longest kernels."""
    lines = text[text.index('"ID"'):].splitlines()
    launches = collections.defaultdict(dict)
    for line in csv.DictReader(lines):
        launch = launches[line["ID"]]
        launch["kernel"] = line["Kernel Name"]
        value = line["Metric Value"].replace(",", "")
        if value.replace(".", "").isdigit():  # else "n/a"
            launch[metrics[line["Metric Name"]]] = float(value) * MICROSECONDS.get(line["Metric Unit"][:2], 1)
    longest = {}
    for launch in sorted(launches.values(), key=lambda each: each.get("us", 0)):
        longest[launch["kernel"]] = launch
    chosen = sorted(longest.values(), key=lambda each: -each.get("us", 0))[:MOST_KERNELS]
    return [{"table": "Kernels by ncu", **{key: f"{value:.1f}" if isinstance(value, float) else value
                                           for key, value in launch.items()}} for launch in chosen]


def all_checks(context):
    for name in ("gpt2-124m",) if context.quick else ("gpt2-1.5b", "gpt2-124m"):
        yield f"{name}: time of each kind of command", lambda name=name: compare(context, name), 60, 10
    name = "gpt2-124m" if context.quick else "gpt2-1.5b"
    yield f"{name}: kernels under ncu", lambda: profile(context, name), 90, 15
