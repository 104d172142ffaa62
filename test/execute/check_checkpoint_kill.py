"""A run that saves after each step is killed at random moments. The resumed state is always a state
of the uninterrupted run.

usage: check_checkpoint_kill.py DATA WORK KILLS [FLAG...]

KILLS runs are killed. Flags of tiers are for the compiler, others for the run.
"""

import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time

from checkpoints import generations, newest, read_tensors
from zero_test import Checks, Graph, run_tool

STEPS = 4000  # more steps than the runs reach
FLAGS = ["--shuffle=3", "--quiet"]
TIER_FLAGS = ("--offload-",)  # of the compiler


def losses(log):
    return {line["step"]: line["loss"] for line in map(json.loads, log.read_text().splitlines())}


def wait_for_names(folder, count, saving):
    """Waits until a generation exists and this many new names have appeared. Each step adds two
    names, that of the draft and that of the result. The wait does not use a clock, so a busy
    machine reaches the same point."""
    def names():
        return {path.name for path in folder.iterdir()} if folder.exists() else set()

    before = names()
    seen = set(before)
    while saving.poll() is None and (len(seen - before) < count or not generations(folder)):
        seen |= names()
        time.sleep(0.001)


def main():
    data, work, kills, *flags = sys.argv[1:]
    kills = int(kills)
    compiled = [flag for flag in flags if flag.startswith(TIER_FLAGS)]
    flags = [flag for flag in flags if flag not in compiled]
    shutil.rmtree(work, ignore_errors=True)
    checks = Checks()
    graph = Graph(data, "mlp-dynbatch", work)
    executable = graph.compile(2, 2, "--optimizer=adamw", "--lr=1e-4", graph.shape_flag(ranks=8),
                               *compiled)
    run = ["zero-run", executable, graph.data_flag, *FLAGS]
    if compiled:
        run.append(f"--nvme-dir={work}")
    folder, log = graph.work / "state", graph.work / "log.jsonl"
    run_tool(*run, f"--steps={STEPS}", f"--log={log}")
    expected = losses(log)
    dice = random.Random(11)
    step, interrupted, kept = 0, 0, 0
    for kill in range(kills):
        saving = subprocess.Popen(
            [str(word) for word in (*run, f"--steps={STEPS}", f"--resume={folder}",
                                    "--resume-if-any", f"--save-state={folder}", *flags)],
            stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, start_new_session=True)
        wait_for_names(folder, dice.randint(1, 12), saving)
        os.killpg(saving.pid, signal.SIGKILL)  # with its processes
        _, errors = saving.communicate()
        checks.that(not errors, f"kill {kill}: {errors}")
        # Two generations are kept. A kill between a new one and the removal of the oldest leaves
        # one more.
        most, kept = max(2, kept) + 1, len(generations(folder))
        checks.that(1 <= kept <= most, f"kill {kill}: {generations(folder)}")
        interrupted += any(path.name.startswith(".step-") for path in folder.iterdir())
        before, step = step, int(newest(folder).name.removeprefix("step-"))
        checks.that(step >= before, f"kill {kill}: back from step {before} to {step}")
        read_tensors(newest(folder))  # complete: only a power failure could damage it
        log.unlink()
        text = run_tool(*run, f"--steps={step + 1}", f"--resume={folder}", f"--log={log}")
        got = losses(log)
        checks.that(got == {step: expected[step]}, f"kill {kill}: {got}, expected {expected[step]}")
        checks.that(not text, f"kill {kill}: {text}")
    checks.that(step > kills, f"only {step} steps were saved")
    checks.that(interrupted > kills // 4, f"only {interrupted} kills came while one was written")
    print(f"{kills} kills, {interrupted} while writing, {step} steps")
    checks.finish()


if __name__ == "__main__":
    main()
