"""Submits examples/cluster/train.slurm to a Slurm of this machine, with two nodes' tasks on one.

usage: check_slurm.py SCRIPT MODEL DATA REFERENCE WORK

The daemons (munged, slurmctld, slurmd) are started for this, in WORK, and ended. REFERENCE: the
weights of a run with as many ranks as threads.
"""

import os
import socket
import subprocess
import sys
import time
from pathlib import Path

from zero_test import Checks

CONFIGURATION = """
ClusterName=test
SlurmctldHost={host}
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket={work}/munge.socket
CredType=cred/munge
SlurmctldPort={port}
SlurmdPort={next}
StateSaveLocation={work}/state
SlurmdSpoolDir={work}/spool
SlurmctldPidFile={work}/ctld.pid
SlurmdPidFile={work}/slurmd.pid
SlurmctldLogFile={work}/ctld.log
SlurmdLogFile={work}/slurmd.log
SlurmdParameters=config_overrides
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
MpiDefault=none
NodeName={host} CPUs=4 State=UNKNOWN
PartitionName=test Nodes=ALL Default=YES State=UP OverSubscribe=FORCE:4
"""


def free_ports():
    """Two neighbouring ports that are free."""
    for port in range(27000, 32000, 2):
        with socket.socket() as first, socket.socket() as second:
            try:
                first.bind(("", port))
                second.bind(("", port + 1))
                return port
            except OSError:
                continue
    raise OSError("no free ports")


class Slurm:
    """The daemons of a cluster of this machine."""

    def __init__(self, work):
        self.work = work
        self.daemons = []
        for name in ("state", "spool"):
            (work / name).mkdir()
        host, port = socket.gethostname(), free_ports()
        (work / "slurm.conf").write_text(CONFIGURATION.format(
            host=host, work=work, port=port, next=port + 1))
        key = work / "munge.key"
        key.write_bytes(os.urandom(128))
        key.chmod(0o400)
        self.environment = {**os.environ, "SLURM_CONF": str(work / "slurm.conf")}

    def __enter__(self):
        work = self.work
        self.start("munged", "--foreground", "--force", f"--key-file={work}/munge.key",
                   f"--socket={work}/munge.socket", f"--pid-file={work}/munge.pid",
                   f"--log-file={work}/munge.log", f"--seed-file={work}/munge.seed")
        self.wait_for(lambda: (work / "munge.socket").exists())
        self.start("slurmctld", "-D")
        self.start("slurmd", "-D")
        self.wait_for(lambda: "idle" in self.run("sinfo", "-h", "-o", "%t").stdout)
        return self

    def start(self, program, *arguments):
        log = open(self.work / f"{program}.out", "w")
        self.daemons.append(subprocess.Popen(
            [program, *arguments], env=self.environment, stdout=log, stderr=log))

    def run(self, *command):
        return subprocess.run([str(word) for word in command], capture_output=True, text=True,
                              env=self.environment, cwd=self.work, timeout=60)

    def wait_for(self, holds, seconds=30):
        deadline = time.monotonic() + seconds
        while not holds():
            if time.monotonic() > deadline:
                raise TimeoutError("\n".join(path.read_text(errors="replace")[-2000:]
                                             for path in self.work.glob("*.log")))
            time.sleep(0.2)

    def __exit__(self, *_):
        # Steps have ended when their daemons, which outlive slurmd, have.
        deadline = time.monotonic() + 10
        while subprocess.run(["pgrep", "-x", "slurmstepd"], capture_output=True).returncode == 0 \
                and time.monotonic() < deadline:
            time.sleep(0.1)
        for daemon in reversed(self.daemons):
            daemon.terminate()
        for daemon in self.daemons:
            try:
                daemon.wait(10)
            except subprocess.TimeoutExpired:
                daemon.kill()


def main():
    script, model, data, reference, work = map(Path, sys.argv[1:])
    work.mkdir(parents=True)
    checks = Checks()
    with Slurm(work) as slurm:
        # Two submissions: the second one continues.
        for steps in (2, 4):
            done = slurm.run("sbatch", "--wait", "--nodes=1", "--ntasks-per-node=4",
                             f"--export=ALL,STEPS={steps},SAVE_EVERY=1", script.resolve(),
                             model.resolve(), data.resolve())
            logs = "".join(path.read_text() for path in work.glob("zero-*.log"))
            checks.that(done.returncode == 0, f"exit {done.returncode}: {done.stderr}\n{logs}")
    checks.that("4 processes on 1 node, started by srun" in logs, logs)
    checks.that("resumes at step 2" in logs, logs)
    checks.that(logs.count("trained 2 steps") == 2, logs)
    checks.that((work / "trained.safetensors").read_bytes() == reference.read_bytes(),
                "weights are not those of threads")
    checks.finish()


if __name__ == "__main__":
    main()
