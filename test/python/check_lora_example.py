"""Runs examples/lora: PEFT loads what it wrote and computes the held-out loss that Zero computed.

usage: check_lora_example.py EXAMPLES TEXT OTHER_TEXT WORK

The base learns TEXT, its adapter OTHER_TEXT.
"""

import json
import sys
from pathlib import Path

import numpy as np
import peft
import tokenizers
import torch
import transformers

from zero_test import Checks, run_tool

SEQUENCE, BATCH, RANKS = 64, 4, 2


def fine_tune(examples, base, text, out, *flags):
    """Runs the example; returns its output and the lines of its log."""
    output = run_tool(sys.executable, examples / "finetune.py", text, f"--base={base}",
                      f"--out={out}", f"--sequence={SEQUENCE}", f"--batch={BATCH}", *flags)
    return output, [json.loads(line) for line in (out / "log.jsonl").read_text().splitlines()]


def held_out_loss(model, path):
    """The mean loss of the samples of the first 20 batches, as the example evaluates it: the last
    batch may be incomplete."""
    tokens = np.load(path)
    count = min(20 * BATCH * RANKS, len(tokens) // SEQUENCE)
    rows = torch.from_numpy(tokens[:count * SEQUENCE].astype(np.int64))
    with torch.no_grad():
        losses = [model(input_ids=ids, labels=ids).loss.item()
                  for ids in rows.reshape(count, 1, SEQUENCE)]
    return np.mean(losses)


def check_budget(checks, output):
    arena = int(output.split("\n  arena ")[1].split()[0])
    checks.that(arena <= 1 << 30, f"arena: {arena}")
    checks.that("bf16" in output and "(3584 trained, the others in bf16)" in output, output)


def check_adapter(checks, base, out, log):
    plain = transformers.AutoModelForCausalLM.from_pretrained(base)
    for value in plain.parameters():  # what the run computed with
        value.data = value.data.bfloat16().float()
    before = held_out_loss(plain, out / "heldout.npy")
    adapted = peft.PeftModel.from_pretrained(plain, out / "adapter")
    after = held_out_loss(adapted, out / "heldout.npy")
    evaluated = log[-1]["eval_loss"]
    checks.that(abs(after - evaluated) < 1e-5 * after, f"PEFT has {after}, Zero {evaluated}")
    checks.that(after < before - 0.05, f"held-out loss: {before} before, {after} after")
    config = json.loads((out / "adapter" / "adapter_config.json").read_text())
    checks.that(config["base_model_name_or_path"] == str(base), f"config: {config}")


def check_tokenizer(checks, examples, base, text, out):
    """A base with a tokenizer: here one whose tokens are the 256 bytes, in another order."""
    model = tokenizers.Tokenizer(tokenizers.models.BPE())
    model.pre_tokenizer = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False)
    alphabet = tokenizers.pre_tokenizers.ByteLevel.alphabet()
    model.train_from_iterator([], tokenizers.trainers.BpeTrainer(
        vocab_size=256, initial_alphabet=alphabet, show_progress=False))
    tokenizer = transformers.PreTrainedTokenizerFast(tokenizer_object=model)
    tokenizer.save_pretrained(base)
    _, log = fine_tune(examples, base, text, out, "--steps=1", "--offload-params=host")
    tokens = np.concatenate([np.load(out / name) for name in ("train.npy", "heldout.npy")])
    checks.that(list(tokens) == tokenizer(text.read_text())["input_ids"], "tokens")
    checks.that(list(tokens[:50]) != list(text.read_bytes()[:50]) and len(log) == 2, "bytes")


def main():
    examples, text, other, work = map(Path, sys.argv[1:])
    work.mkdir(parents=True, exist_ok=True)
    torch.set_num_threads(1)
    checks, base = Checks(), work / "base"
    run_tool(sys.executable, examples / "make_base.py", text, f"--out={base}", "--layers=2",
             "--width=64", f"--sequence={SEQUENCE}", "--steps=150", "--lr=3e-3")
    out = work / "tuned"
    output, log = fine_tune(examples, base, other, out, "--steps=150", "--lr=1e-2",
                             f"--ranks={RANKS}")
    check_budget(checks, output)
    check_adapter(checks, base, out, log)
    check_tokenizer(checks, examples, base, other, work / "tokens")
    checks.finish()


if __name__ == "__main__":
    main()
