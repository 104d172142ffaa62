"""--profile and --trace: their figures add up and match the program, and a run with them is bitwise
identical to one without.

usage: check_profile.py DATA WORK
"""

import json
import re
import sys
from collections import Counter

from zero_test import Checks, Graph, check_refused, read_trace, run_tool

STEPS, WARM_UP = 6, 2
COLLECTIVES = ("all-gather", "reduce-scatter", "all-reduce")
EVERY = 1e-6  # tolerance of a sum in JSON's digits


def close(left, right):
    return abs(left - right) <= EVERY * max(abs(left), abs(right), 1e-12)


def planned(graph, stage, ranks, *flags):
    """Launches and flops of each kernel in a step, read from the program after `pack`."""
    text = run_tool("zeroc", graph.folder / "model.onnx", "--plan-only", "--dump-after=pack",
                    f"--zero-stage={stage}", f"--ranks={ranks}", *flags)
    costs = {name: int(flops) for name, flops in re.findall(
        r"func\.func private @(\w+)\(.*zero\.flops = (\d+)", text)}
    dynamic = set(re.findall(r"func\.func private @(\w+)\(%arg0: memref<\?x", text))
    launches, flops = Counter(), Counter()
    for name, length in re.findall(r"zero\.launch @(\w+)\(.*?\} : \((?:tensor<(\d+)x)?", text):
        launches[name] += 1
        flops[name] += costs[name] * (int(length) if name in dynamic else 1)
    return launches, flops


def check_sums(checks, label, profile):
    """Kinds add up from kernels, steps add up from kinds and the other parts."""
    for part in profile["steps"] + profile["ranks"]:
        total = sum(part[name] for name in ("compute", "collectives", "waiting", "between"))
        checks.that(close(total, part["seconds"]), f"{label}: {part}")
        checks.that(min(part.values()) >= 0, f"{label}: negative {part}")
    first = profile["ranks"][0]
    rest = (first["waiting"] + first["between"]) / first["seconds"]
    for rows in ("kinds", "kernels"):
        shares = sum(row["share"] for row in profile[rows])
        checks.that(close(shares + rest, 1), f"{label}: {rows} take {shares}, the rest {rest}")
        seconds = [row["seconds"] for row in profile[rows]]
        checks.that(seconds == sorted(seconds, reverse=True), f"{label}: {rows} are not sorted")
    again = sum(row["recomputed"] for row in profile["kernels"])
    checks.that(close(profile["recomputed"], again), f"{label}: {again} s run again")
    for row in profile["kinds"] + profile["kernels"]:
        checks.that(0 <= row["recomputed"] <= row["seconds"], f"{label}: {row}")
    for field in ("launches", "flops", "bytes"):
        kinds, kernels = Counter(), Counter()
        for row in profile["kinds"]:
            kinds[row["kind"]] += row[field]
        for row in profile["kernels"]:
            kernels[row["kind"]] += row[field]
        checks.that(kinds == kernels, f"{label}: {field} of {kinds} and of {kernels}")


def check_rooflines(checks, label, profile):
    machine = profile["machine"]
    # Not all processors multiply 16 bits.
    checks.that(min(rate for name, rate in machine.items() if name != "half_flops_per_second") > 0,
                f"{label}: {machine}")
    peak = machine["flops_per_second"]
    bandwidth = max(machine["triad_bytes_per_second"], machine["copy_bytes_per_second"])
    for row in profile["kernels"]:
        computing, moving = row["flops"] / peak, row["bytes"] / bandwidth
        if row["kernel"] in COLLECTIVES or computing + moving == 0:
            checks.that(row["fraction_of_roofline"] is None, f"{label}: {row}")
            continue
        checks.that(abs(row["fraction_of_roofline"] * row["seconds"] / max(computing, moving) - 1)
                    < 1e-4, f"{label}: {row}")
        checks.that(row["bound"] == ("peak" if computing > moving else "bandwidth"),
                    f"{label}: {row}")
    total = sum(row["flops"] for row in profile["kernels"])
    checks.that(profile["flops"] == total, f"{label}: {profile['flops']}, in kernels {total}")
    expected = total / (profile["ranks"][0]["seconds"] * peak)
    checks.that(abs(profile["fraction_of_peak"] / expected - 1) < 1e-4, f"{label}: of the peak")


