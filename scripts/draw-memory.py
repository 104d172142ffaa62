#!/usr/bin/env python3
"""Draws docs/memory.svg: the planned memory of one rank over a training step, by role.

usage: draw-memory.py [--check] [ZEROC]

ZEROC (build/bin/zeroc unless given) plans GPT-2 mini of test/data for 4 ranks, once for each stage
of the chart. The live bytes in its JSON reports are stacked over the commands of the step; see
docs/reference/report.md for the fields. --check compares the file instead of writing it, and exits
with 1 if it is not up to date. On CPUs with AVX-512, products of oneDNN need other workspace, so
--check compares everything but the areas there.
"""

import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from xml.sax.saxutils import escape

ROOT = Path(__file__).resolve().parent.parent
PICTURE = ROOT / "docs/memory.svg"
MODEL = ROOT / "test/data/gpt2-mini/model.onnx"
STAGES, RANKS = (0, 3), 4
MIB = 2**20
# From the bottom of the stack upwards: first the roles that are live during the entire step.
COLORS = {"parameters": "#3f74bd", "optimizer state": "#d3a92c", "gradients": "#d4633c",
          "activations": "#479f72", "working": "#a3a8b0"}
LABELS = {"working": "working: gathered buckets, temporaries"}
PARTS = {"prologue": "prologue", "forward": "forward", "backward": "backward", "epilogue": "update"}
WIDTH, HEIGHT = 920, 420
LEFT, TOP, PANEL, GAP, PLOT = 64, 84, 404, 32, 252  # in pixels
GRID = 20  # MiB between two lines
INK, MUTED, LINE, GROUND = "#1c1e21", "#5a5f66", "#d9d9d2", "#ffffff"
DARK = {INK: "#e7e7e3", MUTED: "#9ca2a9", LINE: "#33373d", GROUND: "#15171a"}


def plan(zeroc, stage):
    """The JSON report of a plan."""
    with tempfile.TemporaryDirectory() as work:
        report = Path(work) / "plan.json"
        subprocess.run([zeroc, MODEL, f"--zero-stage={stage}", f"--ranks={RANKS}",
                        "--optimizer=adamw", "--plan-only", f"--report={report}"],
                       stdout=subprocess.DEVNULL, check=True)
        return json.loads(report.read_text())


def live_bytes(report):
    """(first command, {role: live bytes}) of each row, valid until the next row."""
    names = [role["name"] for role in report["roles"]]
    return [(row[0], dict(zip(names, row[1:]))) for row in report["live"]]


def text(x, y, content, size=13, anchor="start", color=INK, more=""):
    return (f'<text x="{x:.1f}" y="{y:.1f}" font-size="{size}" text-anchor="{anchor}" '
            f'fill="{color}"{more}>{escape(content)}</text>')


def rule(x1, y1, x2, y2, color=LINE, more=""):
    return (f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" '
            f'stroke="{color}"{more}/>')


