"""--save=FILE.gguf of folders of Hugging Face, read by llama.cpp's package gguf: names, the order
of rows, types, the description of the model and its tokenizer.

usage: check_gguf.py TEXT WORK DATA
"""

import json
import shutil
import sys
from pathlib import Path

import gguf
import numpy as np
from huggingface_folders import read_folder
from make_tokenizer import make_folder
from tokenizers import Regex, Tokenizer, pre_tokenizers
from zero_test import Checks, check_refused, read_safetensors, run_tool, to_bf16

SIZES = {"vocab_size": 320, "hidden_size": 64, "intermediate_size": 96, "num_hidden_layers": 2,
         "num_attention_heads": 4, "num_key_value_heads": 2, "max_position_embeddings": 48,
         "rms_norm_eps": 1e-5, "bos_token_id": 4}
LLAMA3 = {"rope_type": "llama3", "factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0,
          "original_max_position_embeddings": 64, "rope_theta": 500000.0}
CONTRACTIONS = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|"
REST = r"| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
SPLITS = {"llama-bpe": CONTRACTIONS + r"\p{N}{1,3}" + REST, "qwen2": CONTRACTIONS + r"\p{N}" + REST}
# Of each model: its configuration, the architecture, how texts are split, the type of its folder.
MODELS = {
    "llama": ({"model_type": "llama", "attention_bias": True, "mlp_bias": True}, "llama", "gpt-2",
              "float32"),
    "llama3": ({"model_type": "llama", "rope_parameters": LLAMA3, "tie_word_embeddings": True},
               "llama", "llama-bpe", "bfloat16"),
    "linear": ({"model_type": "llama", "rope_theta": 700.0, "head_dim": 8,
                "rope_scaling": {"type": "linear", "factor": 2.0}}, "llama", "gpt-2", "float16"),
    "mistral": ({"model_type": "mistral", "num_key_value_heads": 4}, "llama", "llama-bpe",
                "float32"),
    "qwen2": ({"model_type": "qwen2", "tie_word_embeddings": True}, "qwen2", "qwen2", "bfloat16"),
    "qwen3": ({"model_type": "qwen3", "head_dim": 24}, "qwen3", "qwen2", "float32"),
}
TYPES = {"fp32": "F32", "fp16": "F16", "bf16": "BF16", "q8_0": "Q8_0"}
FOLDER_TYPES = {"float32": "F32", "bfloat16": "BF16", "float16": "F16"}


def make(folder, text, config, split, dtype):
    """A folder with a tokenizer and drawn weights."""
    start = folder / "start"
    make_folder(start, text, "{{ messages }}", vocabulary=310, begins=split == "llama-bpe",
                bos_token="<|begin_of_text|>")
    if split in SPLITS:
        tokenizer = Tokenizer.from_file(str(start / "tokenizer.json"))
        tokenizer.pre_tokenizer = pre_tokenizers.Sequence([
            pre_tokenizers.Split(Regex(SPLITS[split]), "isolated"),
            pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)])
        tokenizer.save(str(start / "tokenizer.json"))
    (start / "config.json").write_text(json.dumps(SIZES | config | {"dtype": dtype}))
    tokens = np.random.default_rng(1).integers(0, SIZES["vocab_size"], (2, 12))
    np.savez(start / "batch.npz", input_ids=tokens, labels=tokens)
    run_tool("zero-run", start, "--shape=2x12", "--init=normal:0.3", "--data", start / "batch.npz",
             "--steps=0", "--quiet", f"--save={folder}/")
    shutil.copy(start / "batch.npz", folder)
    return ["zero-run", folder, "--shape=2x12", "--data", folder / "batch.npz", "--quiet",
            "--optimizer=sgd"]


def permuted(values, heads):
    """As LlamaModel.permute of convert_hf_to_gguf.py."""
    return values.reshape(heads, 2, values.shape[0] // heads // 2, *values.shape[1:]).swapaxes(
        1, 2).reshape(values.shape)


def expected_tensors(weights, config, architecture):
    """The tensors by llama.cpp's names, as f32."""
    arch = {name: number for number, name in gguf.MODEL_ARCH_NAMES.items()}[architecture]
    names = gguf.get_tensor_name_map(arch, config["num_hidden_layers"])
    tensors = {}
    for name, values in weights.items():
        if architecture == "llama" and ("q_proj" in name or "k_proj" in name):
            key = "num_attention_heads" if "q_proj" in name else "num_key_value_heads"
            values = permuted(values, config[key])
        tensors[names.get_name(name, try_suffixes=(".weight", ".bias"))] = values
    return tensors


