"""Measures the time of a peer's steps and its resident memory during these."""

import json
import time
from pathlib import Path

WARM_UP = 3


def memory_line(key):
    """A figure of this process in bytes, from the kernel."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(f"{key}:"):
            return int(line.split()[1]) * 1024
    raise OSError(f"expected {key} in /proc/self/status")


def forget_peak():
    """Resets VmHWM, so that it is the peak of the resident memory from now on."""
    Path("/proc/self/clear_refs").write_text("5")


def measure(step, steps, report):
    """Runs warm-up steps, then `steps` timed ones, and writes the JSON file `report`.

    `step` returns its loss as a float, so that no computation is pending when the clock is read.
    Memory that a system needs only to start (imports, compiling) does not count.
    """
    losses, seconds = [step() for _ in range(WARM_UP)], []
    forget_peak()
    for _ in range(steps):
        start = time.perf_counter()
        losses.append(step())
        seconds.append(time.perf_counter() - start)
    Path(report).write_text(json.dumps({
        "seconds": seconds, "losses": losses, "resident_bytes": memory_line("VmHWM"),
        "file_bytes": memory_line("RssFile")}))