class Panel:
    """The chart of one plan, with its left edge at `left`; `top` is the MiB of the axis."""

    def __init__(self, report, left, top):
        self.report, self.left, self.top = report, left, top
        self.commands = len(report["commands"])
        self.rows = live_bytes(report)

    def x(self, command):
        return self.left + PANEL * command / self.commands

    def y(self, size):
        return TOP + PLOT * (1 - size / MIB / self.top)

    def area(self, role, below):
        """The area of a role on top of the roles `below` it, as a closed path."""
        lower = [(begin, sum(sizes[name] for name in below)) for begin, sizes in self.rows]
        upper = [(begin, size + sizes[role]) for (begin, size), (_, sizes) in zip(lower, self.rows)]
        backwards = [(begin, size) for (begin, _), (_, size) in zip(lower[:0:-1], lower[-2::-1])]
        path = f"M{self.x(0):.1f},{self.y(upper[0][1]):.1f}{self.steps(upper)}"
        path += f"H{self.x(self.commands):.1f}"
        path += f"V{self.y(lower[-1][1]):.1f}{self.steps(backwards, lower[-1][1])}H{self.x(0):.1f}Z"
        return f'<path d="{path}" fill="{COLORS[role]}"/>'

    def steps(self, points, size=None):
        """The path through each command at which the size changes, to its new size."""
        path = ""
        size = points[0][1] if size is None else size
        for command, new in points:
            if new != size:
                path += f"H{self.x(command):.1f}V{self.y(new):.1f}"
            size = new
        return path

    def parts(self):
        """(name, first command, end) of the parts of the step; `end` is exclusive. The loss
        alternates between forward and backward tile by tile, so it counts as backward."""
        first = {}
        for index, command in enumerate(self.report["commands"]):
            first.setdefault(PARTS[command["part"]], index)
        ends = [*first.values(), self.commands][1:]
        return [(name, begin, end) for (name, begin), end in zip(first.items(), ends)]

    def draw(self):
        report, right, bottom = self.report, self.left + PANEL, TOP + PLOT
        peak = report["lower_bound_bytes"]
        yield text(self.left, TOP - 14, f"ZeRO stage {report['stage']}", 15,
                   more=' font-weight="bold"')
        yield text(right, TOP - 14, f"peak {peak / MIB:.1f} MiB", 14, "end")
        for level in range(0, self.top + 1, GRID):
            yield rule(self.left, self.y(level * MIB), right, self.y(level * MIB))
        roles = list(COLORS)
        for index, role in enumerate(roles):
            yield self.area(role, roles[:index])
        yield rule(self.left, self.y(peak), right, self.y(peak), INK, ' stroke-dasharray="4 3"')
        for name, begin, end in self.parts():
            if begin:
                yield rule(self.x(begin), TOP, self.x(begin), bottom + 6, MUTED,
                           ' stroke-dasharray="2 3"')
            yield text(self.x((begin + end) / 2), bottom + 20, name, 13, "middle")
        yield rule(self.left, bottom, right, bottom, INK)
        yield text(self.left + PANEL / 2, bottom + 40, f"{self.commands} commands of a step", 13,
                   "middle", MUTED)


def legend():
    x = LEFT
    for role, color in COLORS.items():
        yield f'<rect x="{x}" y="{HEIGHT - 27}" width="13" height="13" fill="{color}"/>'
        yield text(x + 19, HEIGHT - 16, LABELS.get(role, role))
        x += 44 + 8 * len(role)


def draw(reports):
    largest = max(report["lower_bound_bytes"] for report in reports) / MIB
    top = GRID * int(largest / GRID + 1)
    elements = reports[0]["trained_parameters"] / 1e6
    title = (f"Planned memory of one rank: GPT-2 with {elements:.1f} million parameters, AdamW, "
             f"fp32, {reports[0]['ranks']} ranks")
    yield (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" '
           f'width="{WIDTH}" height="{HEIGHT}" role="img" '
           'font-family="system-ui, Helvetica, Arial, sans-serif">')
    yield f"<title>{escape(title)}</title>"
    yield dark_style()
    yield f'<rect width="{WIDTH}" height="{HEIGHT}" fill="{GROUND}"/>'
    yield text(LEFT, 32, title, 16)
    axis = Panel(reports[0], LEFT, top)
    for level in range(0, top + 1, GRID):
        yield text(LEFT - 8, axis.y(level * MIB) + 4, str(level), 12, "end", MUTED)
    middle = TOP + PLOT / 2
    yield text(18, middle, "live bytes, MiB", 13, "middle", MUTED,
               f' transform="rotate(-90 18 {middle:.1f})"')
    for index, report in enumerate(reports):
        yield from Panel(report, LEFT + index * (PANEL + GAP), top).draw()
    yield from legend()
    yield "</svg>"


def dark_style():
    """The colors where the system's are dark; rules of a style come before attributes."""
    rules = "".join(f'[{where}="{light}"]{{{where}:{dark}}}'
                    for light, dark in DARK.items() for where in ("fill", "stroke"))
    return f"<style>@media (prefers-color-scheme: dark){{{rules}}}</style>"


def has_avx512():
    return "avx512vl" in Path("/proc/cpuinfo").read_text()


def comparable(picture):
    """The part of a picture that is the same on every processor."""
    return re.sub(r' d="[^"]*"', "", picture) if has_avx512() else picture


def main():
    arguments = [a for a in sys.argv[1:] if a != "--check"]
    zeroc = arguments[0] if arguments else ROOT / "build/bin/zeroc"
    picture = "\n".join(draw([plan(zeroc, stage) for stage in STAGES])) + "\n"
    if "--check" not in sys.argv:
        PICTURE.write_text(picture)
    elif not PICTURE.exists() or comparable(PICTURE.read_text()) != comparable(picture):
        sys.exit(f"{PICTURE} is not up to date: run {sys.argv[0]}")


if __name__ == "__main__":
    main()
