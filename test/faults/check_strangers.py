"""A job of one user, and another user of the same machine who wants to join it, end it, or be its
process 0.

usage: check_strangers.py DATA WORK

The job meets as torchrun says, since other users can guess where that is. Both users run in a
namespace of the network of their own (nodes.py).
"""

import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from nodes import Nodes
from zero_test import Checks, Graph

VICTIM, ATTACKER = 61001, 61002
PORT = 29511
SESSIONS = 10_000  # of the other user, before a job starts


class Scene:
    def __init__(self, nodes, graph, executable):
        self.nodes, self.graph, self.executable = nodes, graph, executable
        # Neither user may read the folder of this test.
        self.folder = Path(tempfile.mkdtemp(prefix="zero-strangers-", dir="/tmp"))
        self.folder.chmod(0o755)
        for path in (executable, graph.folder / "groundtruth.npz", shutil.which("zero-run"),
                     Path(__file__).parent / "stranger.py"):
            shutil.copy(path, self.folder)

    def start(self, user, *words, **variables):
        """A process of a user. Others cannot read its environment."""
        return subprocess.Popen(
            self.nodes.command(0, ["setpriv", f"--reuid={user}", f"--regid={user}", "--clear-groups", "env",
                                   *(f"{key}={value}" for key, value in variables.items()), *words]),
            text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=self.folder)

    def attack(self, *words):
        process = self.start(ATTACKER, "/usr/bin/python3", "stranger.py", *words)
        assert process.stdout.readline(), process.stderr.read()
        return process

    def rank(self, number, address, timeout=4, steps=2, **variables):
        return self.start(VICTIM, "./zero-run", self.executable.name, "--data=groundtruth.npz",
                          f"--steps={steps}", "--quiet", f"--timeout={timeout}", RANK=number, WORLD_SIZE=2, MASTER_ADDR=address,
                          MASTER_PORT=PORT, **variables)


def ended(process, seconds=60):
    output, errors = process.communicate(timeout=seconds)
    return process.returncode, output, errors


def stop(process):
    process.kill()
    return process.communicate()[0]


def check_taken_address(checks, scene, label, attack, address, expected_first, expected_other, **variables):
    """The other user listens first."""
    attacker = scene.attack(*attack)
    ranks = [scene.rank(number, address, **variables) for number in (0, 1)]
    for expected, process in zip((expected_first, expected_other), ranks):
        code, output, errors = ended(process)
        checks.that(code == 1 and expected in errors, f"{label}: status {code}: {output}{errors}")
    checks.that("got" not in stop(attacker).replace("got None", ""), f"{label}: a process has confirmed")


def sessions_of(attacker):
    """How many sessions it says next."""
    while "sessions" not in (line := attacker.stdout.readline()):
        assert line, attacker.stderr.read()
    return int(line.split()[0])


def check_intruder(checks, scene, label, attack, address, **variables):
    """The other user connects all the time: so often before the job starts, and while it runs."""
    first = scene.rank(0, address, timeout=200, steps=2000, **variables)
    attacker = scene.attack(*attack)
    while sessions_of(attacker) < SESSIONS:
        pass
    other = scene.rank(1, address, timeout=200, steps=2000, **variables)
    for number, process in enumerate((first, other)):
        code, output, errors = ended(process)
        checks.that(code == 0, f"{label}: rank {number}: status {code}: {output}{errors}")
    output = stop(attacker)
    checks.that("admitted" not in output, f"{label}: the other user was admitted")


def check_alone(checks, scene, address, attack, **variables):
    """What process 0 says of connections that were turned away."""
    attacker = scene.attack(*attack)
    code, _, errors = ended(scene.rank(0, address, timeout=3, **variables))
    stop(attacker)
    checks.that(code == 1 and "turned away, the last one because" in errors, f"turned away: {code}: {errors}")


def main():
    checks = Checks()
    graph = Graph(Path(sys.argv[1]), "mlp", Path(sys.argv[2]))
    executable = graph.compile(1, 2)
    version = subprocess.run(["zero-run", "--version"], text=True, stdout=subprocess.PIPE).stdout.split()[-1]
    with Nodes(1) as nodes:
        scene = Scene(nodes, graph, executable)
        try:
            network = nodes.address(0)
            secret = {"ZERO_JOB_SECRET": os.urandom(32).hex()}
            job = f"torchrun none 127.0.0.1:{PORT}"
            local = f"zero-{VICTIM}-" + hashlib.blake2b(job.encode(), digest_size=32).hexdigest()[:32]
            check_taken_address(checks, scene, "local name", ["keep_name", local, "0"], "127.0.0.1",
                                f"a process of user {ATTACKER} listens there",
                                "a process of another user listens there")
            check_taken_address(checks, scene, "port", ["stand_in", network, str(PORT + 1)], network,
                                f"a process of user {ATTACKER} listens there",
                                "which does not know the secret of this job", **secret)
            check_intruder(checks, scene, "local", ["intrude", local, "0", job, version], "127.0.0.1")
            job = f"torchrun none {network}:{PORT}"
            attack = ["intrude", network, str(PORT + 1), job, version]
            check_intruder(checks, scene, "network", attack, network, **secret)
            check_alone(checks, scene, network, attack, **secret)
        finally:
            shutil.rmtree(scene.folder)
    checks.finish()


if __name__ == "__main__":
    main()
