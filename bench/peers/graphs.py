"""The graph of a case, for peers that train ONNX graphs."""

import json

import numpy as np
import onnx


def load_sizes(folder):
    """Returns the sizes of the case, with the names of its inputs and the number of threads."""
    return json.loads((folder / "case.json").read_text())


def load_graph(folder):
    """The graph and the names of its parameters."""
    model = onnx.load(folder / "model.onnx")
    return model, [t.name for t in model.graph.initializer if t.name.startswith("model.")]


def load_batch(folder):
    """Returns the arrays that the graph takes as inputs, keyed by name."""
    return {name: np.load(folder / f"{name}.npy") for name in load_sizes(folder)["inputs"]}
