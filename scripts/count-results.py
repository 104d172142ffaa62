#!/usr/bin/env python3
"""Sums the results of lit and GoogleTest in a folder and prints one line.

Exits with 1 if anything failed or nothing ran."""

import json
import pathlib
import sys


def count_lit(path):
    """lit's JSON report: one code for each test."""
    if not path.exists():
        return 0, 1
    codes = [test["code"] for test in json.loads(path.read_text())["tests"]]
    passed = sum(code in ("PASS", "XFAIL", "FLAKYPASS") for code in codes)
    skipped = sum(code in ("UNSUPPORTED", "SKIPPED", "EXCLUDED") for code in codes)
    return passed, len(codes) - passed - skipped


def count_unit(log):
    """GoogleTest's JSON report beside the program's log; none if it died."""
    report = log.with_suffix(".json")
    if not report.exists():
        return 0, 1
    totals = json.loads(report.read_text())
    failed = totals["failures"] + totals["errors"]
    return totals["tests"] - failed - totals["disabled"], failed


def main():
    folder = pathlib.Path(sys.argv[1])
    counts = [count_lit(folder / "lit.json")]
    counts += [count_unit(log) for log in sorted(folder.glob("*.unit.log"))]
    passed, failed = (sum(column) for column in zip(*counts))
    print(f"{passed} passed, {failed} failed")
    sys.exit(failed != 0 or passed == 0)


if __name__ == "__main__":
    main()
