"""Checks the import of a real graph: check_graph.py FOLDER IMPORTED SELECTED

IMPORTED and SELECTED are MLIR files, before and after the choice of parameters.
Every reference to data must name exactly the initializer's bytes, and the chosen
parameters must be those that PyTorch trained."""

import pathlib
import re
import sys

import numpy as np
import onnx
from onnx import numpy_helper

REFERENCE = re.compile(
    r'zero\.(state +constant|parameter) @("[^"]*"|\S+) : .*#zero\.data<"(.*?)", (\d+), (\d+)>'
)


def references(text):
    """(kind, name, file, offset, bytes) of every symbol with data."""
    for kind, name, file, offset, size in REFERENCE.findall(text):
        yield kind.split()[0], name.strip('"'), file, int(offset), int(size)


def check_data(folder, text, initializers):
    count = 0
    for _, name, file, offset, size in references(text):
        with open(folder / file, "rb") as data:
            data.seek(offset)
            if data.read(size) != initializers[name]:
                sys.exit(f"{name}: the reference does not hold its bytes")
        count += 1
    return count


def expected_parameters(folder, model):
    """PyTorch's list or, without one, the names of all modules' tensors."""
    if (folder / "groundtruth.npz").exists():
        arrays = np.load(folder / "groundtruth.npz")
        if "parameters" in arrays.files:
            return set(arrays["parameters"])
    return {tensor.name for tensor in model.graph.initializer if "." in tensor.name}


def main():
    folder, imported, selected = (pathlib.Path(argument) for argument in sys.argv[1:])
    model = onnx.load(folder / "model.onnx")
    tensors = {t.name: numpy_helper.to_array(t).tobytes() for t in model.graph.initializer}
    data = check_data(folder, imported.read_text(), tensors)
    chosen = {r[1] for r in references(selected.read_text()) if r[0] == "parameter"}
    expected = expected_parameters(folder, model)
    if chosen != expected:
        sys.exit(f"extra: {sorted(chosen - expected)}, missing: {sorted(expected - chosen)}")
    print(f"{data} references, {len(chosen)} parameters hold")


if __name__ == "__main__":
    main()
