#!/usr/bin/env python3
"""Writes the files of test/data that are not in the repository. `make` runs it where
they are missing or old, and touches `.restored`.

Families of graphs have the same weights in many files, and long programs are text.
`graphs.tar.xz` contains them in a third of the space; `--pack` writes it from the files that are there. The weights of gpt2-mini are drawn.

usage: test-data.py [--pack]
"""

import io
import lzma
import pathlib
import re
import sys
import tarfile

import numpy as np

DATA = pathlib.Path(__file__).resolve().parent.parent / "test/data"
ARCHIVE = DATA / "graphs.tar.xz"
PACKED = ("*-default", "bert-tiny", "clipped-adamw", "embedding-bags", "exports/*", "gpt-bytes",
          "gpt2-lora", "gpt2-mini", "gpt2-tiny*", "jax-*", "linalg/*", "llama-tiny*", "mlp*", "ort/*",
          "resnet-tiny*", "stablehlo/*", "stochastic-depth", "torch-guide", "training-info",
          "unet-tiny", "whole-step")
KINDS = ("*.onnx", "*.npz", "*.mlir", "checkpoint")
# The window must be as long as the distance between two files with the same weights.
FILTERS = [{"id": lzma.FILTER_LZMA2, "preset": 9 | lzma.PRESET_EXTREME, "dict_size": 64 << 20}]

MINI = DATA / "gpt2-mini" / "model.onnx.data"
MINI_LAYERS, MINI_WIDTH, MINI_VOCABULARY, MINI_LENGTH, MINI_BATCH = 4, 256, 8192, 128, 4

#===------------------------------------------------------------------------===#
# gpt2-mini
#===------------------------------------------------------------------------===#


def mini_shapes():
    """Names and shapes of the parameters, in the order of the file."""
    width = MINI_WIDTH
    yield "wpe.weight", (MINI_LENGTH, width)
    for layer in range(MINI_LAYERS):
        for norm, parts in (("ln_1", (("attn.c_attn", width, 3 * width),
                                      ("attn.c_proj", width, width))),
                            ("ln_2", (("mlp.c_fc", width, 4 * width),
                                      ("mlp.c_proj", 4 * width, width)))):
            yield f"h.{layer}.{norm}.weight", (width,)
            yield f"h.{layer}.{norm}.bias", (width,)
            for name, inputs, outputs in parts:
                yield f"h.{layer}.{name}.weight", (inputs, outputs)
                yield f"h.{layer}.{name}.bias", (outputs,)
    yield "ln_f.weight", (width,)
    yield "ln_f.bias", (width,)
    yield "lm_head.weight", (MINI_VOCABULARY, width)


def draw(bits, shape):
    """Numbers of mean 0 and deviation 1: sums of 12 uniform ones. All operations are exact, so that
    every machine writes the same file."""
    count = int(np.prod(shape))
    parts = bits.random_raw(3 * count).view(np.uint16).reshape(count, 12).astype(np.int64)
    return ((parts.sum(axis=1) - 6 * 65535) / 65536).reshape(shape)


def mini_weights():
    """Yields the parameters' names and values."""
    bits = np.random.PCG64(2)  # with this seed, no step of the ground truth raises the loss by 1 %
    for name, shape in mini_shapes():
        deviation = (0.05 if len(shape) == 1 else
                     0.02 / 8 ** 0.5 if name.endswith("c_proj.weight") else 0.02)
        mean = 1.0 if re.search(r"ln_.\.weight", name) else 0.0
        yield name, (mean + deviation * draw(bits, shape)).astype(np.float32)


def write_mini():
    length = MINI_LENGTH
    square = (MINI_BATCH, 1, length, length)
    with open(MINI, "wb") as file:
        for constant in (np.arange(length), np.ones(square, bool),
                         np.broadcast_to(np.tri(length, dtype=bool), square)):
            file.write(constant.tobytes())
        for _, values in mini_weights():
            file.write(values.tobytes())


#===------------------------------------------------------------------------===#
# The archive
#===------------------------------------------------------------------------===#


def pack():
    """Writes the archive, and has git ignore what it contains."""
    files = sorted(file for folder in PACKED for kind in KINDS
                   for file in DATA.glob(f"{folder}/{kind}"))
    names = [file.relative_to(DATA).as_posix() for file in files]
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w") as archive:
        for file, name in zip(files, names):
            entry = tarfile.TarInfo(name)
            entry.size = file.stat().st_size
            archive.addfile(entry, io.BytesIO(file.read_bytes()))
    ARCHIVE.write_bytes(lzma.compress(packed.getvalue(), filters=FILTERS))
    ignored = [".restored", MINI.relative_to(DATA).as_posix(), *names]
    (DATA / ".gitignore").write_text("# scripts/test-data.py writes these files, and with --pack this list.\n" +
                                     "".join(f"/{name}\n" for name in ignored))


def unpack():
    with tarfile.open(ARCHIVE) as archive:
        for entry in archive:
            target = DATA / entry.name
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(archive.extractfile(entry).read())


if __name__ == "__main__":
    if sys.argv[1:] == ["--pack"]:
        pack()
    elif not sys.argv[1:]:
        unpack()
        write_mini()
    else:
        sys.exit(__doc__)
