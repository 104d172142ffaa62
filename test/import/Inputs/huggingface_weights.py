"""Writes folders with weights that do not fit the configuration `llama` beside them.

usage: huggingface_weights.py WORK
"""

import json
import shutil
import sys
from pathlib import Path

SHAPES = {"model.embed_tokens.weight": [32, 16], "model.norm.weight": [16]} | {
    f"model.layers.0.{name}.weight": shape for name, shape in {
        "self_attn.q_proj": [16, 16], "self_attn.k_proj": [4, 16], "self_attn.v_proj": [4, 16],
        "self_attn.o_proj": [16, 16], "mlp.gate_proj": [24, 16], "mlp.up_proj": [24, 16],
        "mlp.down_proj": [16, 24], "input_layernorm": [16],
        "post_attention_layernorm": [16]}.items()}


def file_of(shapes, types=None):
    header, end = {}, 0
    for name, shape in shapes.items():
        kind = (types or {}).get(name, "F32")
        count = (8 if kind == "I64" else 4) * (shape[0] * shape[1] if len(shape) > 1 else shape[0])
        header[name] = {"dtype": kind, "shape": shape, "data_offsets": [end, end + count]}
        end += count
    text = json.dumps(header).encode()
    return len(text).to_bytes(8, "little") + text + bytes(end)


def index_of(file):
    return json.dumps({"weight_map": dict.fromkeys(SHAPES, file)}).encode()


def main():
    work = Path(sys.argv[1])
    norm = "model.norm.weight"
    without = {name: shape for name, shape in SHAPES.items() if name != norm}
    folders = {
        "missing": {"model.safetensors": file_of(without)},
        "wrong": {"model.safetensors": file_of(SHAPES | {norm: [8]},
                                               {"model.embed_tokens.weight": "I64"})},
        "cut": {"model.safetensors": file_of(SHAPES)[:-1]},
        "outside": {"model.safetensors.index.json": index_of("../a.safetensors")},
        "elsewhere": {"model.safetensors.index.json": index_of("a.safetensors"),
                      "a.safetensors": file_of(without)},
        "tied": {"model.safetensors": file_of(SHAPES | {"lm_head.weight": [32, 16]})},
        "inside": {"model.safetensors": file_of(
            {name.removeprefix("model."): shape for name, shape in SHAPES.items()})},
        "more": {"model.safetensors": file_of(
            SHAPES | {"model.layers.0.self_attn.q_proj.bias": [16]})}}
    for name, files in folders.items():
        folder = work / name
        folder.mkdir()
        shutil.copy(work / "llama/config.json", folder)
        for file, content in files.items():
            (folder / file).write_bytes(content)


if __name__ == "__main__":
    main()
