"""Moves the weights of a model to a file beside it, small constants to the model.

Usage: split_data.py MODEL.onnx OUT.onnx
"""

import sys
from pathlib import Path

import onnx

model, target = onnx.load(sys.argv[1]), Path(sys.argv[2])
target.parent.mkdir(parents=True, exist_ok=True)
onnx.save(model, str(target), save_as_external_data=True, location="weights.bin",
          size_threshold=(1 << 16) + 64)  # counts the header of a bytes object
