"""Checkpoints that each node saves to a directory of its own: --local-state.

usage: check_local_state.py DATA WORK MPI LIBRARY

Nodes are namespaces of the network, see nodes.py. Each runs in its directory WORK/NODE, where
`--save-state=state` is. Weights are bitwise those of an uninterrupted run in one process. LIBRARY
kills processes at system calls.
"""

import contextlib
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

from checkpoints import generations, newest, read_manifest, read_tensors, same_tensors
from jobs import wait_until
from nodes import Nodes
from zero_test import Checks, Graph, run_tool

LOCAL = ["--save-state=state", "--local-state"]
STAGE = 2  # parameters are replicated, and optimizer state is sharded


class Case:
    def __init__(self, checks, data, work, mpi, library, nodes):
        self.checks, self.nodes, self.mpi, self.library = checks, nodes, mpi, library
        self.graph = Graph(data, "mlp", Path(work))
        self.work = self.graph.work
        self.executables = {ranks: self.graph.compile(STAGE, ranks, "--optimizer=adamw", "--lr=1e-3")
                            for ranks in (2, 4)}
        self.expected = self.here(4, "--steps=6")
        self.whole = self.work / "whole"
        shutil.rmtree(self.whole, ignore_errors=True)
        self.here(4, "--steps=4", "--save-every=2", f"--save-state={self.whole}")

    def folder(self, node):
        return self.work / f"node{node}"

    def state(self, node):
        return self.folder(node) / "state"

    def command(self, ranks, *flags):
        self.weights = self.work / "weights.safetensors"
        self.weights.unlink(missing_ok=True)
        return ["zero-run", self.executables[ranks], self.graph.data_flag, "--timeout=30",
                f"--save={self.weights}", *flags]

    def here(self, ranks, *flags):
        """The weights after a run in one process, or those that it starts."""
        run_tool(*self.command(ranks, *flags))
        return self.weights.read_bytes()

    def words(self, processes, ranks, *flags, fault=""):
        """Processes of node 1 have the fault."""
        faulty = f"export LD_PRELOAD={self.library} ZERO_FAULT={fault}; " if fault else ""
        in_folder = ["sh", "-c", f'cd {self.work}/"$(hostname)"; [ "$(hostname)" = node0 ] || {{ {faulty}:; }}; '
                     'exec "$@"', "run"]
        return [*self.nodes.launcher(self.mpi, processes), *in_folder, *self.command(ranks, *flags)]

    def there(self, processes, ranks, *flags, fault=""):
        """A run on nodes, each in its directory."""
        return self.nodes.run(0, self.words(processes, ranks, *flags, fault=fault), timeout=120)

    def steps(self):
        """The steps that each node has."""
        return [[int(path.name[5:]) for path in generations(self.state(node))] for node in range(2)]

    def check_there(self, label, expected, processes, ranks, *flags, words=()):
        result = self.there(processes, ranks, *flags)
        self.checks.that(result.returncode == 0, f"{label}: {result.stdout}{result.stderr}")
        for word in words:
            self.checks.that(word in result.stdout + result.stderr,
                             f"{label}: no '{word}' in {result.stdout}{result.stderr}")
        self.checks.that(self.weights.exists() and self.weights.read_bytes() == expected,
                         f"{label}: other weights")

    def check_fails(self, label, result, *words):
        self.checks.that(result.returncode != 0, f"{label}: exit code 0")
        for word in words:
            self.checks.that(word in result.stderr, f"{label}: no '{word}' in {result.stderr}")

    def keep(self):
        shutil.rmtree(self.work / "kept", ignore_errors=True)
        for node in range(self.nodes.count):
            shutil.copytree(self.state(node), self.work / "kept" / str(node))

    def renew(self):
        for node in range(self.nodes.count):
            shutil.rmtree(self.state(node), ignore_errors=True)
            shutil.copytree(self.work / "kept" / str(node), self.state(node))


