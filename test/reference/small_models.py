"""Exports small models of calls that ONNX cannot express, and trains them in PyTorch.

usage: small_models.py

Writes test/data/soft-targets and test/data/embedding-bags: NAME.onnx, and in groundtruth.npz
NAME/input.*, NAME/grad.* and NAME/losses of AdamW's steps.
"""

from pathlib import Path

import numpy as np
import onnx
import torch
from torch import nn

DATA = Path(__file__).resolve().parent.parent / "data"
UPDATES = 5


class SoftTargets(nn.Module):
    """Cross-entropy with probabilities as targets; classes along dimension 1."""

    def __init__(self, reduction="mean", smoothing=0.0, weighted=False, sequence=False):
        super().__init__()
        self.fc = nn.Linear(8, 5)
        self.reduction, self.smoothing, self.sequence = reduction, smoothing, sequence
        self.register_buffer("classes", torch.rand(5) + 0.5 if weighted else None)

    def forward(self, x, targets):
        scores = self.fc(x)
        if self.sequence:
            scores = scores.transpose(1, 2)
        loss = nn.functional.cross_entropy(scores, targets, self.classes, reduction=self.reduction,
                                           label_smoothing=self.smoothing)
        return loss if self.reduction != "none" else (loss * loss).sum()

    def inputs(self):
        x = torch.randn(4, 7, 8) if self.sequence else torch.randn(4, 8)
        shape = (4, 5, 7) if self.sequence else (4, 5)
        return {"x": x, "targets": torch.softmax(2 * torch.randn(shape), 1)}


class EmbeddingBags(nn.Module):
    """Bags of one size, or with `starts` of any size; one bag is empty."""

    def __init__(self, mode, starts=None, weighted=False, **options):
        super().__init__()
        self.bag = nn.EmbeddingBag(10, 6, mode=mode, **options)
        self.fc = nn.Linear(6, 3)
        self.starts, self.weighted = starts, weighted

    def forward(self, x, labels, extra=None):
        if self.weighted:
            bags = self.bag(x, per_sample_weights=extra)
        else:
            bags = self.bag(x, extra)
        return nn.functional.cross_entropy(self.fc(bags), labels)

    def inputs(self):
        inputs = {"x": torch.randint(0, 10, (12,) if self.starts else (4, 3)),
                  "labels": torch.randint(0, 3, (4,))}
        if self.weighted:
            inputs["extra"] = torch.randn(4, 3)
        if self.starts:
            inputs["extra"] = torch.tensor(self.starts)
        return inputs


MODELS = {
    "soft-targets": {
        "mean": lambda: SoftTargets(),
        "mean-smooth": lambda: SoftTargets(smoothing=0.1),
        "mean-weighted": lambda: SoftTargets(weighted=True),
        "sum-weighted-smooth": lambda: SoftTargets("sum", 0.2, weighted=True),
        "none-weighted-smooth": lambda: SoftTargets("none", 0.1, weighted=True),
        "sequence": lambda: SoftTargets(smoothing=0.1, weighted=True, sequence=True),
    },
    "embedding-bags": {
        "mean-offsets": lambda: EmbeddingBags("mean", [0, 3, 3, 9]),
        "max": lambda: EmbeddingBags("max"),
        "sum-weights": lambda: EmbeddingBags("sum", weighted=True),
        "mean-padded": lambda: EmbeddingBags("mean", padding_idx=2),
        "max-last-offset": lambda: EmbeddingBags("max", [0, 2, 2, 9, 12], include_last_offset=True),
    },
}


def strip(nodes):
    """Keeps only the call of the exporter's metadata, because the rest names local files."""
    for node in nodes:
        kept = [entry for entry in node.metadata_props if entry.key.endswith("fx_node")]
        del node.metadata_props[:]
        node.metadata_props.extend(kept)
        for attribute in node.attribute:
            strip(attribute.g.node)


def export(model, inputs, path):
    torch.onnx.export(model, tuple(inputs.values()), str(path), dynamo=True, optimize=False,
                      external_data=False, input_names=list(inputs), output_names=["loss"],
                      verbose=False)
    proto = onnx.load(path)
    strip(proto.graph.node)
    onnx.save(proto, path)


def train(model, inputs):
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2, weight_decay=0.01)
    losses, found = [], {}
    for step in range(UPDATES + 1):
        optimizer.zero_grad()
        loss = model(**inputs)
        loss.backward()
        if step == 0:
            found = {f"grad.{n}": p.grad.numpy().copy() for n, p in model.named_parameters()}
        optimizer.step()
        losses.append(loss.item())
    return {**found, "losses": losses, **{f"input.{n}": v.numpy() for n, v in inputs.items()}}


def main():
    torch.set_num_threads(1)
    for folder, models in MODELS.items():
        (DATA / folder).mkdir(exist_ok=True)
        truth = {}
        for name, make in models.items():
            torch.manual_seed(0)
            model = make().train()
            inputs = model.inputs()
            export(model, inputs, DATA / folder / f"{name}.onnx")
            truth |= {f"{name}/{key}": value for key, value in train(model, inputs).items()}
        np.savez_compressed(DATA / folder / "groundtruth.npz", **truth)


if __name__ == "__main__":
    main()
