"""A trace has the plan of a step next to its execution, and zero-sim simulates steps whose state is
offloaded: transfers take the bandwidth of their link, and a slower disk makes a longer step.

usage: check_timeline.py DATA WORK
"""

import json
import re
import sys
from collections import Counter, defaultdict

from zero_test import Checks, Graph, read_trace, run_tool

STEPS = 4
ROUNDING = 2e-3  # us, of the numbers in a trace
TRANSFERS = ("h2d", "d2h", "nvme read", "nvme write")
EVERYTHING = ("--offload-params=nvme", "--offload-optimizer=nvme", "--offload-gradients=host",
              "--offload-activations=host")

# 8 GB/s of disk for all ranks, which copy at 20 GB/s. Cores suffice for all lanes of two ranks.
MACHINE = {"name": "round", "source": "made up", "isa": "x86-64-v4", "cores": 16, "ranks": 2,
           "threads": 1, "peak_flops": 100e9, "memory_bandwidth": 40e9, "copy_bandwidth": 20e9,
           "launch_seconds": 1e-6, "overlaps": False,
           "gather": {"bandwidth": 10e9, "latency": 1e-6},
           "reduce": {"bandwidth": 10e9, "latency": 1e-6},
           "disk": {"read_bandwidth": 8e9, "write_bandwidth": 8e9}}


def write_machine(graph, name, **changes):
    path = graph.work / f"{name}.json"
    path.write_text(json.dumps({**MACHINE, "name": name, **changes}))
    return path


def tracks_of(path):
    """The slices of each track, by rank and name."""
    tracks = defaultdict(list)
    for rank, track, event in read_trace(path):
        tracks[rank, track].append(event)
    return tracks


def check_planned(checks, label, tracks, rank):
    """The plan has the same commands on the same lanes, without overlap."""
    lanes = {name for owner, name in tracks if owner == rank and not name.startswith("planned: ")}
    planned = {name.removeprefix("planned: ") for owner, name in tracks
               if owner == rank and name.startswith("planned: ")}
    checks.that(lanes == planned, f"{label}: lanes {lanes}, planned {planned}")
    (step,), (plan,) = tracks[rank, "step"], tracks[rank, "planned: step"]
    checks.that(step["ts"] == plan["ts"], f"{label}: the plan begins at {plan['ts']}")
    for lane in lanes - {"step"}:
        ran, said = tracks[rank, lane], tracks[rank, f"planned: {lane}"]
        of = lambda events: Counter((e["name"], e["args"]["kernel"], e["args"]["micro_batch"],
                                     e["args"]["bytes"]) for e in events)
        checks.that(of(ran) == of(said), f"{label}: other commands on lane {lane}")
        now = plan["ts"]
        for event in said:
            checks.that(event["ts"] >= now - ROUNDING, f"{label}: {lane}: {event} before {now}")
            now = event["ts"] + event["dur"]
        checks.that(now <= plan["ts"] + plan["dur"] + ROUNDING, f"{label}: {lane} ends at {now}")
    return lanes


# A lane, and a lane that waits until it is done with the value of this name.
CHAINS = (("nvme read", r"(bucket\d+)", "h2d", r"\1"), ("d2h", r"(node_\w+)", "h2d", r"\1"),
          ("nvme read", r"(bucket\d+)\.exp_avg", "host compute", r"\1.update"),
          ("d2h", r"(bucket\d+)\.gradient", "host compute", r"\1.update"),
          ("host compute", r"(bucket\d+)\.update", "nvme write", r"\1.exp_avg"))


def first_by_name(events):
    """The first slice of each name and micro-batch."""
    first = {}
    for event in events:
        first.setdefault((event["name"], event["args"]["micro_batch"]), event)
    return first


