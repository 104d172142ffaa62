"""Checks with a limit of time, and the report on them.

report.json is an object with three members:
- `machine`: a dictionary from each property of the machine to its value, as text;
- `checks`: a list of objects with `name`, `result` ("ok", "FAILED" or "skipped"), `detail` and `seconds`;
- `rows`: a list of table rows, each a dictionary from column to text. `table` is the title of its table.
"""

import json
import multiprocessing
import os
import signal
import time
import traceback
from dataclasses import dataclass, field
from multiprocessing import connection

from zero_test import Failed


class Missing(Exception):
    """Something that a check needs is not installed."""


@dataclass
class Check:
    """`body` returns a line of text, or a list of rows, each a dictionary with its `table`."""
    name: str
    body: object
    limit: float  # seconds
    least: float = 5  # seconds that must be left, or it is skipped
    result: str = ""
    detail: str = ""
    seconds: float = 0
    rows: list = field(default_factory=list)

    def start(self, most):
        """Runs the body in a process, for at most `most` seconds."""
        self.begin = time.monotonic()
        self.limit = min(self.limit, most)
        self.connection, theirs = multiprocessing.Pipe(duplex=False)
        self.process = multiprocessing.get_context("fork").Process(target=self.run, args=(theirs,))
        self.process.start()
        theirs.close()

    def run(self, answer):
        """In the process. It leads a group, with the tools that it starts."""
        os.setsid()
        try:
            answer.send(("ok", self.body()))
        except Missing as error:
            answer.send(("skipped", str(error)))
        except (Failed, AssertionError) as error:
            answer.send(("FAILED", str(error).strip()))
        except BaseException:
            answer.send(("FAILED", traceback.format_exc().strip()))

    def left(self):
        """Seconds until the limit."""
        return self.begin + self.limit - time.monotonic()

    def is_over(self):
        return self.connection.poll() or self.left() <= 0

    def finish(self):
        """Takes the answer, and ends all that the process has started."""
        try:
            answer = (self.connection.recv() if self.connection.poll() else
                      ("FAILED", f"not done within {self.limit:.0f} s"))
        except EOFError:
            answer = ("FAILED", "its process has ended")
        self.process.join(0.5)  # one that has answered ends by itself
        try:
            os.killpg(self.process.pid, signal.SIGKILL)
        except ProcessLookupError:
            self.process.kill()
        self.process.join(10)  # one that hangs in the driver cannot be ended
        self.result, value = answer
        self.rows = value if isinstance(value, list) else []
        self.detail = f"{len(self.rows)} row{'s' if len(self.rows) > 1 else ''}" if self.rows else value
        self.seconds = time.monotonic() - self.begin


class Report:
    """What is known so far, as a file that is written again after each check."""

    def __init__(self, folder, machine):
        self.path, self.machine = folder / "report.md", machine
        self.begin = time.monotonic()
        self.checks = []

    def add(self, check):
        self.checks.append(check)
        print(f"{check.name:<56} {check.result:<8} {check.detail} ({check.seconds:.1f} s)", flush=True)
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self.path.write_text(self.text())
        self.path.with_suffix(".json").write_text(json.dumps(self.data(), indent=1))

    def failed(self):
        return sum(check.result == "FAILED" for check in self.checks)

    def text(self):
        lines = ["# GPU report", "", *table(["", ""], [[k, v] for k, v in self.machine.items()]), "",
                 "## Checks", "",
                 *table(["check", "result", "s", "detail"],
                        [[c.name, c.result, f"{c.seconds:.1f}", c.detail] for c in self.checks])]
        for name, rows in tables_of(self.rows()).items():
            lines += ["", f"## {name}", "", *rows]
        return "\n".join(lines) + "\n"

    def rows(self):
        return [row for check in self.checks for row in check.rows]

    def data(self):
        checks = [{"name": c.name, "result": c.result, "detail": c.detail, "seconds": round(c.seconds, 2)}
                  for c in self.checks]
        return {"machine": self.machine, "checks": checks, "rows": self.rows()}


def tables_of(rows):
    """Returns a dictionary from the title of each table to its lines of Markdown."""
    found = {}
    for name in dict.fromkeys(row["table"] for row in rows):
        own = [row for row in rows if row["table"] == name]
        columns = [column for column in dict.fromkeys(c for row in own for c in row) if column != "table"]
        found[name] = table(columns, [[row.get(column, "") for column in columns] for row in own])
    return found


def table(names, rows):
    """A table of Markdown."""
    def line(cells):
        return "| " + " | ".join(str(c).replace("|", "\\|").replace("\n", "<br>") for c in cells) + " |"
    return [line(names), "|" + "---|" * len(names), *map(line, rows)]


def run_checks(report, checks, jobs, seconds):
    """Runs `checks`, `jobs` at a time, until `seconds` after the report was begun."""
    waiting, running = list(checks), []
    while waiting or running:
        while waiting and len(running) < jobs:
            check = waiting.pop(0)
            most = seconds - (time.monotonic() - report.begin)
            if most > check.least:
                check.start(most)
                running.append(check)
            else:
                check.result, check.detail = "skipped", "no time is left"
                report.add(check)
        if running:
            connection.wait([check.connection for check in running],
                            max(0, min(check.left() for check in running)))
        for check in [check for check in running if check.is_over()]:
            running.remove(check)
            check.finish()
            report.add(check)
