"""A damaged checkpoint is an error that names it, or the generation before it is loaded. A
checkpoint that does not fit is rejected. A full disk leaves the existing files unchanged.

usage: check_checkpoint_damage.py DATA WORK
"""

import resource
import shutil
import signal
import subprocess
import sys
from pathlib import Path

from checkpoints import (generations, newest, read_manifest, read_tensors, same_tensors,
                         write_manifest)
from zero_test import Checks, Graph, check_refused, run_tool


class State:
    """A folder with the generations of steps 2 and 4. Each check damages its own copy."""

    def __init__(self, data, work):
        self.graph = Graph(data, "mlp", work)
        self.flags = [self.graph.data_flag, "--shuffle=7"]
        self.executable = self.graph.compile(3, 2, "--optimizer=adamw", "--lr=1e-3")
        self.folder, self.whole = self.graph.work / "state", self.graph.work / "whole"
        run_tool("zero-run", self.executable, *self.flags, "--steps=4", "--save-every=2",
                 f"--save-state={self.whole}")

    def renew(self):
        shutil.rmtree(self.folder, ignore_errors=True)
        shutil.copytree(self.whole, self.folder)
        return newest(self.folder)

    def command(self, *flags, executable=None):
        """Resumes from the folder."""
        return ["zero-run", executable or self.executable, *self.flags, f"--resume={self.folder}",
                "--quiet", *flags]


def flip(path, at):
    data = bytearray(path.read_bytes())
    data[at] ^= 16
    path.write_bytes(data)


DAMAGES = [
    ("a truncated shard", "rank-00001.safetensors", lambda p: p.write_bytes(p.read_bytes()[:-4]),
     "truncated: expected"),
    ("a flipped byte of data", "rank-00000.safetensors", lambda p: flip(p, -1000),
     "wrong checksum: expected"),
    ("a flipped byte of a header", "rank-00001.safetensors", lambda p: flip(p, 100),
     "wrong checksum: expected"),
    ("a flipped length of a header", "rank-00001.safetensors", lambda p: flip(p, 7),
     "its header is cut off"),
    ("a flipped byte of the manifest", "manifest.json", lambda p: flip(p, 500), "manifest.json"),
    ("a missing shard", "rank-00000.safetensors", Path.unlink, "No such file"),
    ("a missing manifest", "manifest.json", Path.unlink, "No such file"),
]


def check_damage(checks, state):
    for label, file, damage, what in DAMAGES:
        path = state.renew() / file
        damage(path)
        log = state.graph.work / "log.jsonl"
        text = run_tool(*state.command("--steps=5", f"--log={log}"))
        checks.that(f"'{path}'" in text and what in text and
                    f"'{state.folder / 'step-00000002'}' is used instead" in text, f"{label}: {text}")
        checks.that(log.read_text().count("\n") == 3, f"{label}: {log.read_text()}")
        check_refused(checks, f"{label}, by name", [f"{path}'", what], "zero-run", state.executable,
                      *state.flags, f"--resume={path.parent}", "--steps=5", "--quiet")
        damage_older = generations(state.folder)[0] / "rank-00001.safetensors"
        flip(damage_older, -1)
        check_refused(checks, f"{label}, and the older one", [
            f"no complete checkpoint in '{state.folder}'", f"{path}'", what,
            f"{damage_older}': wrong checksum"], *state.command("--steps=5", "--resume-if-any"))


def check_replaced(checks, state):
    """A run that passed over a damaged generation replaces it."""
    flip(state.renew() / "rank-00000.safetensors", -1)
    run_tool(*state.command("--steps=3", f"--save-state={state.folder}"))
    names = [path.name for path in generations(state.folder)]
    checks.that(names == ["step-00000002", "step-00000003"], f"after damage: {names}")
    run_tool(*state.command("--steps=4", f"--save-state={state.folder}"))
    checks.that(same_tensors(read_tensors(newest(state.folder)), read_tensors(newest(state.whole))),
                "after damage: other values")


def edited(state, edit):
    generation = state.renew()
    manifest = read_manifest(generation)
    edit(manifest, {tensor["name"]: tensor for tensor in manifest["tensors"]})
    write_manifest(generation, manifest)


def check_fit(checks, state):
    """A generation that is intact but does not fit is rejected, without trying older ones."""
    edits = [
        ("a missing moment", lambda m, t: m["tensors"].remove(t["fc2.weight.exp_avg_sq"]),
         ["1 missing: 'fc2.weight.exp_avg_sq'"]),
        ("an extra tensor", lambda m, t: m["tensors"].append(dict(t["fc1.bias"], name="fc9.bias")),
         ["1 that the program does not have: 'fc9.bias'"]),
        ("a part that is not covered", lambda m, t: t["fc1.weight"]["ranges"].pop(),
         ["1 saved only in part: 'fc1.weight' (without elements"]),
        ("a part that is covered twice",
         lambda m, t: t["fc1.bias"]["ranges"].append(t["fc1.bias"]["ranges"][0]),
         ["1 saved twice in part: 'fc1.bias'"]),
        ("another shape", lambda m, t: t["fc1.weight"].update(shape=["784", "128"]),
         ["'fc1.weight' (expected [128, 784], got [784, 128])"]),
        ("another type", lambda m, t: t["fc3.bias"].update(dtype="I32"),
         ["'fc3.bias' (expected float32, got int32)"]),
    ]
    for label, edit, words in edits:
        edited(state, edit)
        check_refused(checks, label, ["step-00000004' does not fit", *words],
                      *state.command("--steps=5"))
    state.renew()
    sgd = state.graph.compile(0, 2, "--optimizer=sgd")
    check_refused(checks, "moments that sgd does not keep",
                  ["12 that the optimizer does not keep", "'fc1.bias.exp_avg'"],
                  *state.command("--steps=5", executable=sgd))
    run_tool("zero-run", sgd, *state.flags, "--steps=1", f"--save-state={state.graph.work / 'sgd'}")
    check_refused(checks, "moments that sgd did not keep", ["14 missing", "'fc1.bias.exp_avg'"],
                  "zero-run", state.executable, *state.flags, "--steps=5",
                  f"--resume={state.graph.work / 'sgd'}")


