"""Puts the report of a run into the page of benchmarks on GPUs.

usage: merge_report.py REPORT.json [PAGE]

PAGE (docs/benchmarks-gpu.md) has a section for each kind of GPU, which is that of the last report of it.
"""

import json
import re
import sys
from pathlib import Path

from report import table, tables_of

PAGE = Path(__file__).resolve().parents[2] / "docs/benchmarks-gpu.md"
HEADER = """# Benchmarks on GPUs

Written by `test/gpu/merge_report.py` from reports of [`test/gpu/run`](guides/gpu.md#test-a-machine-with-a-gpu).
"""


def section_of(report):
    """The tables of a report, without the checks that hold."""
    machine = report["machine"]
    lines = [f"## {machine['GPU']}", "", *table(["", ""], machine.items())]
    failed = [check for check in report["checks"] if check["result"] != "ok"]
    lines += ["", f"{len(report['checks']) - len(failed)} of {len(report['checks'])} steps hold."]
    if failed:
        lines += ["", *table(["step", "result", "detail"], [[c["name"], c["result"], c["detail"]] for c in failed])]
    for name, rows in tables_of(report["rows"]).items():
        lines += ["", f"### {name}", "", *rows]
    return "\n".join(lines) + "\n"


def main():
    report = json.loads(Path(sys.argv[1]).read_text())
    page = Path(sys.argv[2]) if len(sys.argv) > 2 else PAGE
    text = page.read_text() if page.exists() else HEADER
    header, *sections = re.split(r"^(?=## )", text, flags=re.MULTILINE)
    title = f"## {report['machine']['GPU']}\n"
    kept = [section for section in sections if not section.startswith(title)]
    page.write_text("\n".join(part.rstrip("\n") + "\n" for part in [header, *kept, section_of(report)]))


if __name__ == "__main__":
    main()