def check_waits(checks, label, tracks, rank, turns):
    """A command begins after the values it needs have arrived, both planned and measured."""
    for prefix in ("", "planned: "):
        for source, pattern, target, behind in CHAINS:
            came = first_by_name(tracks[rank, prefix + source])
            goes = first_by_name(tracks[rank, prefix + target])
            pairs = [(event, goes.get((re.sub(pattern, behind, name), turn)))
                     for (name, turn), event in came.items() if re.fullmatch(pattern, name)]
            checks.that(turns > 1 or any(waits for _, waits in pairs),
                        f"{label}: {prefix}{target} goes on with nothing that {source} has")
            for event, waits in pairs:
                checks.that(not waits or waits["ts"] + ROUNDING >= event["ts"] + event["dur"],
                            f"{label}: {prefix}{target} of {event['name']} before {source} ends")


def simulate(executable, machine):
    return json.loads(run_tool("zero-sim", executable, "--json", f"--machine={machine}"))


def check_links(checks, label, executable, machine, report):
    """No link is faster than the machine's, and the bytes equal those that a run moves."""
    simulated = simulate(executable, machine)
    disk = 8e9 / simulated["ranks"]
    least = {"h2d": 20e9 / 2, "d2h": 20e9 / 2, "nvme read": disk, "nvme write": disk}
    moved = {lane: use["bytes"] for lane, use in report["per_rank"][0]["lanes"].items()
             if use["bytes"]}
    checks.that(simulated["moved_bytes"] == moved, f"{label}: {simulated['moved_bytes']}, {moved}")
    for lane, bytes_moved in simulated["moved_bytes"].items():
        seconds, bound = simulated["lanes"][lane], bytes_moved / least[lane]
        checks.that(bound <= seconds * (1 + 1e-9), f"{label}: {lane} takes {seconds} of {bound} s")
        checks.that(seconds < bound + 1e-3, f"{label}: {lane} takes {seconds}, bound {bound} s")
    own = simulated["lanes"]["compute"] + simulated["stalled"]
    checks.that(abs(own / simulated["seconds"] - 1) < 1e-6, f"{label}: {own} s of {simulated}")
    checks.that(max(simulated["lanes"].values()) <= simulated["seconds"], f"{label}: {simulated}")
    return simulated


def check_disk(checks, label, graph, executable, simulated):
    """A disk with a tenth of the bandwidth makes the step longer. If the disk is the only thing to
    wait for, the step grows by as much as the disk takes longer."""
    slow = simulate(executable, write_machine(
        graph, "slow", disk={"read_bandwidth": 8e8, "write_bandwidth": 8e8}))
    for lane in ("nvme read", "nvme write"):
        ratio = slow["lanes"][lane] / simulated["lanes"][lane]
        checks.that(abs(ratio - 10) < 1e-6, f"{label}: {lane} takes {ratio} times as long")
    for lane in ("compute", "collective", "h2d", "d2h", "host compute"):
        checks.that(slow["lanes"][lane] == simulated["lanes"][lane], f"{label}: {lane} changed")
    checks.that(slow["seconds"] > simulated["seconds"] and slow["stalled"] > simulated["stalled"],
                f"{label}: {slow['seconds']} s, with ten times the disk {simulated['seconds']} s")
    slowest = simulate(executable, write_machine(
        graph, "slowest", disk={"read_bandwidth": 8e5, "write_bandwidth": 8e5}))
    disk = max(slowest["lanes"]["nvme read"], slowest["lanes"]["nvme write"])
    checks.that(disk <= slowest["seconds"] < 2.1 * disk, f"{label}: {slowest['lanes']}")
    few = simulate(executable, write_machine(graph, "few-cores", cores=1))
    for lane in ("compute", "host compute"):  # these share the cores; the disk needs none
        checks.that(few["lanes"][lane] > 1.001 * simulated["lanes"][lane], f"{label}: {few['lanes']}")
    for lane in ("nvme read", "nvme write"):
        checks.that(few["lanes"][lane] == simulated["lanes"][lane], f"{label}: {lane} changed")
    text = run_tool("zero-sim", executable)
    checks.that("the machine description has no disk; 1 GB/s is assumed" in text, text)
    share = "0.5" if simulated["ranks"] == 2 else "1"
    checks.that(re.search(rf"^lane nvme read +busy [\d.]+ ms, [\d.]+ %, [\d.]+ \w+ at {share} GB/s$",
                          text, re.MULTILINE), text)
    checks.that("has no disk" not in run_tool("zero-sim", executable,
                                                    f"--machine={graph.work}/slow.json"), "note")


