"""Shared functions of the scripts: child processes, medians, straight lines, tables."""

import argparse
import contextlib
import json
import os
import re
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parent.parent
ENVIRONMENTS = ROOT / ".deps/bench"
PEERS = ROOT / "bench/peers"
MIB = 2**20
LAST_LINES = 12


class Failure(Exception):
    """A program that failed or took too long; the text ends with its last lines."""


@dataclass
class Usage:
    """Wall seconds, the largest resident bytes of any of the processes, and their output.

    The kernel includes this process until a program has replaced its copy, so the bytes are never
    less than the 50 MiB of Python.
    """
    seconds: float
    resident: int
    output: str


@contextlib.contextmanager
def deadline(seconds):
    """Raises Failure in the body after `seconds` seconds (an integer)."""
    def stop(*_):
        raise Failure(f"took longer than {seconds} s")
    before = signal.signal(signal.SIGALRM, stop)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def wait_for_all(children):
    """Waits for the processes of `children` (by id) and removes them one by one."""
    resident = 0
    while children:
        pid, status, usage = os.wait4(-1, 0)
        child = children.pop(pid, None)
        resident = max(resident, usage.ru_maxrss * 1024)
        child.returncode = os.waitstatus_to_exitcode(status)
        if child.returncode != 0:
            raise Failure(f"exit status {child.returncode}: {' '.join(child.args)}")
    return resident


def kill(children):
    for pid, child in children.items():
        with contextlib.suppress(ProcessLookupError):
            os.killpg(pid, signal.SIGKILL)
        child.wait()


def run_together(commands, timeout, settings=()):
    """Runs programs in parallel until all have ended: the ranks of one run.

    `settings` are environment variables, one dictionary per command. If one program fails, or on an
    interrupt, the others are killed with all processes they started.
    """
    settings = settings or [{}] * len(commands)
    children = {}
    with tempfile.TemporaryFile("w+", errors="replace") as log:
        start = time.monotonic()
        try:
            with deadline(timeout):
                for command, variables in zip(commands, settings):
                    child = subprocess.Popen([str(word) for word in command], stdout=log,
                                             stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL,
                                             env={**os.environ, **variables},
                                             start_new_session=True)
                    children[child.pid] = child
                resident = wait_for_all(children)
            seconds = time.monotonic() - start
        except (Failure, OSError) as failure:
            log.seek(0)
            last = "".join(log.readlines()[-LAST_LINES:])
            raise Failure(f"{failure}\n{last}".rstrip()) from None
        finally:
            kill(children)
        log.seek(0)
        return Usage(seconds, resident, log.read())


def run(command, timeout=600, settings=None):
    """Runs one program; returns its Usage or raises Failure."""
    return run_together([command], timeout, [settings or {}])


def arenas(text):
    """Bytes of each tier's arena on a rank, as zeroc prints them; 0: nothing is there."""
    found = re.findall(r"^(\w+) of each rank, bytes:.*?^  arena +(\d+)", text, re.MULTILINE | re.DOTALL)
    tiers = {tier: int(size) for tier, size in found}
    return {tier: tiers.get(tier, 0) for tier in ("memory", "host", "nvme")}


def processor():
    """The processor of this machine as the kernel names it."""
    lines = Path("/proc/cpuinfo").read_text().splitlines()
    fields = dict(map(str.strip, line.split(":", 1)) for line in lines if ":" in line)
    name = fields.get("model name", "unknown")
    return f"{name}, family {fields.get('cpu family', '?')} model {fields.get('model', '?')}"


def python_of(environment):
    """The interpreter of a peer's environment; Failure if bench/setup.sh has not created it."""
    python = ENVIRONMENTS / environment / "bin/python"
    if not (ENVIRONMENTS / f"{environment}.stamp").exists():
        raise Failure(f"expected {python}: run bench/setup.sh")
    return python


def spread(values):
    """Median, smallest and largest."""
    return {"median": statistics.median(values), "min": min(values), "max": max(values)}


def median_ratio(numerators, denominators):
    """The median of the quotients of rounds, as far as both sides got; None if there are none."""
    quotients = [n / d for n, d in zip(numerators, denominators)]
    return statistics.median(quotients) if quotients else None


def line(xs, ys):
    """Least squares: (slope, constant, largest deviation of a point from the line)."""
    slope, constant = np.polyfit(xs, ys, 1)
    deviations = np.abs(np.asarray(ys) - (slope * np.asarray(xs) + constant))
    return float(slope), float(constant), float(deviations.max())


def table(titles, rows, texts=1):
    """A Markdown table; the first `texts` columns are text, the others are numbers or '-'."""
    lines = [titles, ["---"] * texts + ["--:"] * (len(titles) - texts), *rows]
    return "\n".join("| " + " | ".join(map(str, row)) + " |" for row in lines)


def milliseconds(seconds):
    return f"{seconds * 1e3:,.1f} ms" if seconds < 10 else f"{seconds:,.1f} s"


def mib(size):
    return f"{size / MIB:,.1f} MiB"


def parser(description, cases, sides, rounds, steps=None):
    """The options that all scripts take; `cases` and `sides` are the defaults."""
    names = lambda text: text.split(",")
    result = argparse.ArgumentParser(description=description.split("\n")[0])
    result.add_argument("--build", type=Path, default=ROOT / "build", help="folder with Zero's bin")
    result.add_argument("--cases", type=names, default=cases, help=f"default {','.join(cases)}")
    result.add_argument("--sides", type=names, default=sides, help=f"default {','.join(sides)}")
    result.add_argument("--rounds", type=int, default=rounds, help=f"default {rounds}")
    if steps:
        result.add_argument("--steps", type=int, default=steps,
                            help=f"timed steps of a run, default {steps}")
    result.add_argument("--timeout", type=int, default=600, help="seconds a run may take")
    result.add_argument("--json", type=Path, help="writes all figures there")
    return result


def select(names, known, kind):
    """The values of `known` for `names`; otherwise exits with a list of the known names."""
    for name in names:
        if name not in known:
            sys.exit(f"bench: expected {kind} of {', '.join(known)}, got '{name}'")
    return [known[name] for name in names]


def write_json(options, figures):
    if options.json:
        options.json.parent.mkdir(parents=True, exist_ok=True)
        options.json.write_text(json.dumps(figures, indent=2) + "\n")


def say(text):
    print(f"bench: {text}", file=sys.stderr, flush=True)


def start(main):
    """Runs a script. SIGTERM unwinds like an interrupt, so that children are killed."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    try:
        main()
    except Failure as failure:
        sys.exit(f"bench: {failure}")
