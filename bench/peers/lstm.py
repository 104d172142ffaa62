"""A language model of recurrent layers in PyTorch.

usage: lstm.py export FOLDER CELL STEPS      writes model.onnx, tokens.npy and labels.npy
       lstm.py train FOLDER CELL STEPS COUNT REPORT
"""

import sys
from pathlib import Path

import numpy as np
import torch

from measure import measure

VOCABULARY, WIDTH, LAYERS, BATCH = 1000, 256, 2, 16


class Model(torch.nn.Module):
    """The mean loss of the next tokens."""

    def __init__(self, cell):
        super().__init__()
        self.embedding = torch.nn.Embedding(VOCABULARY, WIDTH)
        self.rnn = getattr(torch.nn, cell)(WIDTH, WIDTH, LAYERS, batch_first=True)
        self.head = torch.nn.Linear(WIDTH, VOCABULARY)

    def forward(self, tokens, labels):
        states, _ = self.rnn(self.embedding(tokens))
        return torch.nn.functional.cross_entropy(self.head(states).flatten(0, 1), labels.flatten())


def main():
    command, folder, cell, steps = sys.argv[1], Path(sys.argv[2]), sys.argv[3], int(sys.argv[4])
    torch.set_num_threads(1)
    torch.manual_seed(0)
    model = Model(cell).train()
    batch = {name: torch.randint(0, VOCABULARY, (BATCH, steps)) for name in ("tokens", "labels")}
    if command == "export":
        torch.onnx.export(model, tuple(batch.values()), folder / "model.onnx", dynamo=True,
                          optimize=False, external_data=False, verbose=False,
                          input_names=list(batch), output_names=["loss"])
        for name, value in batch.items():
            np.save(folder / f"{name}.npy", value.numpy())
        return
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4, weight_decay=0.01, fused=True)

    def step():
        optimizer.zero_grad()
        loss = model(**batch)
        loss.backward()
        optimizer.step()
        return loss.item()

    measure(step, int(sys.argv[5]), sys.argv[6])


if __name__ == "__main__":
    main()