def check_tiers(checks, graph, ranks, turns):
    label = f"{ranks} ranks, {turns} turns"
    machine = write_machine(graph, "round")
    executable = graph.compile(3, ranks, "--optimizer=adamw", f"--micro-batches={turns}",
                               f"--machine={machine}", *EVERYTHING)
    trace, report = graph.work / "trace.json", graph.work / "report.json"
    text = run_tool("zero-run", executable, graph.data_flag, f"--steps={STEPS}",
                    f"--nvme-dir={graph.work}", f"--trace={trace}", f"--report-json={report}")
    tracks = tracks_of(trace)
    for rank in range(ranks):
        lanes = check_planned(checks, f"{label}, rank {rank}", tracks, rank)
        checks.that({"step", "compute", "host compute", *TRANSFERS} <= lanes, f"{label}: {lanes}")
        check_waits(checks, f"{label}, rank {rank}", tracks, rank, turns)
    report = json.loads(report.read_text())
    simulated = check_links(checks, label, executable, machine, report)
    plan = report["plan"]
    checks.that(plan["machine"] == "round" and abs(plan["seconds"] / simulated["seconds"] - 1) < 1e-6
                and abs(plan["stalled"] / simulated["stalled"] - 1) < 1e-6,
                f"{label}: planned {plan}, simulated {simulated['seconds']}")
    check_disk(checks, label, graph, executable, simulated)
    check_summary(checks, label, text, report)


def check_summary(checks, label, text, report):
    """One line per lane with the numbers of the report, and one for the time that compute waits."""
    for lane, use in report["per_rank"][0]["lanes"].items():
        line = re.search(rf"^lane {lane} +busy ([\d.]+) ms a step \(planned: ([\d.]+) ms\)(.*)$",
                         text, re.MULTILINE)
        checks.that(line and abs(float(line[1]) / 1e3 - use["seconds"]) < 1e-5 and
                    abs(float(line[2]) / 1e3 - report["plan"]["lanes"][lane]["seconds"]) < 1e-5,
                    f"{label}: {lane}: {line}")
        checks.that((" GB/s" in line[3]) == (use["bytes"] > 0), f"{label}: {line[0]}")
    checks.that(re.search(r"^compute stalled [\d.]+ ms of [\d.]+ ms a step, waiting for lanes "
                          r"\(planned: [\d.]+ ms of [\d.]+ ms, on 'round'\)$", text, re.MULTILINE),
                text)


def check_without_tiers(checks, graph):
    """There are no lines about lanes, but the plan is present."""
    executable = graph.compile(1, 2)
    trace, report = graph.work / "trace.json", graph.work / "report.json"
    text = run_tool("zero-run", executable, graph.data_flag, f"--steps={STEPS}",
                    f"--trace={trace}", f"--report-json={report}")
    checks.that("lane " not in text and "stalled" not in text, text)
    report = json.loads(report.read_text())
    checks.that("lanes" not in report["per_rank"][0], f"{report['per_rank']}")
    checks.that(report["plan"]["machine"] == "cpu" and report["plan"]["stalled"] == 0,
                f"{report['plan']}")
    tracks = tracks_of(trace)
    lanes = check_planned(checks, "in memory", tracks, 1)
    checks.that(lanes == {"step", "compute", "collective"}, f"in memory: {lanes}")


def main():
    data, work = sys.argv[1:]
    checks = Checks()
    graph = Graph(data, "gpt2-tiny", work)
    check_tiers(checks, graph, 2, 1)
    check_tiers(checks, graph, 1, 2)
    check_without_tiers(checks, graph)
    checks.finish()


if __name__ == "__main__":
    main()