def check_saved(checks, case):
    """Each node has the files of its ranks, and a manifest that lists those of all."""
    for node in range(2):
        shutil.rmtree(case.folder(node), ignore_errors=True)
        case.folder(node).mkdir()
    result = case.there([2, 2], 4, "--steps=4", "--save-every=2", *LOCAL)
    checks.that(result.returncode == 0, f"saved: {result.stdout}{result.stderr}")
    for node in range(2):
        files = {path.name for path in newest(case.state(node)).iterdir()}
        own = {f"rank-{rank:05}.safetensors" for rank in (2 * node, 2 * node + 1)}
        checks.that(files == own | {"manifest.json"}, f"saved: {files} on node {node}")
        manifest = read_manifest(newest(case.state(node)))
        hosts = [file["node"] for file in manifest["files"]]
        checks.that(hosts == ["node0", "node0", "node1", "node1"] and manifest["version"] == 4,
                    f"saved: {hosts} {manifest['version']}")
        checks.that(not (case.state(node) / ".lock").exists(), f"saved: node {node} has a lock")
    checks.that(case.steps() == [[2, 4], [2, 4]], f"saved: {case.steps()}")
    case.keep()


def check_resumed(checks, case):
    case.check_there("resumed", case.expected, [2, 2], 4, "--steps=6", "--resume=state", *LOCAL,
                     words=["resumes at step 4"])
    checks.that(case.steps() == [[4, 6], [4, 6]], f"resumed: {case.steps()}")


def check_lost(checks, case):
    """A generation that is not on all nodes, or damaged on one, does not count on any."""
    case.renew()
    shutil.rmtree(newest(case.state(1)))
    case.check_there("without the newest", case.expected, [2, 2], 4, "--steps=6", "--resume=state", *LOCAL,
                     words=["'state/step-00000004' is missing on host 'node1'; 'state/step-00000002' is used",
                            "resumes at step 2"])
    checks.that(case.steps() == [[2, 6], [2, 6]], f"without the newest: {case.steps()}")
    case.renew()
    path = newest(case.state(1)) / "rank-00003.safetensors"
    path.write_bytes(path.read_bytes()[:-4])
    case.check_there("damaged", case.expected, [2, 2], 4, "--steps=6", "--resume=state",
                     words=["on host 'node1': 'state/step-00000004/rank-00003.safetensors': truncated"])
    shutil.rmtree(case.state(1))
    case.check_fails("all lost on one node", case.there(
        [2, 2], 4, "--steps=6", "--resume=state", "--resume-if-any"),
        "no complete checkpoint in 'state'", "is missing on host 'node1'")
    shutil.rmtree(case.state(0))
    case.check_there("none", case.expected, [2, 2], 4, "--steps=6", "--resume=state", "--resume-if-any",
                     words=["starts at step 0: no checkpoint in 'state'"])


def check_elsewhere(checks, case):
    """Ranks that find only the files of another node."""
    case.renew()
    what = ("'state/step-00000004/rank-00002.safetensors': not on this node: it was saved on host "
            "'node1'; copy it from there")
    for processes in ([4], [3, 1]):
        case.check_fails(f"on {processes}", case.there(processes, 4, "--steps=6", "--resume=state"),
                         "no complete checkpoint in 'state'", what)
    case.check_fails("on fewer ranks", case.there([1, 1], 2, "--steps=6", "--resume=state"),
                     "no complete checkpoint in 'state': on host 'node1': 'state/step-00000004/rank-00001.safetens"
                     "ors': not on this node: it was saved on host 'node0'")


def check_merged(checks, case):
    """The directories of all nodes, copied into one, are an ordinary checkpoint."""
    case.renew()
    merged = case.work / "merged"
    shutil.rmtree(merged, ignore_errors=True)
    for node in range(2):
        shutil.copytree(case.state(node), merged, dirs_exist_ok=True)
    checks.that(same_tensors(read_tensors(newest(merged), has_copies=True),
                             read_tensors(newest(case.whole))), "merged: other tensors")
    checks.that(case.here(4, "--steps=6", f"--resume={merged}") == case.expected, "merged: other weights")
    for flags in ([], ["--processes=2"]):
        other = case.here(2, "--steps=6", f"--resume={merged}", *flags)
        checks.that(other == case.here(2, "--steps=6", f"--resume={case.whole}"),
                    f"merged, 2 ranks {flags}: other weights")
    case.check_there("merged, on nodes", case.expected, [3, 1], 4, "--steps=6", f"--resume={merged}")


