"""Trains tiny folders of Hugging Face, and compares the losses of ten AdamW steps with those of
transformers: at stage 0, and every third one at stage 3 on two ranks, each with half of the batch.

usage: check_huggingface.py TRUTH WORK
"""

import json
import sys
from pathlib import Path

import numpy as np
from huggingface_cases import (ADAMW, BATCH, CASES, COLUMNS, ROWS, STEPS, STORED, data, rounded,
                               weight)
from zero_test import Checks, run_tool

TOLERANCE = 1e-5
FLAGS = ["--optimizer=adamw", *(f"--{key.replace('_', '-')}={value}"
                                for key, value in ADAMW.items())]

# Where dropout is tried, and the keys of its ratios.
DROPPED = {"gpt2": ("attn_pdrop", "embd_pdrop", "resid_pdrop"),
           "phi3": ("embd_pdrop", "resid_pdrop"), "gemma2": ("attention_dropout",)}


def encode(values, stored):
    """The bytes of a tensor, and the name of their type."""
    if stored == "f16":
        return "F16", values.astype("<f2").tobytes()
    if stored == "bf16":
        return "BF16", (values.view(np.uint32) >> 16).astype("<u2").tobytes()
    return "F32", values.astype("<f4").tobytes()


def write_safetensors(path, tensors, stored):
    header, body = {}, b""
    for name, values in tensors.items():
        kind, part = encode(values, stored)
        header[name] = {"dtype": kind, "shape": list(values.shape),
                        "data_offsets": [len(body), len(body) + len(part)]}
        body += part
    text = json.dumps(header).encode()
    path.write_bytes(len(text).to_bytes(8, "little") + text + body)


def write_weights(folder, shapes, stored):
    tensors = {name: rounded(weight(name, shape), stored) for name, shape in shapes.items()}
    if stored != "sharded":
        write_safetensors(folder / "model.safetensors", tensors, stored)
        return
    files = [f"model-0000{part}-of-00002.safetensors" for part in (1, 2)]
    homes = {name: files[index % 2] for index, name in enumerate(tensors)}
    for file in files:
        write_safetensors(folder / file, {name: values for name, values in tensors.items()
                                          if homes[name] == file}, stored)
    (folder / "model.safetensors.index.json").write_text(json.dumps({"weight_map": homes}))


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
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "config.json").write_text(json.dumps(config))
        write_weights(folder, truth[case]["shapes"], STORED.get(case))
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
