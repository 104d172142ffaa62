"""The models whose steps are timed. They have no weights: zeroc --init draws them."""

import shutil
import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from report import Missing
from zero_test import Failed, run_tool

HERE = Path(__file__).resolve().parent
INIT = "--init=uniform:0.035"  # a deviation of 0.02; faster to draw than normal numbers


def graph_of(context, name):
    """A graph of make_graphs.py: one of the bundle, or made where there is the ONNX library."""
    folder = HERE / "graphs"
    if not folder.exists():
        folder = context.work / "graphs"
        try:
            run_tool(sys.executable, HERE / "make_graphs.py", folder)
        except Failed as failure:
            raise Missing(f"{name}: {str(failure).strip().splitlines()[-1]}") from None
    return folder / f"{name}.onnx"


@dataclass
class Sizes:
    """Of a GPT-2, or with `groups` of a Llama: heads of keys, and an own matrix of classes."""
    layers: int
    width: int
    heads: int
    vocabulary: int
    sequence: int
    batch: int
    groups: int = 0
    hidden: int = 0

    def parameters(self):
        """Elements of the matrices that are multiplied, of all layers and of the classes."""
        if not self.groups:
            return 12 * self.layers * self.width ** 2 + self.vocabulary * self.width
        attention = 2 * self.width ** 2 * (1 + self.groups / self.heads)
        return self.layers * (attention + 3 * self.width * self.hidden) + self.vocabulary * self.width

    def flops_of_step(self):
        """Operations of the matrix products of a step, forward and backward, without recomputation
        and without a discount for causality: the convention of the PaLM paper (arXiv 2204.02311)."""
        attention = 12 * self.layers * self.sequence * self.width
        return (6 * self.parameters() + attention) * self.batch * self.sequence

    def products(self):
        """Rows, columns and depth of the products of a step: forward, and the gradients of inputs and
        weights."""
        tokens, width = self.batch * self.sequence, self.width
        forward = [(3 * width, width), (width, width), (4 * width, width), (width, 4 * width)]
        for columns, depth in forward:
            yield from ((tokens, columns, depth), (tokens, depth, columns), (depth, columns, tokens))


class Model:
    """A graph, its sizes and random tokens."""

    def __init__(self, name, sizes, work, graph=None):
        """`graph`: returns the path of a graph; without it a GPT-2 is made."""
        self.name, self.sizes, self.work, self.graph = name, sizes, work, graph
        self.path = work / "model.onnx"

    def write(self):
        self.work.mkdir(parents=True, exist_ok=True)
        shape = (self.sizes.batch, self.sizes.sequence)
        tokens = np.random.default_rng(0).integers(0, self.sizes.vocabulary, shape, dtype=np.int64)
        for key in ("input_ids", "labels"):
            np.save(self.work / f"{key}.npy", tokens)
        if self.graph:
            shutil.copy(self.graph(), self.path)
        elif not self.path.exists():
            sizes = {name: value for name, value in vars(self.sizes).items() if value}
            run_tool("zero-translate", "--make-gpt=" + ",".join(f"{k}={v}" for k, v in sizes.items()),
                     "-o", self.path)

    def compile(self, name, *flags):
        """The path of an executable for one rank on a GPU."""
        executable = self.work / f"{name}.zexe"
        run_tool("zeroc", self.path, INIT, "--device=cuda", "--optimizer=adamw", "--lr=1e-4", "--ranks=1",
                 *flags, "-o", executable)
        return executable

    @property
    def data_flag(self):
        return "--data=" + ",".join(f"{key}={self.work / key}.npy" for key in ("input_ids", "labels"))


LLAMA = Sizes(4, 4096, 32, 32000, 2048, 2, groups=8, hidden=14336)
LLAMA_IF_QUICK = Sizes(1, 64, 4, 128, 32, 2, groups=2, hidden=96)
GPT2 = {"gpt2-124m": Sizes(12, 768, 12, 50304, 1024, 8), "gpt2-1.5b": Sizes(48, 1600, 25, 50304, 1024, 8)}
IF_QUICK = {"gpt2-124m": Sizes(1, 64, 2, 128, 32, 2)}


def gpt2(context, name):
    sizes = (IF_QUICK if context.quick else GPT2)[name]
    return Model(name, sizes, context.work / "speed" / name)


def llama(context):
    """Four layers of the width of Llama 3 8B."""
    name = "llama-small" if context.quick else "llama-4-layers"
    return Model(name, LLAMA_IF_QUICK if context.quick else LLAMA, context.work / "speed" / name,
                 lambda: graph_of(context, name))
