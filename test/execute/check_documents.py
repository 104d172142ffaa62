"""Several documents in a sequence: the loss and the update are those of one document in each.

usage: check_documents.py WORK
"""

import json
import sys
from pathlib import Path

import numpy as np
from huggingface_cases import CASES, COLUMNS
from zero_test import Checks, read_safetensors, run_tool

STEPS = 3
LENGTHS = [[5, 4, 3], [7, 2, 1]]  # of the documents in each row
TOLERANCE = 2e-6
# The factors of these positions depend on the length of the sequence.
UNLIKE = {"phi3-long"}
# Rows of a rank and a micro-batch, and flags.
VARIANTS = [(2,), (1, "--ranks=2", "--zero-stage=3"), (1, "--micro-batches=2"),
            (2, "--attention=products"), (2, "--checkpoint=layer")]


def documents(vocabulary):
    """Ids and labels of each document; some labels do not count."""
    rng = np.random.default_rng(3)
    for length in sum(LENGTHS, []):
        ids = rng.integers(4, vocabulary, length)
        yield ids, np.where(rng.random(length) < 0.8, ids, -100)


def in_rows(vocabulary, rows):
    """input_ids, labels and position_ids of rows that have so many documents each."""
    arrays = {name: np.full((len(rows), COLUMNS), value, np.int64)
              for name, value in (("input_ids", 0), ("labels", -100), ("position_ids", 0))}
    each = documents(vocabulary)
    for row, count in enumerate(rows):
        begin = 0
        for _ in range(count):
            ids, labels = next(each)
            end = begin + len(ids)
            arrays["input_ids"][row, begin:end] = ids
            arrays["labels"][row, begin:end] = labels
            arrays["position_ids"][row, begin:end] = np.arange(len(ids))
            begin = end
    return arrays


def train(folder, arrays, rows, *flags):
    """The losses of some steps with so many rows a time, and the weights after them."""
    for name, values in arrays.items():
        np.save(folder / f"{name}.npy", values)
    data = ",".join(f"{name}={folder}/{name}.npy" for name in arrays)
    log, weights = folder / "log.jsonl", folder / "trained.safetensors"
    run_tool("zero-run", folder, f"--shape={rows}x{COLUMNS}", "--init=normal:0.2",
             "--optimizer=sgd", "--lr=0.1", f"--steps={STEPS}", f"--log={log}",
             f"--save={weights}", f"--data={data}", *flags)
    return (np.array([json.loads(line)["loss"] for line in log.read_text().splitlines()]),
            read_safetensors(weights))


def error_of(found, expected):
    """The largest difference of losses and weights."""
    return max(np.abs(found[0] - expected[0]).max(),
               max(np.abs(found[1][name] - value).max() for name, value in expected[1].items()))


def check_case(checks, folder, case, config, variants):
    """Rows of ranks and of micro-batches have different numbers of tokens."""
    (folder / "config.json").write_text(json.dumps(config))
    vocabulary = config["vocab_size"]
    alone = in_rows(vocabulary, [1] * sum(map(len, LENGTHS)))
    del alone["position_ids"]
    packed = in_rows(vocabulary, list(map(len, LENGTHS)))
    expected = train(folder, alone, len(alone["labels"]))
    if config.get("attn_logit_softcapping") is None and not config.get("attention_dropout"):
        found = run_tool("zeroc", folder, f"--shape=2x{COLUMNS}", "--documents", "--plan-only", "-v")
        checks.that("is compiled" not in found, f"{case}: attention is no call:\n{found}")
    for rows, *flags in variants:
        error = error_of(train(folder, packed, rows, "--documents", *flags), expected)
        checks.that(error < TOLERANCE, f"{case} {flags}: packed documents are off by {error:.1e}")


def main():
    work = Path(sys.argv[1])
    checks = Checks()
    for case, config in CASES.items():
        folder = work / case
        folder.mkdir(parents=True, exist_ok=True)
        variants = VARIANTS if case == "mistral" else VARIANTS[:1]
        if case not in UNLIKE:
            check_case(checks, folder, case, config, variants)
    check_case(checks, work / "gemma2", "dropout", CASES["gemma2"] | {"attention_dropout": 1e-9},
               VARIANTS[:1])
    checks.finish()


if __name__ == "__main__":
    main()
