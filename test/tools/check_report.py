"""Checks the report of a plan against the certificate and for consistency.

usage: check_report.py CERTIFICATE.txt REPORT.json REPORT.html
"""

import json
import re
import sys
from pathlib import Path

from page_test import data_of

ROLES = ["parameters", "gradients", "optimizer state", "activations", "working"]
PARTS = {"prologue", "forward", "backward", "epilogue"}
KINDS = {"input", "state", "constant", "value", "scratch"}


def tiers_of(plan):
    """Every tier by name, each with the plan's commands. The device's fields are the plan's fields.
    """
    others = {tier["name"]: {**tier, "commands": plan["commands"]} for tier in plan.get("tiers", [])}
    return {"device": plan, **others}


def aligned(tier, tensor):
    unit = tier["alignment_bytes"]
    return -(-tensor["bytes"] // unit) * unit


def live_rows(plan):
    """Live bytes by role, a row for each command."""
    rows, changes = [], {row[0]: row[1:] for row in plan["live"]}
    for command in range(len(plan["commands"])):
        rows.append(changes.get(command, rows[-1] if rows else None))
    assert len(changes) == len(plan["live"]) and max(changes) < len(plan["commands"])
    return rows


def check_certificate(plan, text):
    """Compares the numbers with those in the text of the certificate."""
    stage, data, tensor, parameters = (int(number or 1) for number in re.search(
        r"ZeRO stage (\d) on (\d+)(?: x (\d+))? ranks?(?: \(data x tensor\))?, (\d+) parameters",
        text).groups())
    assert (plan["stage"], plan["ranks"], plan["parameters"]) == (stage, data * tensor, parameters)
    assert plan.get("mesh", {"data": data, "tensor": 1}) == {"data": data, "tensor": tensor}
    parts = re.split(r"^(memory|host|nvme) of each rank, bytes:$", text, flags=re.M)
    parts = {name.replace("memory", "device"): part for name, part in zip(parts[1::2], parts[2::2])}
    assert parts.keys() == tiers_of(plan).keys()
    for name, tier in tiers_of(plan).items():
        check_tier(tier, parts[name])
    check_moved(plan, text)
    check_stored(plan, text)
    volume = re.search(r"of (\d+): forward (\d+), backward (\d+), update (\d+), gradients (\d+)\n"
                       r"  the ZeRO paper's (\d+)P is (\d+)", text)
    keys = ["total", "forward", "backward", "update", "gradients", "paper_times", "paper"]
    assert (volume is None) == ("volume" not in plan)
    if volume:
        assert [plan["volume"][key] for key in keys] == [int(n) for n in volume.groups()]
        causes = plan["volume"].get("causes", {})
        assert not causes or sum(causes.values()) == plan["volume"]["total"] - int(volume[7])
    check_tensor_volume(plan, text)
    check_owners(plan, text)


def check_owners(plan, text):
    """The balance of owners is that of the text."""
    line = re.search(r"^(\d+) tensors have owners: the rank with most does (\S+) x the mean of "
                     r"operations and (\S+) % of all(?:; their buckets take (\S+) x their elements)?"
                     r"(?:; every rank computes the steps of (\d+) others)?$", text, re.M)
    assert (line is None) == ("owners" not in plan)
    if line:
        owners = plan["owners"]
        assert (owners["tensors"], owners["of_all_ranks"]) == (int(line[1]), int(line[5] or 0))
        times = owners["busiest_operations"] / owners["mean_operations"]
        ranks = plan["mesh"]["data"] if "mesh" in plan else plan["ranks"]
        assert line[2] == f"{times:.2f}" and line[3] == f"{100 * times / ranks:.1f}", line[0]
        if line[4]:
            assert line[4] == f"{owners['stored_elements'] / owners['elements']:.2f}", line[0]


def check_stored(plan, text):
    """Bytes by stored type are those of the text, and all that the optimizer has. In transit
    between tiers bytes count twice, so with these there may be more."""
    table = text.partition("throughout the step, bytes by type:\n")[2]
    rows = re.match(r"(  [a-z ]+, .* \d+\n)*", table)[0].splitlines()
    rows = [re.match(r"  ([a-z ]+), (.*?) +(\d+)$", row).groups() for row in rows]
    assert rows and plan["stored"] == [
        {"role": role, "type": kind, "bytes": int(count)} for role, kind, count in rows]
    for role, name in enumerate(ROLES[:3]):
        stored = sum(row["bytes"] for row in plan["stored"] if row["role"] == name)
        most = sum(tier["roles"][role]["most_bytes"] for tier in tiers_of(plan).values())
        exact = name == "optimizer state" and "tiers" not in plan
        assert stored == most if exact else stored <= most, (name, stored, most)


def check_tensor_volume(plan, text):
    """What ranks along tensor exchange: the parts of the line add up."""
    line = re.search(r"^along tensor, .* of (\d+): (.*)$", text, re.M)
    assert (line is None) == ("tensor_volume" not in plan)
    if line:
        names = {"recomputed layers": "recomputed", "gathered again": "gathered_again",
                 "saved activations": "saved"}
        parts = [part.rsplit(" ", 1) for part in line[2].split(", ")]
        volume = {names.get(name, name): int(count) for name, count in parts}
        assert volume == {name: count for name, count in plan["tensor_volume"].items()
                          if count and name != "total"}, volume
        assert sum(volume.values()) == plan["tensor_volume"]["total"] == int(line[1])


def check_tier(tier, text):
    for role, name in zip(tier["roles"], ROLES, strict=True):
        most, at_peak = map(int, re.search(rf"^  {name} +(\d+) +(\d+)$", text, re.M).groups())
        assert role == {"name": name, "most_bytes": most, "at_peak_bytes": at_peak}, role
    arena, at, optimal = re.search(r"^  arena +(\d+)  = .*, at (.*?)(; minimal)?$", text,
                                   re.M).groups()
    assert tier["arena_bytes"] == int(arena) and tier["optimal"] == bool(optimal)
    assert tier["commands"][tier["peak_command"]]["name"] == at


def check_moved(plan, text):
    """The transfers between tiers, with one line per pair of neighbours that has any."""
    copied = re.search(r"each rank copies (\d+) bytes per step from device to host and (\d+) back", text)
    disk = re.search(r"each rank reads (\d+) bytes per step from nvme and writes (\d+)", text)
    assert ("tiers" in plan) == ("moved" in plan) and (plan.get("tiers") or not (copied or disk))
    numbers = [int(n) for line in (copied, disk) for n in (line.groups() if line else (0, 0))]
    keys = ["device_to_host", "host_to_device", "nvme_read", "nvme_written"]
    assert plan.get("moved", dict.fromkeys(keys, 0)) == dict(zip(keys, numbers))


def check_sums(plan):
    """The live bytes at each command equal the sum of the live tensors; the maximum is the lower
    bound."""
    rows = live_rows(plan)
    sums = [[0] * len(ROLES) for _ in rows]
    for tensor in plan["tensors"]:
        assert 0 <= tensor["begin"] <= tensor["end"] < len(rows), tensor
        for command in range(tensor["begin"], tensor["end"] + 1):
            sums[command][tensor["role"]] += aligned(plan, tensor)
    assert sums == rows and plan["tensors_left_out"] == 0
    together = [sum(row) for row in rows]
    assert max(together) == plan["lower_bound_bytes"]
    assert together.index(max(together)) == plan["peak_command"]
    for index, role in enumerate(plan["roles"]):
        assert max(row[index] for row in rows) == role["most_bytes"], role
        assert rows[plan["peak_command"]][index] == role["at_peak_bytes"], role
    assert abs(plan["ratio"] - plan["arena_bytes"] / plan["lower_bound_bytes"]) < 1e-12


def check_rectangles(plan):
    """No two tensors share a byte at a command, and the topmost tensor ends the arena."""
    tensors = plan["tensors"]
    assert max(t["offset"] + aligned(plan, t) for t in tensors) == plan["arena_bytes"]
    for command in range(len(plan["commands"])):
        there = sorted((t["offset"], t["offset"] + t["bytes"]) for t in tensors
                       if t["begin"] <= command <= t["end"])
        assert all(a[1] <= b[0] for a, b in zip(there, there[1:])), command


def check_names(plan):
    assert {command["part"] for command in plan["commands"]} <= PARTS
    assert {tensor["kind"] for tensor in plan["tensors"]} <= KINDS
    order = [tensor["begin"] for tensor in plan["tensors"]]
    assert order == sorted(order)
    assert all(tensor["type"] or tensor["kind"] == "scratch" for tensor in plan["tensors"])


def check_page(text, json_text):
    """One file without dependencies that contains the same JSON. Names in it are not markup."""
    assert data_of(text) == json_text.strip()
    assert "\u2028" not in json_text


def main():
    certificate, json_path, page_path = sys.argv[1:4]
    json_text = Path(json_path).read_text(encoding="utf-8")
    plan = json.loads(json_text)
    assert (plan["format"], plan["version"]) == ("zero-plan", 1)
    check_certificate(plan, Path(certificate).read_text(encoding="utf-8"))
    for tier in tiers_of(plan).values():
        check_sums(tier)
        check_rectangles(tier)
        check_names(tier)
    assert all(d["category"] and d["text"] for d in plan["decisions"])
    check_page(Path(page_path).read_text(encoding="utf-8"), json_text)
    print(f"{len(plan['commands'])} commands, {len(plan['tensors'])} tensors, "
          f"peak in {plan['commands'][plan['peak_command']]['part']}, "
          f"tiers: {' '.join(tiers_of(plan))}")


if __name__ == "__main__":
    main()
