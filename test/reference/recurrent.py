#!/usr/bin/env python3
"""Writes the graphs of recurrent models, and PyTorch's results for them, to test/data.

usage: recurrent.py [NAME ...]

Each graph ends in its loss and is an output of torch.onnx.export. The current exporter writes
lstm-tiny and gru-tiny; it creates LSTM and GRU nodes but unrolls an RNN into its steps. The legacy
exporter writes rnn-tiny and lstm-packed; its packed sequences become sequence_lens.
"""

import sys
import tempfile
import warnings
from pathlib import Path

import numpy as np
import onnx
import torch

DATA = Path(__file__).resolve().parent.parent / "data"
VOCABULARY, WIDTH, HIDDEN, BATCH, STEPS, CLASSES = 48, 12, 10, 8, 9, 5
UPDATES = 10


class Tagger(torch.nn.Module):
    """A label for each position, from both directions."""

    def __init__(self):
        super().__init__()
        self.embedding = torch.nn.Embedding(VOCABULARY, WIDTH)
        self.lstm = torch.nn.LSTM(WIDTH, HIDDEN, 2, batch_first=True, bidirectional=True)
        self.head = torch.nn.Linear(2 * HIDDEN, CLASSES)

    def forward(self, tokens, labels):
        states, _ = self.lstm(self.embedding(tokens))
        return torch.nn.functional.cross_entropy(self.head(states).flatten(0, 1), labels.flatten())


class Reader(torch.nn.Module):
    """A label for each sequence, from the last states of all layers and directions."""

    def __init__(self):
        super().__init__()
        self.embedding = torch.nn.Embedding(VOCABULARY, WIDTH)
        self.gru = torch.nn.GRU(WIDTH, HIDDEN, 2, bidirectional=True)
        self.head = torch.nn.Linear(4 * HIDDEN, CLASSES)

    def forward(self, tokens, labels):
        _, last = self.gru(self.embedding(tokens).transpose(0, 1))
        return torch.nn.functional.cross_entropy(self.head(last.transpose(0, 1).flatten(1)), labels)


class Start(torch.nn.Module):
    """A state as a named module, which all trained tensors must have."""

    def __init__(self):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.randn(2, 1, HIDDEN))


class Predictor(torch.nn.Module):
    """The next token, with a trained initial state."""

    def __init__(self):
        super().__init__()
        self.embedding = torch.nn.Embedding(VOCABULARY, WIDTH)
        self.start = Start()
        self.rnn = torch.nn.RNN(WIDTH, HIDDEN, 2, nonlinearity="relu", batch_first=True)
        self.head = torch.nn.Linear(HIDDEN, VOCABULARY)

    def forward(self, tokens, labels):
        states, _ = self.rnn(self.embedding(tokens), self.start.weight.expand(2, BATCH, HIDDEN))
        return torch.nn.functional.cross_entropy(self.head(states).flatten(0, 1), labels.flatten())


class Packed(torch.nn.Module):
    """One label per sequence, for sequences of different lengths. Computed from the last state and
    the mean of all states."""

    def __init__(self):
        super().__init__()
        self.embedding = torch.nn.Embedding(VOCABULARY, WIDTH)
        self.lstm = torch.nn.LSTM(WIDTH, HIDDEN, batch_first=True, bidirectional=True)
        self.head = torch.nn.Linear(4 * HIDDEN, CLASSES)

    def forward(self, tokens, lengths, labels):
        rnn = torch.nn.utils.rnn
        packed = rnn.pack_padded_sequence(self.embedding(tokens), lengths, batch_first=True)
        states, (last, _) = self.lstm(packed)
        states, _ = rnn.pad_packed_sequence(states, batch_first=True, total_length=STEPS)
        seen = torch.cat([last[0], last[1], states.mean(1)], 1)
        return torch.nn.functional.cross_entropy(self.head(seen), labels)


def batch(model):
    tokens = torch.randint(0, VOCABULARY, (BATCH, STEPS))
    if isinstance(model, Packed):
        lengths = torch.randint(1, STEPS + 1, (BATCH,)).sort(descending=True).values
        lengths[0] = STEPS
        return {"tokens": tokens, "lengths": lengths,
                "labels": torch.randint(0, CLASSES, (BATCH,))}
    labels = {Tagger: torch.randint(0, CLASSES, (BATCH, STEPS)),
              Reader: torch.randint(0, CLASSES, (BATCH,)),
              Predictor: torch.randint(0, VOCABULARY, (BATCH, STEPS))}[type(model)]
    return {"tokens": tokens, "labels": labels}


def export(model, inputs, legacy):
    """The model's file, without folding or renaming."""
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        path = str(Path(folder) / "model.onnx")
        how = {"dynamo": False, "do_constant_folding": False} if legacy else {
            "dynamo": True, "optimize": False, "external_data": False, "verbose": False}
        torch.onnx.export(model, tuple(inputs.values()), path, input_names=list(inputs),
                          output_names=["loss"], **how)
        file = onnx.load(path)
    for node in file.graph.node:  # removes source paths of the exporter
        del node.metadata_props[:]
        node.doc_string = ""
    del file.graph.value_info[:]
    return file


def losses(model, inputs, optimizer):
    weights = {k: v.clone() for k, v in model.state_dict().items()}
    found = []
    for _ in range(UPDATES + 1):
        optimizer.zero_grad()
        loss = model(**inputs)
        loss.backward()
        found.append(loss.item())
        optimizer.step()
    model.load_state_dict(weights)
    return np.array(found)


def ground_truth(model, inputs):
    model.zero_grad()
    loss = model(**inputs)
    loss.backward()
    truth = {f"input.{name}": value.numpy() for name, value in inputs.items()}
    truth |= {f"grad.{name}": p.grad.numpy().copy() for name, p in model.named_parameters()}
    truth["parameters"] = np.array(sorted(name for name, _ in model.named_parameters()))
    truth["loss"] = np.float32(loss.item())
    truth["adamw_losses"] = losses(model, inputs, torch.optim.AdamW(
        model.parameters(), lr=1e-3, weight_decay=0.01))
    truth["sgdm_losses"] = losses(model, inputs, torch.optim.SGD(
        model.parameters(), lr=0.05, momentum=0.9))
    return truth


GRAPHS = {"lstm-tiny": (Tagger, False), "gru-tiny": (Reader, False),
          "rnn-tiny": (Predictor, True), "lstm-packed": (Packed, True)}


def main():
    torch.set_num_threads(1)
    for seed, (name, (kind, legacy)) in enumerate(GRAPHS.items()):
        if sys.argv[1:] and name not in sys.argv[1:]:
            continue
        torch.manual_seed(seed)
        model = kind().train()
        inputs = batch(model)
        folder = DATA / name
        folder.mkdir(exist_ok=True)
        onnx.save(export(model, inputs, legacy), folder / "model.onnx")
        np.savez_compressed(folder / "groundtruth.npz", **ground_truth(model, inputs))


if __name__ == "__main__":
    main()
