"""Trains tiny folders of Hugging Face, and compares the losses of ten AdamW steps with those of
transformers: at stage 0, and every third one at stage 3 on two ranks, each with half of the batch.

usage: check_huggingface.py TRUTH WORK
"""

import json
import sys
from pathlib import Path

import numpy as np
from huggingface_cases import ADAMW, BATCH, CASES, COLUMNS, ROWS, STEPS, data
from huggingface_folders import write_folder
from zero_test import Checks, run_tool

TOLERANCE = 1e-5
FLAGS = ["--optimizer=adamw", *(f"--{key.replace('_', '-')}={value}"
                                for key, value in ADAMW.items())]

# Where dropout is tried, and the keys of its ratios.
DROPPED = {"gpt2": ("attn_pdrop", "embd_pdrop", "resid_pdrop"),
           "phi3": ("resid_pdrop",), "gpt_neox": ("hidden_dropout",),
           "gemma2": ("attention_dropout",)}


def check_dropout(checks, folder, case, expected):
    """Dropout that drops nothing computes the same by other nodes; dropout that does, does not."""
    config = json.loads((folder / "config.json").read_text())
    for ratio in (1e-9, 0.3):
        (folder / "config.json").write_text(json.dumps(config | dict.fromkeys(DROPPED[case], ratio)))
        error = np.abs(train(folder, case, BATCH) - expected).max()
        checks.that(error < TOLERANCE if ratio < 0.1 else error > 1e-3,
                    f"{case} with dropout of {ratio}: off by {error}")


def train(folder, case, shape, *flags):
    for name, values in zip(("input_ids", "labels"), data(case), strict=True):
        np.save(folder / f"{name}.npy", values.astype(np.int64))
    log = folder / "log.jsonl"
    run_tool("zero-run", folder, f"--shape={shape}", *FLAGS, *flags, f"--steps={STEPS + 1}",
             f"--log={log}", "--data",
             f"input_ids={folder}/input_ids.npy,labels={folder}/labels.npy")
    return np.array([json.loads(line)["loss"] for line in log.read_text().splitlines()])


def main():
    truth = json.loads(Path(sys.argv[1]).read_text())
    work = Path(sys.argv[2])
    checks = Checks()
    checks.that(list(truth) == list(CASES), "the cases are not those of the truth")
    for number, (case, config) in enumerate(CASES.items()):
        folder = work / case
        write_folder(folder, case, config, truth[case]["shapes"])
        runs = [(BATCH, [])]
        if number % 3 == 0:
            runs.append((f"{ROWS // 2}x{COLUMNS}", ["--zero-stage=3", "--ranks=2"]))
        for shape, flags in runs:
            losses = train(folder, case, shape, *flags)
            error = np.abs(losses - truth[case]["losses"]).max()
            checks.that(error < TOLERANCE, f"{case} {' '.join(flags)}: off by {error}: {losses}")
        if case in DROPPED:
            check_dropout(checks, folder, case, truth[case]["losses"])
    checks.finish()


if __name__ == "__main__":
    main()
