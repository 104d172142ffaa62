#!/usr/bin/env python3
"""Adds up the results of lit and GoogleTest in a directory and prints one line.

usage: count-results.py DIRECTORY

Exits with 1 if a test failed, or if none ran."""

import json
import pathlib
import sys


def count_lit(path):
    """(passed, failed) of lit's JSON report, which has a result code for each test."""
    if not path.exists():
        return 0, 1
    codes = [test["code"] for test in json.loads(path.read_text())["tests"]]
    passed = sum(code in ("PASS", "XFAIL", "FLAKYPASS") for code in codes)
    skipped = sum(code in ("UNSUPPORTED", "SKIPPED", "EXCLUDED") for code in codes)
    return passed, len(codes) - passed - skipped


def count_unit(log):
    """(passed, failed) of the JSON report that GoogleTest wrote beside the log of a program. If the
    program ended without a report, it counts as one failure."""
    report = log.with_suffix(".json")
    if not report.exists():
        return 0, 1
    totals = json.loads(report.read_text())
    failed = totals["failures"] + totals["errors"]
    return totals["tests"] - failed - totals["disabled"], failed


def main():
    directory = pathlib.Path(sys.argv[1])
    counts = [count_lit(directory / "lit.json")]
    counts += [count_unit(log) for log in sorted(directory.glob("*.unit.log"))]
    passed, failed = (sum(column) for column in zip(*counts))
    print(f"{passed} passed, {failed} failed")
    sys.exit(failed != 0 or passed == 0)


if __name__ == "__main__":
    main()
