"""Writes and reads folders of Hugging Face: config.json, safetensors and the files beside them."""

import json
import struct

import numpy as np
from huggingface_cases import STORED, rounded, weight

# What a folder may have beside its weights; the contents do not matter.
BESIDE = {"generation_config.json": '{"eos_token_id": 2}\n', "tokenizer.json": '{"version": "1.0"}',
          "tokenizer_config.json": '{"model_max_length": 32}', "special_tokens_map.json": "{}",
          "chat_template.jinja": "{% for message in messages %}{{ message.content }}{% endfor %}\n"}


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


def write_folder(folder, case, config, shapes, stored=None):
    """The folder of a case of huggingface_cases.py, its weights stored as there or as `stored`."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "config.json").write_text(json.dumps(config, indent=2) + "\n")
    write_weights(folder, shapes, stored or STORED.get(case))


def read_header(path):
    """The header of a .safetensors file, and the bytes behind it."""
    data = path.read_bytes()
    (size,) = struct.unpack("<Q", data[:8])
    return json.loads(data[8:8 + size]), data[8 + size:]


def read_folder(folder):
    """The type, shape and bytes of each tensor of a folder, by name."""
    index = folder / "model.safetensors.index.json"
    single = folder / "model.safetensors"
    files = [single] if single.exists() else sorted(
        {folder / name for name in json.loads(index.read_text())["weight_map"].values()})
    tensors = {}
    for file in files:
        header, body = read_header(file)
        for name, entry in header.items():
            if name != "__metadata__":
                begin, end = entry["data_offsets"]
                tensors[name] = (entry["dtype"], entry["shape"], body[begin:end])
    return tensors
