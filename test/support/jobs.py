"""Runs of several processes that are disturbed from outside."""

import os
import signal
import socket
import subprocess
import time
from pathlib import Path

HOST = socket.gethostname()
#: The variables that number a process.
NUMBERS = ("ZERO_PROCESS", "OMPI_COMM_WORLD_RANK", "RANK")
#: Files of launchers: other libraries make them.
FOREIGN = ("mpich_", "ompi", "openmpi", "vader_", "sm_segment", "torch", "sem.")


def wait_until(holds, seconds, what):
    deadline = time.monotonic() + seconds
    while not holds():
        if time.monotonic() > deadline:
            raise AssertionError(f"no {what} within {seconds} s")
        time.sleep(0.002)


def environment_of(pid):
    words = Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")
    return dict(word.decode(errors="replace").split("=", 1) for word in words if b"=" in word)


class Job:
    """A run in the folder `work`, which must be an argument, or part of one, of all its processes."""

    def __init__(self, work, launcher, *words, variables=(), output=None):
        self.work = Path(work)
        self.memory = self.shared_memory()
        self.errors_file = self.work.parent / (self.work.name + ".errors")
        self.command = [str(word) for word in (*launcher, *words)]
        with self.errors_file.open("w") as errors, open(output or os.devnull, "w") as printed:
            self.process = subprocess.Popen(
                self.command, stdin=subprocess.DEVNULL, stdout=printed, stderr=errors,
                preexec_fn=allow_signals, env={**os.environ, **dict(variables)})

    def alive(self):
        """The processes of zero-run that have not ended: number, attempt and identifier."""
        found = []
        for each in Path("/proc").iterdir():
            try:
                if (not each.name.isdigit() or Path(os.readlink(each / "exe")).name != "zero-run"
                        or str(self.work).encode() not in (each / "cmdline").read_bytes()):
                    continue
                variables = environment_of(each.name)
            except (OSError, ValueError):
                continue  # has ended, or is another's
            number = next((int(variables[key]) for key in NUMBERS if key in variables), None)
            attempt = int(variables.get("ZERO_ATTEMPT",
                                        variables.get("TORCHELASTIC_RESTART_COUNT", 0)))
            found.append((number, attempt, int(each.name)))
        return found

    def find(self, number, attempt=0):
        """The identifier of a process, which is waited for."""
        found = []

        def is_there():
            found.extend(pid for n, a, pid in self.alive() if (n, a) == (number, attempt))
            return found or self.process.poll() is not None

        wait_until(is_there, 60, f"process {number}")
        if not found:
            raise AssertionError(f"the run ended without process {number}, with exit code "
                                 f"{self.process.returncode}: {self.errors_file.read_text()}")
        return found[0]

    def disturb(self, number, what=signal.SIGKILL, attempt=0):
        os.kill(self.find(number, attempt), what)
        self.disturbed = time.monotonic()

    def finish(self, seconds):
        """Waits for the end of all processes, at most so long; returns how long that took."""
        begin = getattr(self, "disturbed", time.monotonic())
        try:
            self.process.wait(seconds)
            wait_until(lambda: not self.alive(), max(0, begin + seconds - time.monotonic()), "end")
        finally:
            for _, _, pid in self.alive():
                os.kill(pid, signal.SIGKILL)
            self.process.kill()
        return time.monotonic() - begin

    def lines(self, kind="error"):
        return [line for line in self.errors_file.read_text().splitlines()
                if f"zero-run: {kind}:" in line]

    @staticmethod
    def shared_memory():
        return {path.name for path in Path("/dev/shm").iterdir()
                if not path.name.startswith(FOREIGN)}

    def left(self):
        """What no run may leave: temporaries in its folder, shared memory."""
        files = [path.relative_to(self.work) for path in self.work.rglob("*")
                 if ".tmp-" in path.name or path.name == ".lock" or path.suffix == ".nvme"]
        return sorted(map(str, files)) + sorted(self.shared_memory() - self.memory)


def allow_signals():
    """A test run in the background would ignore them, and its children too."""
    for each in (signal.SIGINT, signal.SIGTERM):
        signal.signal(each, signal.SIG_DFL)