def check_unfinished(checks, case):
    """Node 1 ends just before it commits, twice, when node 0 does. The next step that is saved is
    another one, so nothing replaces what node 0 has more."""
    for node in range(2):
        shutil.rmtree(case.state(node), ignore_errors=True)
    resumes = ["--resume=state", "--resume-if-any"]
    for flags, fault in ((["--save-every=1"], "rename:3:kill"), (["--save-every=2", *resumes], "rename:1:kill")):
        result = case.there([2, 2], 4, "--steps=6", *LOCAL, *flags, fault=fault)
        steps = case.steps()
        print(f"unfinished: {steps} are left")
        checks.that(result.returncode != 0 and steps[1] == [1, 2] and 2 in steps[0],
                    f"unfinished: {steps} {result.stderr}")
    # Node 0 may end before it has committed the last one.
    newest = f"'state/step-{max(case.steps()[0]):08}' is missing on host 'node1'"
    case.check_there("unfinished", case.expected, [2, 2], 4, "--steps=6", *LOCAL, *resumes,
                     words=[newest, "resumes at step 2"])
    checks.that(case.steps() == [[2, 6], [2, 6]], f"unfinished: {case.steps()} at the end")


def check_killed(checks, case, dice):
    """A run of which all processes are killed while they save goes on with the same command."""
    steps = 30
    expected = case.here(4, f"--steps={steps}")
    flags = (f"--steps={steps}", "--save-every=1", "--resume=state", "--resume-if-any", *LOCAL)
    for node in range(2):
        shutil.rmtree(case.state(node), ignore_errors=True)
    for at in (2, 10, 20):
        run = subprocess.Popen(case.nodes.command(0, case.words([2, 2], 4, *flags)), stdin=subprocess.DEVNULL,
                               stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)
        wait_until(lambda: any(path.name >= f"step-{at:08}" for path in generations(case.state(1))), 60,
                   f"checkpoint of step {at}")
        time.sleep(dice.random() * 0.01)
        trainers = [process for process in case.nodes.processes() if name_of(process) == "zero-run"]
        for process in dice.sample(trainers, len(trainers)):
            with contextlib.suppress(ProcessLookupError):  # it has noticed the end of another
                os.kill(process, signal.SIGKILL)
        os.killpg(run.pid, signal.SIGKILL)
        run.wait()
        left = case.steps()
        print(f"killed after step {at}: {left} are left")
        checks.that(set(left[0]) & set(left[1]), f"killed: none in common of {left}")
    case.check_there("killed", expected, [2, 2], 4, *flags, words=["resumes at step"])


def name_of(process):
    try:
        return Path(f"/proc/{process}/comm").read_text().strip()
    except OSError:
        return ""


def check_shared(checks, case):
    """One directory for both nodes is an error with --local-state. Without it, all is as ever."""
    shared = case.work / "shared"
    shutil.rmtree(shared, ignore_errors=True)
    case.check_fails("shared", case.there([2, 2], 4, "--steps=2", f"--save-state={shared}", "--local-state"),
                     f"'{shared}' is in use by another process", "--local-state each node needs a directory")
    case.check_there("shared", case.here(4, "--steps=4"), [2, 2], 4, "--steps=4", f"--save-state={shared}")
    checks.that(same_tensors(read_tensors(newest(shared)), read_tensors(newest(case.whole))),
                "shared: other tensors")


def main():
    data, work, mpi, library = sys.argv[1:]
    checks = Checks()
    with Nodes(2) as nodes:
        case = Case(checks, data, work, mpi, library, nodes)
        for check in (check_saved, check_resumed, check_lost, check_elsewhere, check_merged, check_shared,
                      check_unfinished):
            check(checks, case)
        check_killed(checks, case, random.Random(5))
    checks.finish()


if __name__ == "__main__":
    main()
