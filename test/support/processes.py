"""Runs of zero-run in several processes, by each of the launchers."""

import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

STARTED_BY = {"processes": "zero-run --processes", "openmpi": "mpirun of Open MPI",
              "mpich": "mpirun of MPICH", "torchrun": "torchrun", "slurm": "srun"}


def allow_signals():
    """A test run in the background would ignore them, and its children too."""
    for each in (signal.SIGINT, signal.SIGTERM):
        signal.signal(each, signal.SIG_DFL)


class Launcher:
    """`name`: a key of STARTED_BY. `prefix`: the launcher's command without the number of
    processes. Of "slurm", there is none: fake_srun.py sets the variables of srun."""

    def __init__(self, name, prefix=()):
        self.name, self.prefix, self.program = name, list(prefix), "zero-run"
        if name == "slurm":
            self.prefix = [sys.executable, Path(__file__).parent / "fake_srun.py"]

    def command(self, processes, *words):
        if self.name == "processes":
            return [str(word) for word in ("zero-run", f"--processes={processes}", *words)]
        count = [f"--nproc-per-node={processes}"] if self.name == "torchrun" else ["-n", processes]
        if self.name == "torchrun":
            count.append("--")  # it would take --log for an abbreviation of its own options
        return [str(word) for word in (*self.prefix, *count, self.program, *words)]

    def start(self, processes, *words, **variables):
        return subprocess.Popen(self.command(processes, *words), text=True,
                                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE, preexec_fn=allow_signals,
                                env={**os.environ, **variables})

    def run(self, processes, *words, timeout=120, **variables):
        """Returns the exit code, standard output and errors."""
        process = self.start(processes, *words, **variables)
        try:
            output, errors = process.communicate(timeout=timeout)
        except subprocess.TimeoutExpired:
            output, errors = end(process)
            errors = f"no end within {timeout} s\n{errors}"
        return process.returncode, output, errors

    def detected(self, processes):
        """A pattern for the line that says how the processes were started."""
        library = r"; MPI takes [\d.]+ MiB of each" if self.name in ("openmpi", "mpich") else ""
        return f"{processes} processes on 1 node, started by {STARTED_BY[self.name]}{library}"


def ranks_of(executable, processes, timeout=60):
    """The identifiers of the processes that have `executable` among their arguments and train,
    by process number, once there are so many."""
    deadline = time.monotonic() + timeout
    while time.monotonic() < deadline:
        found = {}
        for entry in Path("/proc").iterdir():
            try:
                if not entry.name.isdigit() or (entry / "comm").read_text() != "zero-run\n":
                    continue
                variables = dict(line.split(b"=", 1) for line in
                                 (entry / "environ").read_bytes().split(b"\0") if b"=" in line)
                if str(executable).encode() not in (entry / "cmdline").read_bytes().split(b"\0"):
                    continue
            except OSError:
                continue  # has ended
            for name in (b"ZERO_PROCESS", b"OMPI_COMM_WORLD_RANK", b"PMI_RANK", b"RANK",
                         b"SLURM_PROCID"):
                if name in variables:
                    found[int(variables[name])] = int(entry.name)
                    break
        if len(found) == processes:
            return [found[number] for number in range(processes)]
        time.sleep(0.005)
    raise AssertionError(f"not {processes} processes with {executable}: {found}")


def end(process):
    """Ends a launcher that does not end by itself, and what it has started."""
    process.send_signal(signal.SIGTERM)
    try:
        return process.communicate(timeout=10)
    except subprocess.TimeoutExpired:
        process.kill()
        return process.communicate()


def wait_for_steps(process):
    """Reads until the first step is printed: as a line, or as a bar on the terminal that mpirun of
    Open MPI makes."""
    text = ""
    while not re.search("step (0:|[0-9]+/)", text):
        piece = os.read(process.stdout.fileno(), 4096).decode()
        if not piece:
            raise AssertionError(f"no step: {text}{process.stderr.read()}")
        text += piece


def shared_memory():
    """Names in /dev/shm that runs may have left."""
    return {path.name for path in Path("/dev/shm").iterdir()}
