#!/usr/bin/env python3
"""Counts the results in lit's JSON report and prints one line.

usage: count-results.py REPORT

Exits with 1 if a test failed, or if none ran."""

import json
import pathlib
import sys


def count(path):
    """(passed, failed) of the report, which has a result code for each test. Without a report, lit
    has failed."""
    if not path.exists():
        return 0, 1
    codes = [test["code"] for test in json.loads(path.read_text())["tests"]]
    passed = sum(code in ("PASS", "XFAIL", "FLAKYPASS") for code in codes)
    skipped = sum(code in ("UNSUPPORTED", "SKIPPED", "EXCLUDED") for code in codes)
    return passed, len(codes) - passed - skipped


def main():
    passed, failed = count(pathlib.Path(sys.argv[1]))
    print(f"{passed} passed, {failed} failed")
    sys.exit(failed != 0 or passed == 0)


if __name__ == "__main__":
    main()
