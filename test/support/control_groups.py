"""Control groups with a limit of memory: cgroups(7), versions 1 and 2. They need root."""

import os
import time
from pathlib import Path

ROOT = Path("/sys/fs/cgroup")


def _parent():
    """The folder in which groups are made, and the file of a limit; None if there is none."""
    for line in Path("/proc/self/cgroup").read_text().splitlines():
        if ":memory:" in line:
            own = ROOT / "memory" / line.rsplit(":", 1)[1].lstrip("/")
            return (own if own.is_dir() else ROOT / "memory"), "memory.limit_in_bytes"
    if "memory" in (ROOT / "cgroup.subtree_control").read_text().split():
        return ROOT, "memory.max"
    return None


class Group:
    """`with Group(limit) as group:` `group.enter` is a preexec_fn."""

    def __init__(self, limit):
        self.limit = limit

    def __enter__(self):
        parent, name = _parent()
        self.folder = parent / f"zero-test-{os.getpid()}"
        self.folder.mkdir()
        try:
            (self.folder / name).write_text(str(self.limit))
        except OSError:
            self.folder.rmdir()
            raise
        return self

    def __exit__(self, *_):
        # What watches the end of a process leaves the group just after it.
        deadline = time.monotonic() + 10
        while (self.folder / "cgroup.procs").read_text() and time.monotonic() < deadline:
            time.sleep(0.01)
        self.folder.rmdir()

    def enter(self):
        (self.folder / "cgroup.procs").write_text(str(os.getpid()))


def missing():
    """Why there can be no groups here, or an empty text."""
    try:
        if not _parent():
            return "the memory of control groups is not limited here"
        if any(line.split()[1] != "0" for line in Path("/proc/meminfo").read_text().splitlines()
               if line.startswith("SwapTotal:")):
            return "there is swap, with which a group may have more than its limit"
        with Group(1 << 30) as group:
            child = os.fork()
            if child == 0:
                try:
                    group.enter()
                    os._exit(0)
                except OSError:
                    os._exit(1)
            return "a process cannot enter a group" if os.waitpid(child, 0)[1] else ""
    except OSError as error:
        return str(error)