def check_program(checks, label, profile, report, launches, flops):
    """Every launch and collective of the program is present, with its costs."""
    of = {row["kernel"]: row for row in profile["kernels"]}
    others = (*COLLECTIVES, "copy", "check")
    checks.that({name for name in of if name not in others} == set(launches),
                f"{label}: kernels {sorted(of)}")
    for name in launches:
        checks.that(of[name]["launches"] == launches[name],
                    f"{label}: {name} is launched {of[name]['launches']} times")
        checks.that(of[name]["flops"] == flops[name], f"{label}: flops of {name}")
    received = sum(row["bytes"] for name, row in of.items() if name in COLLECTIVES) * STEPS
    counted = report["per_rank"][0]["received_bytes"] + report["per_rank"][0]["control_bytes"]
    checks.that(received == counted, f"{label}: received {counted}, in the profile {received}")


def check_trace(checks, label, path, profile, ranks, turns):
    """Slices are inside their step, do not overlap, and are as many as the launches."""
    tracks = {}
    for rank, track, event in read_trace(path):
        if not track.startswith("planned: "):
            tracks.setdefault((rank, track), []).append(event)
    expected = ("step", "compute", "collective") if ranks > 1 else ("step", "compute")
    checks.that(set(tracks) == {(rank, name) for rank in range(ranks) for name in expected},
                f"{label}: {tracks.keys()}")
    for rank in range(ranks):
        (step,) = tracks[rank, "step"]
        checks.that(step["name"] == f"step {STEPS - 1}" and step["ts"] >= 0, f"{label}: {step}")
        both = tracks[rank, "compute"] + tracks.get((rank, "collective"), [])
        now, end = step["ts"], step["ts"] + step["dur"]
        for event in sorted(both, key=lambda event: event["ts"]):
            checks.that(event["ts"] >= now - 5e-4, f"{label}: {event} begins before {now}")
            now = event["ts"] + event["dur"]
            checks.that(event["args"].get("waiting us", 0) <= event["dur"], f"{label}: {event}")
        checks.that(now <= end + 5e-4, f"{label}: ends at {now}, the step at {end}")
        counts = Counter(event["args"]["kernel"] for event in both)
        checks.that(counts == {row["kernel"]: row["launches"] for row in profile["kernels"]},
                    f"{label}: {counts}")
        checks.that({event["args"]["micro_batch"] for event in both} == set(range(turns)),
                    f"{label}: turns")


def check_text(checks, label, text, profile):
    """The table is aligned, and its shares add up to 100 %."""
    text = text[text.index("\nprofile of"):]
    checks.that(f"profile of {STEPS - WARM_UP} steps of rank 0" in text, f"{label}: {text}")
    kinds, kernels = (part.splitlines() for part in text.split("\n\n")[1:3])
    for table in (kinds, kernels):
        column = table[0].index("roofline") + len("roofline")
        checks.that(all(line[column - 1] in "%-e" for line in table), f"{label}: {table}")
    shares = [float(share) for line in kinds[1:] for share in re.findall(r"([\d.]+) %", line)[:1]]
    checks.that(abs(sum(shares) - 100) <= 0.05 * len(shares) + 0.01, f"{label}: {shares}")
    checks.that(len(kernels) == 21, f"{label}: {len(kernels)} lines of kernels")
    first = next(row["kernel"] for row in profile["kernels"] if row["kernel"] not in COLLECTIVES)
    checks.that(kernels[1].startswith(first), f"{label}: {kernels[1]}")
    checks.that(re.search(r"^compute [\d.]+ %, collectives [\d.]+ %, waiting [\d.]+ %", text,
                          re.MULTILINE), f"{label}: {text.splitlines()[-1]}")


