"""The graph of a case, for peers that train ONNX graphs."""

import json

import numpy as np
import onnx


def load_graph(folder):
    """The graph and the names of its parameters."""
    model = onnx.load(folder / "model.onnx")
    return model, [t.name for t in model.graph.initializer if t.name.startswith("model.")]


def load_batch(folder):
    """The inputs of the graph by name."""
    names = json.loads((folder / "case.json").read_text())["inputs"]
    return {name: np.load(folder / f"{name}.npy") for name in names}
