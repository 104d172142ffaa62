"""The GPT-2 models whose steps are timed."""

import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import onnx

from zero_test import run_tool

TEST = Path(__file__).resolve().parent.parent


@dataclass
class Sizes:
    layers: int
    width: int
    heads: int
    vocabulary: int
    sequence: int
    batch: int

    def flops_of_step(self):
        """Operations of the matrix products of a step, forward and backward, without recomputation
        and without a discount for causality: the convention of the PaLM paper (arXiv 2204.02311)."""
        linear = 6 * (12 * self.layers * self.width ** 2 + self.vocabulary * self.width)
        attention = 12 * self.layers * self.sequence * self.width
        return (linear + attention) * self.batch * self.sequence


def sizes_of(path):
    """The sizes of a GPT-2 graph."""
    graph = onnx.load(path, load_external_data=False).graph
    tensors = {tensor.name: tensor for tensor in graph.initializer}
    batch, sequence = (dim.dim_value for dim in next(
        value for value in graph.input if value.name == "input_ids").type.tensor_type.shape.dim)
    vocabulary, width = tensors["model.lm_head.weight"].dims
    layers = sum(name.endswith("attn.c_attn.weight") for name in tensors)
    # Keys are reshaped to batch, heads, width of a head, sequence.
    shapes = [onnx.numpy_helper.to_array(tensor) for tensor in graph.initializer
              if tensor.data_type == onnx.TensorProto.INT64 and list(tensor.dims) == [4] and not tensor.external_data]
    heads = next(int(shape[1]) for shape in shapes if shape[0] == batch and shape[1] * shape[2] == width)
    return Sizes(layers, width, heads, vocabulary, sequence, batch)


class Model:
    """A graph, its sizes and random tokens."""

    def __init__(self, name, path, sizes, work):
        self.name, self.path, self.sizes, self.work = name, path, sizes, work

    def write(self):
        """Writes the tokens."""
        self.work.mkdir(parents=True, exist_ok=True)
        shape = (self.sizes.batch, self.sizes.sequence)
        tokens = np.random.default_rng(0).integers(0, self.sizes.vocabulary, shape, dtype=np.int64)
        for key in ("input_ids", "labels"):
            np.save(self.work / f"{key}.npy", tokens)

    @property
    def data_flag(self):
        return "--data=" + ",".join(f"{key}={self.work / key}.npy" for key in ("input_ids", "labels"))


class Made(Model):
    """A graph that is made, with random weights."""

    def __init__(self, name, sizes, work):
        super().__init__(name, work / "model.onnx", sizes, work)

    def write(self):
        super().write()
        if not self.path.exists():
            run_tool(sys.executable, TEST / "support/make_gpt2.py", self.path,
                     *(f"--{name}={value}" for name, value in vars(self.sizes).items()))
