"""Matrices of gpt2-tiny and llama-tiny in blocks of NF4, as bitsandbytes stores them on a CPU, with
scales in blocks (compress_statistics). The file test/data/blocks/MODEL.npz has for each matrix NAME

    NAME.codes    [elements] u8, one for each element
    NAME.absmax   [blocks] f32, the scales before they are stored in blocks
    NAME.scale    [blocks] u8, their codes
    NAME.scale.scale [blocks of scales] f32
    NAME.mean     f32

and `numbers`, `scale_numbers`: what codes stand for. Made with bitsandbytes 0.50.2 and PyTorch 2.15.

usage: blocks.py DATA     (needs bitsandbytes, torch, numpy, onnx; see README.md)
"""

import sys
from pathlib import Path

import bitsandbytes
import bitsandbytes.functional
import numpy as np
import onnx
import onnx.numpy_helper
import torch


def store(matrix, into, name):
    """Adds the codes and scales of one matrix."""
    packed, state = bitsandbytes.functional.quantize_4bit(
        matrix, blocksize=64, compress_statistics=True, quant_type="nf4")
    _, plain = bitsandbytes.functional.quantize_4bit(matrix, blocksize=64, quant_type="nf4")
    packed = packed.numpy().reshape(-1)
    into[f"{name}.codes"] = np.stack([packed >> 4, packed & 15], 1).reshape(-1)
    into[f"{name}.absmax"] = plain.absmax.numpy()
    into[f"{name}.scale"] = state.absmax.numpy()
    into[f"{name}.scale.scale"] = state.state2.absmax.numpy()
    into[f"{name}.mean"] = state.offset.numpy()
    into["numbers"] = state.code.numpy()
    into["scale_numbers"] = state.state2.code.numpy()


def main():
    data = Path(sys.argv[1])
    for model in ("gpt2-tiny", "llama-tiny"):
        made = {}
        for tensor in onnx.load(data / model / "model.onnx").graph.initializer:
            if tensor.name.endswith(("c_attn.weight", "c_proj.weight", "c_fc.weight", "_proj.weight")):
                matrix = onnx.numpy_helper.to_array(tensor)
                if matrix.size >= 4096:
                    store(torch.from_numpy(matrix.copy()), made, tensor.name)
        (data / "blocks").mkdir(exist_ok=True)
        np.savez_compressed(data / "blocks" / f"{model}.npz", **made)


if __name__ == "__main__":
    main()
