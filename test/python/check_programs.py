"""Trains the programs that the guides export, and compares losses with those of JAX or PyTorch.

usage: check_programs.py GUIDE WORK PROGRAM...

Limit: ten updates of AdamW within 1e-4. Stages and ranks leave the bits of losses as they are: each
rank has the same batch.
"""

import json
import sys
from pathlib import Path

import numpy as np

from zero_test import Checks, run_tool

ADAMW = ["--optimizer=adamw", "--lr=1e-3", "--weight-decay=0.01"]
STEPS = 11


def train(guide, work, program, stage, ranks):
    path, log = guide / f"{program}.mlir", work / "log.jsonl"
    names = json.loads(path.with_suffix(".json").read_text())
    is_whole = all("role" not in entry or entry["role"] == "data" for entry in names["args"])
    weights = guide / "params.npz"
    if is_whole or not weights.exists():
        weights = guide / "init.npz"
    run_tool("zero-run", path, f"--roles={path.with_suffix('.json')}", f"--weights={weights}",
             f"--data={guide / 'batch.npz'}", f"--zero-stage={stage}", f"--ranks={ranks}",
             f"--steps={STEPS}", f"--log={log}", "--quiet", *([] if is_whole else ADAMW))
    return np.array([json.loads(line)["loss"] for line in log.read_text().splitlines()])


def main():
    guide, work = map(Path, sys.argv[1:3])
    work.mkdir(parents=True, exist_ok=True)
    checks = Checks()
    expected = np.load(guide / "losses.npz")["losses"]
    for program in sys.argv[3:]:
        first = train(guide, work, program, stage=0, ranks=1)
        checks.that(len(first) == STEPS and np.allclose(first, expected, rtol=1e-4),
                    f"{program}: {first}, expected {expected}")
        for stage, ranks in ((0, 2), (1, 2), (2, 2), (3, 2), (3, 4)):
            losses = train(guide, work, program, stage, ranks)
            checks.that(np.array_equal(losses, first),
                        f"{program} at stage {stage} on {ranks} ranks: {losses - first}")
    checks.finish()


if __name__ == "__main__":
    main()