def check_tensors(checks, label, reader, expected, kind):
    found = {tensor.name: tensor for tensor in reader.tensors}
    factors = found.pop("rope_freqs.weight", None)
    checks.that(found.keys() == expected.keys(), f"{label}: {sorted(found)}")
    for name, tensor in found.items():
        values = expected[name]
        wanted = "F32" if values.ndim == 1 else kind
        if wanted == "Q8_0" and values.shape[1] % 32 != 0:
            wanted = "F16"
        checks.that(tensor.tensor_type.name == wanted, f"{label}: {name} is {tensor.tensor_type!r}")
        checks.that(list(reversed(tensor.shape)) == list(values.shape), f"{label}: {tensor.shape}")
        if wanted == "BF16":
            encoded = (to_bf16(values).view(np.uint32) >> 16).astype("<u2")
        else:
            encoded = gguf.quants.quantize(values, tensor.tensor_type)
        checks.that(tensor.data.tobytes() == encoded.tobytes(), f"{label}: another {name}")
        if wanted == "Q8_0":
            error = np.abs(gguf.quants.dequantize(tensor.data, tensor.tensor_type) - values).max()
            checks.that(error < np.abs(values).max() / 200, f"{label}: {name} is off by {error}")
    return factors


def check_factors(checks, factors, width):
    """Frequencies of long waves are divided by 8, of short ones by 1, others by what is between."""
    values = factors.data
    checks.that(values.shape == (width // 2,) and values[0] == 1 and values[-1] == 8 and
                np.all(np.diff(values) >= 0), f"factors are {values}")
    low, high = 64 / 1, 64 / 4
    for i, value in enumerate(values):
        length = 2 * np.pi * 500000.0 ** (2 * i / width)
        between = (64 / length - 1) / 3
        wanted = 1 if length < high else 8 if length > low else 1 / ((1 - between) / 8 + between)
        checks.that(abs(value / wanted - 1) < 1e-6, f"factor {i} is {value}, not {wanted}")


def check_description(checks, label, reader, folder, config, architecture, split, kind):
    fields = {name: field.contents() for name, field in reader.fields.items()}
    width = config.get("head_dim", config["hidden_size"] // config["num_attention_heads"])
    special = gguf.SpecialVocab(folder, load_merges=True)
    tokenizer = json.loads((folder / "tokenizer.json").read_text())
    rope = config.get("rope_parameters", {}).get("rope_theta", config.get("rope_theta", 10000.0))
    llm, words = gguf.Keys.LLM, gguf.Keys.Tokenizer
    expected = {
        gguf.Keys.General.ARCHITECTURE: architecture,
        gguf.Keys.General.FILE_TYPE: {"F32": 0, "F16": 1, "Q8_0": 7, "BF16": 32}[kind],
        llm.BLOCK_COUNT: config["num_hidden_layers"], llm.CONTEXT_LENGTH: 48,
        llm.EMBEDDING_LENGTH: 64, llm.FEED_FORWARD_LENGTH: 96, llm.VOCAB_SIZE: 320,
        gguf.Keys.Attention.HEAD_COUNT: 4,
        gguf.Keys.Attention.HEAD_COUNT_KV: config["num_key_value_heads"],
        gguf.Keys.Attention.KEY_LENGTH: width, gguf.Keys.Attention.VALUE_LENGTH: width,
        gguf.Keys.Attention.LAYERNORM_RMS_EPS: np.float32(1e-5),
        gguf.Keys.Rope.DIMENSION_COUNT: width, gguf.Keys.Rope.FREQ_BASE: rope,
        words.MODEL: "gpt2", words.PRE: split, words.MERGES: special.merges,
        words.CHAT_TEMPLATE: "{{ messages }}", words.BOS_ID: special.special_token_ids["bos"],
        words.EOS_ID: special.special_token_ids["eos"],
        words.PAD_ID: special.special_token_ids["pad"]}
    if "bos" in special.add_special_token:
        expected[words.ADD_BOS] = special.add_special_token["bos"]
    if "rope_scaling" in config:
        expected[gguf.Keys.Rope.SCALING_TYPE] = "linear"
        expected[gguf.Keys.Rope.SCALING_FACTOR] = 2.0
    for key, value in expected.items():
        key = key.format(arch=architecture)
        checks.that(fields.get(key) == value, f"{label}: {key} is {fields.get(key)}, not {value}")
    tokens = fields[words.LIST]
    texts = {number: text for text, number in tokenizer["model"]["vocab"].items()}
    texts |= {token["id"]: token["content"] for token in tokenizer["added_tokens"]}
    checks.that(tokens == [texts.get(i, f"[PAD{i}]") for i in range(320)], f"{label}: {tokens}")
    kinds = [3 if texts.get(i) in {t["content"] for t in tokenizer["added_tokens"]}
             else 1 if i in texts else 5 for i in range(320)]
    checks.that(fields[words.TOKEN_TYPE] == kinds, f"{label}: {fields[words.TOKEN_TYPE]}")


def check_model(checks, work, text, name):
    config, architecture, split, dtype = MODELS[name]
    folder = work / name
    run = make(folder, text, config, split, dtype)
    config = SIZES | config
    whole = folder / "whole.safetensors"
    flags = ["--zero-stage=3", "--offload-params=host"] if name == "mistral" else []
    run_tool(*run, *flags, "--steps=2", f"--save={whole}")
    expected = expected_tensors(read_safetensors(whole), config, architecture)
    for precision in (None, *TYPES):
        label, file = f"{name} as {precision}", folder / f"{precision}.gguf"
        run_tool(*run, *flags, "--steps=2", f"--save={file}",
                 *([f"--save-precision={precision}"] if precision else []))
        kind = TYPES[precision] if precision else FOLDER_TYPES[dtype]
        reader = gguf.GGUFReader(file)
        factors = check_tensors(checks, label, reader, expected, kind)
        checks.that((factors is not None) == (name == "llama3"), f"{label}: {factors}")
        if factors is not None:
            check_factors(checks, factors, 16)
        check_description(checks, label, reader, folder, config, architecture, split, kind)
    return run, folder


def check_refusals(checks, work, run, folder, data):
    config = json.loads((folder / "config.json").read_text())
    out = f"--save={work}/no.gguf"
    for label, words, change in [
            ("an activation", ["silu", "gelu"], {"hidden_act": "gelu"}),
            ("windows", ["use_sliding_window"],
             {"use_sliding_window": True, "model_type": "qwen2"}),
            ("a bias", ["no tensor for", "q_proj.bias"], {"model_type": "qwen3", "head_dim": 16}),
            ("a rope", ["rope type 'yarn'"],
             {"rope_scaling": {"rope_type": "yarn", "factor": 2.0,
                               "original_max_position_embeddings": 24}}),
            ("a family", ["llama, mistral, qwen2 or qwen3", "granite"], {"model_type": "granite"})]:
        other = work / "other"
        shutil.rmtree(other, ignore_errors=True)
        shutil.copytree(folder, other)
        changed = config | change | {"attention_bias": label == "a bias"}
        (other / "config.json").write_text(json.dumps(changed))
        check_refused(checks, label, words, "zero-run", other, *run[2:], "--init=normal:0.1", out)
    tokenizer = folder / "tokenizer.json"
    text = tokenizer.read_text()
    for label, words, change in [
            ("SentencePiece", ["byte-level BPE"],
             ('"byte_fallback":false', '"byte_fallback":true')),
            ("a split", ["llama.cpp has no name"], ('"type":"ByteLevel"', '"type":"Digits"')),
            ("a number", ["has number", "320 tokens"], (':300,', ':3000,'))]:
        compact = json.dumps(json.loads(text), separators=(",", ":"))
        checks.that(change[0] in compact, f"{label}: {change[0]} is not there")
        tokenizer.write_text(compact.replace(*change, 1))
        check_refused(checks, label, words, *run, out)
    tokenizer.unlink()
    check_refused(checks, "no tokenizer", ["tokenizer.json", "expected this file"], *run, out)
    tokenizer.write_text(text)
    check_refused(checks, "q8_0 elsewhere", ["q8_0", ".gguf"], *run,
                  f"--save={work}/no.safetensors", "--save-precision=q8_0")
    mlp = data / "mlp"
    check_refused(checks, "a graph", ["config.json"], "zero-run", mlp / "model.onnx", "--quiet",
                  f"--data={mlp}/groundtruth.npz", out)


def main():
    text, work, data = map(Path, sys.argv[1:])
    shutil.rmtree(work, ignore_errors=True)
    checks = Checks()
    runs = {name: check_model(checks, work, text, name) for name in MODELS}
    check_refusals(checks, work, *runs["linear"], data)
    run, folder = runs["qwen3"]
    merged = folder / "merged.gguf"
    run_tool(*run, "--steps=2", "--lora=q_proj", "--merge-lora", f"--save={merged}")
    check_refused(checks, "an adapter", ["--merge-lora"], *run, "--lora=q_proj",
                  f"--save={folder}/adapter.gguf")
    names = {tensor.name for tensor in gguf.GGUFReader(merged).tensors}
    checks.that(len(names) == len(read_folder(folder)), f"a merged adapter: {sorted(names)}")
    checks.finish()


if __name__ == "__main__":
    main()
