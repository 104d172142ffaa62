"""Writes CASE/model.onnx: the same model and initial weights that the PyTorch peers train.

usage: export.py CASE
"""

import sys
from pathlib import Path

import torch

from torch_models import build
from torch_train import load_case


def main():
    folder = Path(sys.argv[1])
    sizes, inputs = load_case(folder, rank=0)
    model, _ = build(sizes, folder)
    # These must be different objects; otherwise the exporter merges two inputs.
    example = {name: array.clone() for name, array in inputs.items()}
    torch.onnx.export(model.train(), (), folder / "model.onnx", kwargs=example, dynamo=True,
                      optimize=False, external_data=True, input_names=list(example),
                      output_names=["loss"])


if __name__ == "__main__":
    main()
