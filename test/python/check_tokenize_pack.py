"""zero-run packs documents of a folder into rows: bitwise identical to the same rows as .npy.

usage: check_tokenize_pack.py WORK
"""

import json
import sys
from pathlib import Path

import numpy as np
import zero
from huggingface_cases import CASES
from zero_test import Checks, check_refused, run_tool

LENGTH, IDS, PAD, STEPS = 16, 40, 3, 3


def make_documents(folder):
    """Some documents are longer than a row, one is as long, and the first token never counts."""
    rng = np.random.default_rng(5)
    lengths = [*rng.integers(2, 12, 40), 20, LENGTH, 17]
    ids = rng.integers(4, IDS, sum(lengths)).astype(np.uint16)
    starts = np.concatenate([[0], np.cumsum(lengths)]).astype(np.uint64)
    mask = (rng.random(len(ids)) < 0.7).astype(np.uint8)
    mask[starts[:-1].astype(int) + 1] = 1
    mask[starts[:-1].astype(int)] = 0
    folder.mkdir(parents=True, exist_ok=True)
    for name, array in (("ids", ids), ("starts", starts), ("mask", mask)):
        array.tofile(folder / f"{name}.bin")
    manifest = {"format": "zero-tokens", "version": 1, "documents": len(lengths),
                "tokens": len(ids), "largest_id": int(ids.max()), "pad_id": PAD,
                "id_type": "uint16", "labels": "same"}
    (folder / "tokens.json").write_text(json.dumps(manifest))
    labels = np.where(mask == 1, ids.astype(np.int64), -100)
    return [(ids[begin:end], labels[begin:end])
            for begin, end in zip(starts[:-1].astype(int), starts[1:].astype(int))]


def best_fit(documents):
    """The documents of each row: the longest first, into the row with the least space for it."""
    rows, spaces = [], []
    lengths = [min(len(ids), LENGTH) for ids, _ in documents]
    for index in sorted(range(len(documents)), key=lambda i: -lengths[i]):
        fitting = [row for row, space in enumerate(spaces) if space >= lengths[index]]
        if fitting:
            row = min(fitting, key=lambda row: spaces[row])
        else:
            row = len(rows)
            rows.append([])
            spaces.append(LENGTH)
        rows[row].append(index)
        spaces[row] -= lengths[index]
    return [[(ids[:LENGTH], labels[:LENGTH]) for ids, labels in (documents[i] for i in row)]
            for row in rows]


def stream(documents):
    """All documents behind each other, cut where a row ends."""
    rows, space = [], 0
    for ids, labels in documents:
        while len(ids):
            if space == 0:
                rows.append([])
                space = LENGTH
            rows[-1].append((ids[:space], labels[:space]))
            ids, labels, space = ids[space:], labels[space:], max(space - len(ids), 0)
    return rows


def as_arrays(rows):
    arrays = {name: np.full((len(rows), LENGTH), value, np.int64)
              for name, value in (("input_ids", PAD), ("labels", -100), ("position_ids", 0))}
    for row, pieces in enumerate(rows):
        begin = 0
        for ids, labels in pieces:
            part = np.s_[row, begin:begin + len(ids)]
            arrays["input_ids"][part], arrays["labels"][part] = ids, labels
            arrays["position_ids"][part] = np.arange(len(ids))
            begin += len(ids)
    return arrays


def run(executable, work, *flags):
    log, weights = work / "run.jsonl", work / "run.safetensors"
    text = run_tool("zero-run", executable, f"--steps={STEPS}", f"--log={log}",
                    f"--save={weights}", *flags)
    return log.read_bytes() + weights.read_bytes(), text


def check_rows(checks, executable, work, tokens, packing, rows):
    arrays = as_arrays(rows)
    for name, values in arrays.items():
        np.save(work / f"{name}.npy", values)
    data = ",".join(f"{name}={work}/{name}.npy" for name in arrays)
    full = f"{sum(len(ids) for row in rows for ids, _ in row) / len(rows) / LENGTH:.1%}"
    expected = f"43 documents in {len(rows)} rows of {LENGTH} tokens, {full.replace('%', ' %')} full"
    for flags in ([], ["--shuffle=3"]):
        got, text = run(executable, work, f"--data={tokens}", f"--pack={packing}", *flags)
        checks.that(got == run(executable, work, f"--data={data}", *flags)[0],
                    f"{packing} {flags}: rows differ")
        checks.that(expected in text, f"{packing}: expected '{expected}' in {text}")
    checks.that(("longer than a row" in text) == (packing == "documents"), f"{packing}: {text}")


def check_python(checks, executable, tokens, rows):
    program = zero.load(executable)
    for pack, expected in (("off", 43), ("documents", rows)):
        samples = zero.Dataset(program, tokens, pack=pack).samples
        checks.that(samples == expected, f"pack={pack}: {samples} samples, expected {expected}")
    try:
        zero.Dataset(program, tokens, pack="tight")
        checks.that(False, "pack='tight' is no error")
    except zero.InvalidArgumentError as error:
        checks.that("off, documents or stream" in str(error), f"pack='tight': {error}")


def main():
    work = Path(sys.argv[1])
    checks = Checks()
    model, tokens = work / "model", work / "tokens"
    model.mkdir(parents=True, exist_ok=True)
    (model / "config.json").write_text(json.dumps(CASES["mistral"]))
    documents = make_documents(tokens)
    flags = [f"--shape=1x{LENGTH}", "--init=normal:0.2", "--optimizer=adamw", "--ranks=2",
             "--zero-stage=3"]
    executable, unaware = work / "model.zexe", work / "unaware.zexe"
    run_tool("zeroc", model, "--documents", *flags, "-o", executable)
    run_tool("zeroc", model, *flags, "-o", unaware)
    packed = best_fit(documents)
    check_rows(checks, executable, work, tokens, "documents", packed)
    check_rows(checks, executable, work, tokens, "stream", stream(documents))
    direct, _ = run(model, work, *flags, "--documents", f"--data={tokens}")
    checks.that(direct == run(executable, work, f"--data={tokens}", "--pack=documents")[0],
                "a model with --documents does not pack documents")
    _, text = run(executable, work, f"--data={tokens}")
    checks.that("43 documents in 43 rows" in text, f"documents are packed without --pack: {text}")
    _, text = run(unaware, work, f"--data={tokens}", "--pack=documents")
    checks.that("attends to the documents before" in text, text)
    check_python(checks, executable, tokens, len(packed))
    held = run_tool("zero-run", executable, "--steps=0", f"--eval-data={tokens}",
                    "--pack=documents")
    checks.that(f"held-out data: {len(packed)} samples" in held, held)
    arrays = ",".join(f"{name}={work}/{name}.npy" for name in as_arrays([]))
    check_refused(checks, "no folder", ["--pack has no effect", "folder of tokens"], "zero-run",
                  executable, f"--data={arrays}", "--pack=stream")
    check_refused(checks, "another word", ["--pack", "off, documents or stream"], "zero-run", executable,
                  f"--data={tokens}", "--pack=tight")
    checks.finish()


if __name__ == "__main__":
    main()