def check_data(checks, state):
    state.renew()
    command = ["zero-run", state.executable, state.graph.data_flag, f"--resume={state.folder}",
               "--steps=5", "--quiet"]
    check_refused(checks, "another order", ["expected shuffled with seed 7, got not shuffled"],
                  *command)
    check_refused(checks, "another seed", [
        "expected shuffled with seed 7, got shuffled with seed 8"], *command, "--shuffle=8")
    run_tool(*command, "--shuffle=8", "--restart-data")


def check_folders(checks, state):
    state.renew()
    nothing = state.graph.work / "nothing"
    common = ["zero-run", state.executable, *state.flags, "--steps=5", "--quiet"]
    check_refused(checks, "no folder", [f"no checkpoint in '{nothing}'"], *common,
                  f"--resume={nothing}")
    check_refused(checks, "no such step", ["step-00000003/manifest.json': No such file"], *common,
                  f"--resume={state.folder / 'step-00000003'}", "--resume-if-any")
    run_tool(*common, f"--resume={nothing}", "--resume-if-any", f"--save-state={nothing}")
    names = [path.name for path in generations(nothing)]
    checks.that(names == ["step-00000005"], f"if any: {names}")
    check_refused(checks, "another run's folder", ["step-00000004' is of a later step than 0"],
                  *common, f"--save-state={state.folder}")
    check_refused(checks, "an older step", ["step-00000004' is of a later step than 2"], *common,
                  f"--resume={state.folder / 'step-00000002'}", f"--save-state={state.folder}")
    check_refused(checks, "a file", [f"cannot make folder '{state.executable}': it is a file"], *common,
                  f"--save-state={state.executable}")
    check_refused(checks, "below a file", [f"cannot make folder '{state.executable}': it is a file"], *common,
                  f"--save-state={state.executable}/x")
    check_refused(checks, "outputs of no step", ["--save-outputs needs at least one step"],
                  *state.command("--steps=4", f"--save-outputs={nothing}.safetensors"))


def limit_files():
    """Writes beyond this number of bytes fail, as on a full disk."""
    signal.signal(signal.SIGXFSZ, signal.SIG_DFL)
    resource.setrlimit(resource.RLIMIT_FSIZE, (400_000, 400_000))


def check_full(checks, state):
    """Shards are 660,000 bytes."""
    state.renew()
    before = {path.name: read_tensors(path) for path in generations(state.folder)}
    done = subprocess.run([str(word) for word in state.command(
        "--steps=6", f"--save-state={state.folder}")], capture_output=True, text=True,
        preexec_fn=limit_files)
    lines = [line for line in done.stderr.splitlines() if "warning:" not in line]
    checks.that(done.returncode == 1 and len(lines) == 1 and "checkpoint of step 6: cannot write" in
                lines[0] and "File too large" in lines[0], f"full: {done.returncode} {lines}")
    left = {path.name for path in state.folder.iterdir()}
    checks.that(left == set(before), f"full: {left} are left")
    checks.that(all(same_tensors(read_tensors(state.folder / name), tensors)
                    for name, tensors in before.items()), "full: other values")


def check_full_disk(checks, state):
    """A file system with space for two generations, if the test may create one."""
    disk = state.graph.work / "disk"
    disk.mkdir(exist_ok=True)
    namespace = ["unshare", "--user", "--map-root-user", "--mount"]
    mount = [*namespace, "mount", "-t", "tmpfs", "none", str(disk)]
    if not shutil.which("unshare") or subprocess.run(mount, capture_output=True).returncode:
        print("no file system can be mounted here: the limit on files has to do")
        return
    run = " ".join(map(str, ["zero-run", state.executable, *state.flags, "--steps=9",
                             "--save-every=1", f"--save-state={disk}", "--quiet"]))
    script = f"mount -t tmpfs -o size=3m none {disk} && {{ {run}; echo $?; ls -A {disk}; }}"
    done = subprocess.run([*namespace, "sh", "-c", script], capture_output=True, text=True)
    checks.that(done.stdout.split() == ["1", "step-00000001", "step-00000002"], f"{done.stdout}")
    checks.that("checkpoint of step 3: cannot write" in done.stderr and
                "No space left on device" in done.stderr, f"{done.stderr}")


def main():
    data, work = sys.argv[1:]
    shutil.rmtree(work, ignore_errors=True)
    checks = Checks()
    state = State(data, work)
    for check in (check_damage, check_replaced, check_fit, check_data, check_folders, check_full,
                  check_full_disk):
        check(checks, state)
    checks.finish()


if __name__ == "__main__":
    main()
