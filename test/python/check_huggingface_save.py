"""transformers loads folders that --save=DIR/ wrote: of all families, with the logits of the
weights that were trained. A merged adapter has the weights of PEFT's merge_and_unload(), and a
.gguf file those of the folder.

usage: check_huggingface_save.py WORK
"""

import json
import shutil
import sys
from pathlib import Path

import numpy as np
import peft
import torch
import transformers
from huggingface_cases import BATCH, CASES, data
from make_tokenizer import make_folder
from zero_test import Checks, read_safetensors, run_tool

DTYPES = (torch.float32, torch.bfloat16, torch.float16)
# Of transformers' classes, which begin matrices with values around 0 and norms with 1.
SEED = 7


def make(folder, case, dtype):
    """A folder that transformers writes, with a generation configuration of its own."""
    config = dict(CASES[case])
    torch.manual_seed(SEED)
    made = transformers.AutoConfig.for_model(config.pop("model_type"), **config)
    model = transformers.AutoModelForCausalLM.from_config(made).to(dtype)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(0.05 * torch.randn_like(parameter))
    model.generation_config.max_length = 19
    model.save_pretrained(folder)
    tokens, labels = data(case)
    np.savez(folder / "batch.npz", input_ids=tokens, labels=labels)
    return tokens


def train(folder, steps, *flags):
    run_tool("zero-run", folder, f"--shape={BATCH}", "--data", folder / "batch.npz", "--quiet",
             "--optimizer=sgd", "--lr=0.1", f"--steps={steps}", *flags)


def load(folder):
    return transformers.AutoModelForCausalLM.from_pretrained(folder, dtype="auto").eval()


def logits(model, tokens):
    with torch.no_grad():
        return model(torch.tensor(tokens)).logits.float().numpy()


def check_family(checks, work, case, dtype):
    source, label = work / case, f"{case} in {dtype}"
    tokens = make(source, case, dtype)
    same, tuned, file = source / "same", source / "tuned", source / "tuned.safetensors"
    train(source, 0, f"--save={same}/")
    before, after = load(source), load(same)
    states = before.state_dict(), after.state_dict()
    checks.that(states[0].keys() == states[1].keys() and
                all(torch.equal(states[0][n], states[1][n]) for n in states[0]),
                f"{label}: other weights")
    checks.that(after.dtype == dtype, f"{label}: loaded as {after.dtype}")
    checks.that(after.generation_config.max_length == 19, f"{label}: no generation configuration")
    checks.that(np.array_equal(logits(before, tokens), logits(after, tokens)), f"{label}: logits")
    train(source, 2, f"--save={tuned}/", f"--save={file}", "--shard-bytes=4KB")
    checks.that(len(list(tuned.glob("model-*.safetensors"))) > 1, f"{label}: no shards")
    expected = load(source)
    masters = read_safetensors(file)
    with torch.no_grad():
        for name, parameter in expected.named_parameters():
            if name in masters:
                parameter.copy_(torch.tensor(masters[name]).to(dtype))
    found, wanted = logits(load(tuned), tokens), logits(expected, tokens)
    # transformers 5 joins the experts of mixtral, whose masters have other names.
    if case != "mixtral":
        checks.that(np.array_equal(found, wanted), f"{label}: logits after training are off by "
                    f"{np.abs(found - wanted).max()}")
    checks.that(not np.array_equal(found, logits(before, tokens)), f"{label}: nothing was trained")


def check_merged(checks, work, case, dtype, *lora):
    """The folder of the adapter in PEFT, merged there, and the merged folder."""
    source, label = work / f"{case}-lora", f"{case} with adapters in {dtype}"
    tokens = make(source, case, dtype)
    train(source, 3, *lora, "--lora-alpha=64", f"--save={source}/adapter/")
    train(source, 3, *lora, "--lora-alpha=64", "--merge-lora", f"--save={source}/merged/")
    adapted = peft.PeftModel.from_pretrained(load(source), source / "adapter")
    expected, found = adapted.merge_and_unload(), load(source / "merged")
    tolerance = 1e-6 if dtype == torch.float32 else 1e-2
    for (name, want), (other, have) in zip(expected.named_parameters(), found.named_parameters(),
                                           strict=True):
        checks.that(name == other and torch.allclose(want, have, rtol=tolerance, atol=1e-6),
                    f"{label}: {name} is off by {(want - have).abs().max()}")
    error = np.abs(logits(expected, tokens) - logits(found, tokens)).max()
    checks.that(error < 5 * tolerance, f"{label}: logits are off by {error}")
    base = load(source)
    checks.that(any(not torch.equal(a, b) for a, b in zip(base.parameters(), found.parameters(),
                                                          strict=True)), f"{label}: as the base")


def check_gguf(checks, work, case):
    """transformers reads .gguf files, and orders the rows of queries and keys as its own again."""
    source = work / f"{case}-gguf"
    make(source, case, torch.float32)
    make_folder(source, __file__, None, vocabulary=300)
    changed = json.loads((source / "config.json").read_text()) | {"vocab_size": 320}
    for key in ("sliding_window", "use_sliding_window", "layer_types", "attention_bias"):
        changed.pop(key, None)
    (source / "config.json").write_text(json.dumps(changed))
    (source / "model.safetensors").unlink()
    train(source, 0, "--init=normal:0.2", f"--save={source}/drawn/", f"--save={source}/drawn.gguf")
    shutil.copy(source / "drawn.gguf", source / "drawn")
    model = load(source / "drawn")
    # transformers does not read the width of heads of this family.
    config = {"config": model.config} if case == "qwen3" else {}
    found = transformers.AutoModelForCausalLM.from_pretrained(
        source / "drawn", gguf_file="drawn.gguf", **config,
        dtype=torch.float32).state_dict()
    expected = model.state_dict()
    checks.that(expected.keys() == found.keys() and
                all(torch.equal(expected[name], found[name]) for name in expected),
                f"{case} as .gguf: other weights")


def main():
    work = Path(sys.argv[1])
    shutil.rmtree(work, ignore_errors=True)
    transformers.logging.set_verbosity_error()
    checks = Checks()
    families = {config["model_type"]: case for case, config in reversed(CASES.items())}
    for number, case in enumerate(sorted(families.values())):
        check_family(checks, work, case, DTYPES[number % 3])
    check_merged(checks, work, "llama", torch.float32, "--lora=q_proj,v_proj,down_proj")
    check_merged(checks, work, "qwen3", torch.bfloat16, "--lora=q_proj,o_proj", "--rslora")
    check_merged(checks, work, "gpt2-untied", torch.float32, "--lora=attn.c_proj")
    check_merged(checks, work, "smollm3", torch.float32, "--lora=q_proj,down_proj", "--dora")
    check_merged(checks, work, "granite", torch.bfloat16, "--lora=q_proj", "--dora", "--rslora")
    check_merged(checks, work, "gpt2", torch.float32, "--lora=c_attn,c_proj", "--dora")
    for case in ("llama", "mistral", "qwen2", "qwen3"):
        check_gguf(checks, work, case)
    checks.finish()


if __name__ == "__main__":
    main()
