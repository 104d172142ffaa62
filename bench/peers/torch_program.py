"""Writes forward and backward of a case as linalg: torch_program.py CASE

Writes joint.mlir, joint.json and joint.npz, the initial parameters.
"""

import json
import sys
from pathlib import Path

import numpy as np
import torch

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "python"))

import zero
from torch_models import build

FOLDER = Path(sys.argv[1])


def main():
    sizes = json.loads((FOLDER / "case.json").read_text())
    model, _ = build(sizes, FOLDER)
    batch = {name: torch.from_numpy(np.load(FOLDER / f"{name}.npy")[:sizes["batch"]])
             for name in sizes["inputs"]}
    program = zero.from_torch(model.train(), batch, path=FOLDER / "joint.mlir")
    zero.save_weights(model, FOLDER / "joint.npz", program)


if __name__ == "__main__":
    main()
