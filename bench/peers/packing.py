"""Trains a folder of Hugging Face on documents by PyTorch in fp32, padded or packed.

usage: packing.py MODEL TOKENS RESULT.json FORM --rows=N --sequence=N --steps=N

FORM: `padded`, a document in each row; `longest`, the same with rows as long as the longest
document of the batch; `packed`, documents that share rows, apart by a mask and by positions.
Writes the seconds of steps, their real tokens, and the largest resident bytes. The time of a padded
row does not depend on its document: it counts as one of mean length.
"""

import argparse
import json
import resource
import time
from pathlib import Path

import numpy as np
import torch
import transformers


def read(folder):
    """The ids of each document."""
    manifest = json.loads((folder / "tokens.json").read_text())
    ids = np.fromfile(folder / "ids.bin", manifest["id_type"]).astype(np.int64)
    starts = np.fromfile(folder / "starts.bin", np.uint64).astype(np.int64)
    return [ids[begin:end] for begin, end in zip(starts[:-1], starts[1:])]


def pack(documents, sequence):
    """Rows of whole documents: the longest first, each into the fullest row that holds it."""
    rows, free = [], np.empty(0, np.int64)
    for document in sorted(documents, key=len, reverse=True):
        fits = np.flatnonzero(free >= len(document))
        if len(fits) == 0:
            rows.append([document])
            free = np.append(free, sequence - len(document))
        else:
            best = fits[free[fits].argmin()]
            rows[best].append(document)
            free[best] -= len(document)
    return [rows[i] for i in np.random.default_rng(0).permutation(len(rows))]


def batch_of(rows, length):
    """Inputs of rows of documents: a row of one document needs no mask between documents."""
    ids, labels = (np.full((len(rows), length), fill) for fill in (0, -100))
    places, segments = np.zeros((2, len(rows), length), np.int64)
    for i, row in enumerate(rows):
        begin = 0
        for number, document in enumerate(row, 1):
            end = begin + len(document)
            ids[i, begin:end], labels[i, begin + 1:end] = document, document[1:]
            places[i, begin:end] = np.arange(len(document))
            segments[i, begin:end] = number
            begin = end
    tensors = {"input_ids": ids, "labels": labels}
    if all(len(row) == 1 for row in rows):
        tensors["attention_mask"] = segments
    else:
        same = segments[:, :, None] == segments[:, None, :]
        tensors["attention_mask"] = (same & np.tri(length, dtype=bool))[:, None]
        tensors["position_ids"] = places
    return {name: torch.from_numpy(value) for name, value in tensors.items()}


def parse():
    parser = argparse.ArgumentParser(description=__doc__)
    for name in ("model", "tokens", "result"):
        parser.add_argument(name, type=Path)
    parser.add_argument("form", choices=["padded", "longest", "packed"])
    for name in ("rows", "sequence", "steps"):
        parser.add_argument(f"--{name}", type=int, required=True)
    return parser.parse_args()


def main():
    options = parse()
    model = transformers.AutoModelForCausalLM.from_pretrained(
        options.model, dtype=torch.float32, attn_implementation="sdpa")
    model.config.use_cache = False
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4, fused=True)
    documents = read(options.tokens)
    mean = sum(map(len, documents)) / len(documents)
    if options.form == "packed":
        rows = pack(documents, options.sequence)
    else:
        order = np.random.default_rng(0).permutation(len(documents))
        rows = [[documents[i]] for i in order]
    seconds, tokens = [], []
    for step in range(options.steps):
        chosen = rows[step * options.rows:(step + 1) * options.rows]
        sizes = [sum(map(len, row)) for row in chosen]
        batch = batch_of(chosen, max(sizes) if options.form == "longest" else options.sequence)
        begin = time.monotonic()
        model(**batch).loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        seconds.append(time.monotonic() - begin)
        tokens.append(options.rows * mean if options.form == "padded" else sum(sizes))
    resident = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    options.result.write_text(json.dumps(
        {"seconds": seconds, "tokens": tokens, "resident": resident}))


if __name__ == "__main__":
    main()