def check_run(checks, graph, stage, ranks, turns):
    label = f"{graph.name} stage {stage} on {ranks}, {turns} turns"
    flags = ["--optimizer=adamw", "--clip-norm=1", f"--micro-batches={turns}"]
    executable = graph.compile(stage, ranks, *flags)
    plain = graph.run(executable, STEPS)
    trace = graph.work / "trace.json"
    profiled = graph.run(executable, STEPS, "--profile", f"--trace={trace}")
    checks.that(profiled.same_bits(plain), f"{label}: other losses or weights")
    checks.that("profile" not in plain.report, f"{label}: a profile nobody asked for")
    profile = profiled.report["profile"]
    checks.that(profile["first_step"] == WARM_UP and len(profile["steps"]) == STEPS - WARM_UP,
                f"{label}: steps {profile['steps']}")
    checks.that(len(profile["ranks"]) == ranks, f"{label}: {len(profile['ranks'])} ranks")
    check_sums(checks, label, profile)
    check_rooflines(checks, label, profile)
    if turns == 1:
        check_program(checks, label, profile, profiled.report, *planned(graph, stage, ranks, *flags))
    check_trace(checks, label, trace, profile, ranks, turns)
    text = run_tool("zero-run", executable, graph.data_flag, f"--steps={STEPS}", "--profile",
                    f"--report-json={graph.work}/report.json")
    report = json.loads((graph.work / "report.json").read_text())
    check_text(checks, label, text, report["profile"])
    return executable


def check_recomputed(checks, graph):
    """The figure of recomputation counts exactly the commands that the program marks."""
    for flags, some in ((["--recompute=none"], False), (["--recompute=cheap"], True),
                        (["--recompute=none", "--checkpoint=layer"], True)):
        label = f"{graph.name} {' '.join(flags)}"
        executable = graph.compile(0, 1, *flags)
        trace, report = graph.work / "trace.json", graph.work / "report.json"
        text = run_tool("zero-run", executable, graph.data_flag, f"--steps={STEPS}", "--profile",
                        f"--trace={trace}", f"--report-json={report}")
        profile = json.loads(report.read_text())["profile"]
        check_sums(checks, label, profile)
        checks.that((profile["recomputed"] > 0) == some and
                    ("recompute activations" in text) == some,
                    f"{label}: {profile['recomputed']} s run again")
        marked = run_tool("zeroc", graph.folder / "model.onnx", "--plan-only", "--dump-after=pack",
                          "--zero-stage=0", "--ranks=1", *flags)
        planned = Counter(re.findall(r"zero\.launch @(\w+)\(.*zero\.recompute", marked))
        traced = Counter(event["args"]["kernel"] for _, track, event in read_trace(trace)
                         if track == "compute" and event["args"].get("recomputed"))
        checks.that(planned == traced and bool(planned) == some,
                    f"{label}: {traced} run again, planned {planned}")
        checks.that({row["kernel"] for row in profile["kernels"] if row["recomputed"]}
                    == set(planned), f"{label}: other kernels than {set(planned)}")


def check_errors(checks, graph, executable):
    before = sorted(path.name for path in graph.work.iterdir())
    run = ["zero-run", executable, graph.data_flag, "--quiet", "--steps=3"]
    report = f"--report-json={graph.work}/new.json"
    for words, *flags in (
            (["--profile has no effect", "--quiet", "--report-json"], "--profile"),
            (["--profile or --check-memory, got both"], "--profile", "--check-memory", report),
            (["--trace or --check-memory, got both"], "--trace=t", "--check-memory"),
            (["cannot write '/nonexistent/t.json'"], "--trace=/nonexistent/t.json"),
            (["input of this run"], f"--trace={executable}"),
            (["--trace", "expected a file"], "--trace="),
            (["--profile", "an option of zeroc needs a model"], "--profile=t.json")):
        check_refused(checks, f"{flags}", words, *run, *flags)
    few = ["zero-run", executable, graph.data_flag, "--steps=2"]
    check_refused(checks, "two steps", ["--profile needs at least 3 steps", "this run has 2"],
                  *few, "--quiet", "--profile", report)
    check_refused(checks, "two steps to trace", ["--trace needs at least 3 steps"],
                  *few, f"--trace={graph.work}/new.json")
    after = sorted(path.name for path in graph.work.iterdir())
    checks.that(before == after, f"left: {set(after) - set(before)}")


def main():
    data, work = sys.argv[1:]
    checks = Checks()
    graph = Graph(data, "gpt2-tiny", f"{work}/gpt2")
    check_run(checks, graph, 0, 1, 1)
    check_run(checks, graph, 1, 2, 1)
    check_run(checks, graph, 2, 2, 3)
    check_errors(checks, graph, check_run(checks, graph, 3, 2, 1))
    check_recomputed(checks, graph)
    checks.finish()


if __name__ == "__main__":
    main()
