"""Checks a table of `zeroc --prices` against the certificates of its rows.

usage: check_prices.py PRICES.json [--rows=N,...] [--simulated=MACHINE] [--text=FILE]
                       [--endurance=BYTES]

Runs the command of each row, or of the rows of these numbers from 1, and compares the bytes of each
tier, what is trained and what is written. Derives the other numbers from these. With --simulated,
also compiles the rows and compares their seconds with zero-sim's on this machine. With --text,
finds the bytes of each row in the table as text. Years are those of drives of a node that last so
many bytes (0: not known).
"""

import argparse
import json
import re
import shlex
import subprocess
import tempfile
from pathlib import Path

TIERS = {"device": "device_bytes", "host": "host_bytes", "nvme": "disk_bytes"}
# zeroc simulates before collectives and transfers have commands of their own.
NEAR = 0.15
DAY, YEAR = 24 * 60 * 60, 365.25


def run(*command):
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, (command, done.stderr)
    return done.stdout


def report_of(row, folder):
    """The report of the row's command, which must be the row's flags for the table's model."""
    command = shlex.split(row["command"])
    assert command[0] == "zeroc" and command[2:] == row["flags"], row
    path = Path(folder, "row.json")
    run(*command, "--plan-only", f"--report={path}")
    return json.loads(path.read_text())


def check_certificate(table, row, folder):
    plan = report_of(row, folder)
    arenas = {"device": plan["arena_bytes"]}
    arenas |= {tier["name"]: tier["arena_bytes"] for tier in plan.get("tiers", [])}
    assert {tier: row[key] for tier, key in TIERS.items()} == {
        tier: arenas.get(tier, 0) for tier in TIERS}, (row["command"], arenas)
    assert row["trained_parameters"] == plan["trained_parameters"]
    written = plan.get("moved", {}).get("nvme_written", 0) * table["ranks"]
    assert row["written_bytes_per_step"] == written, (row["command"], written)
    return plan


def check_derived(table, row):
    """Hours and bytes written follow from the numbers of a step."""
    if not row["tokens_per_step"]:
        assert row["hours"] is None and row["written_bytes"] is None
        return
    steps = table["tokens"] / row["tokens_per_step"]
    assert abs(row["hours"] - steps * row["seconds"] / 3600) <= 1e-6 * row["hours"], row
    assert abs(row["written_bytes"] - steps * row["written_bytes_per_step"]) <= 1e-6 * (
        1 + row["written_bytes"]), row


def check_wear(table, row, endurance):
    """What a day of steps writes to the drives of a node, and the years that they last."""
    ranks = table["machine"]["ranks_on_node"]
    rate = row["written_bytes_per_step"] / table["ranks"] * ranks / row["seconds"] * DAY
    assert abs(row["written_bytes_per_day"] - rate) <= 1e-6 * rate, (row, rate)
    if not endurance or not rate:
        assert row["drive_years"] is None, row
        return
    assert abs(row["drive_years"] * rate * YEAR / endurance - 1) <= 1e-6, (row, rate)


def needed(table, row, plan):
    """Bytes of the memories of the machine that a row takes."""
    ranks = table["machine"]["ranks_on_node"]
    if table["machine"]["shared"]:
        process = plan["process"]["arenas"] + plan["process"]["beside"]
        return {"device_bytes": process, "disk_bytes": row["disk_bytes"] * ranks}
    return {"device_bytes": row["device_bytes"], "host_bytes": row["host_bytes"] * ranks,
            "disk_bytes": row["disk_bytes"] * ranks}


def check_fits(table, row, plan):
    machine, takes = table["machine"], needed(table, row, plan)
    missing = {key: bytes - machine[key] for key, bytes in takes.items()
               if key in machine and bytes > machine[key]}
    assert row["missing"] == missing, (row, missing)
    unknown = [key for key, bytes in takes.items() if bytes and key not in machine]
    assert row["fits"] == ("no" if missing else "?" if unknown else "yes"), (row, unknown)
    assert row["outcome"].startswith("misses" if missing else "fits")


def check_fastest(table):
    fitting = [row for row in table["rows"] if row["fits"] in ("yes", "?")]
    marked = [row for row in table["rows"] if row.get("fastest")]
    least = min((row["seconds"] for row in fitting), default=None)
    assert [row["seconds"] for row in marked] == ([least] if fitting else []), marked


def check_simulated(row, machine, folder):
    command, path = shlex.split(row["command"]), str(Path(folder, "row.zexe"))
    run(*command, "-o", path)
    seconds = json.loads(run("zero-sim", path, f"--machine={machine}", "--json"))["seconds"]
    assert abs(row["seconds"] - seconds) <= NEAR * seconds, (row["command"], seconds, row["seconds"])


def check_text(table, path):
    """Each row of the text has the numbers of the JSON."""
    lines = Path(path).read_text().splitlines()
    for number, row in enumerate(table["rows"], 1):
        line = next(line for line in lines if re.match(rf" *{number}  ", line))
        assert len(line) <= 120, line
        assert row["way"] in line and row["where"] in line, line
        for key in TIERS.values():
            assert not row.get(key) or f" {row[key]} " in line, (key, line)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("prices")
    parser.add_argument("--rows")
    parser.add_argument("--simulated")
    parser.add_argument("--text")
    parser.add_argument("--endurance", type=float, default=0)
    args = parser.parse_args()
    table = json.loads(Path(args.prices).read_text())
    assert (table["format"], table["version"]) == ("zero-prices", 1)
    chosen = [int(number) - 1 for number in args.rows.split(",")] if args.rows else range(
        len(table["rows"]))
    assert table["rows"] and list(chosen)
    with tempfile.TemporaryDirectory() as folder:
        for index in chosen:
            row = table["rows"][index]
            if row["fits"] == "no plan":
                assert row["outcome"].startswith("no plan: "), row
                continue
            check_derived(table, row)
            check_wear(table, row, args.endurance)
            check_fits(table, row, check_certificate(table, row, folder))
            if args.simulated:
                check_simulated(row, args.simulated, folder)
    check_fastest(table)
    if args.text:
        check_text(table, args.text)
    plans = sum(row["fits"] != "no plan" for row in table["rows"])
    print(f"{len(table['rows'])} rows, {plans} plans, {len(list(chosen))} compared")


if __name__ == "__main__":
    main()
