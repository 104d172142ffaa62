"""Graphs of zero.export: what the exporter would drop or call by two names, and what the comparison
with the module says.

usage: check_export_graphs.py WORK
"""

import json
import sys
from pathlib import Path

import numpy as np
import onnx
import torch
from torch import nn
from torch.nn import functional

import zero
from check_trees import check_raises
from zero_test import Checks, run_tool

WORK = Path(sys.argv[1])
LR, STEPS = 0.1, 4


class Centered(nn.Module):
    """Buffers that forward reads first and writes last: one with a value that reads another, one
    that counts, and one that only watches."""

    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(6, 4)
        self.register_buffer("center", torch.zeros(4))
        self.register_buffer("decay", torch.full((1,), 0.5))
        self.register_buffer("count", torch.zeros((), dtype=torch.int64))
        self.register_buffer("watched", torch.ones(()))

    def forward(self, x):
        y = self.layer(x)
        loss = ((y - self.center)**2).mean() + 0 * self.count
        self.center.copy_(self.decay * self.center + (1 - self.decay) * y.detach().mean(0))
        self.decay.mul_(0.9)
        self.count += 1
        self.watched.mul_(0.5)
        return loss


def check_buffers(checks):
    """Four steps of Zero are those of PyTorch, and so are the buffers after them."""
    module, x = Centered(), torch.randn(8, 6) + 1
    before = {name: value.clone() for name, value in module.state_dict().items()}
    export = zero.export(module, {"x": x}, path=WORK / "centered.onnx")
    checks.that(len(export.notes) == 2 and "'watched', which the loss does not" in export.notes[0]
                and "'count', on which the loss depends" in export.notes[1], f"{export.notes}")
    checks.that(all(torch.equal(value, before[name])
                    for name, value in module.state_dict().items()), "the module was changed")
    outputs = [value.name for value in onnx.load(export.path).graph.output]
    checks.that(outputs == ["loss"], f"outputs: {outputs}")
    np.savez(WORK / "data.npz", x=x.numpy())
    run_tool("zero-run", export.path, "--optimizer=sgd", f"--lr={LR}", f"--steps={STEPS}",
             f"--data={WORK / 'data.npz'}", f"--log={WORK / 'log'}",
             f"--save={WORK / 'w.safetensors'}")
    losses = [json.loads(line)["loss"] for line in (WORK / "log").read_text().splitlines()]
    optimizer, expected = torch.optim.SGD(module.parameters(), lr=LR), []
    for _ in range(STEPS):
        optimizer.zero_grad()
        loss = module(x)
        loss.backward()
        optimizer.step()
        expected.append(loss.item())
    checks.that(np.allclose(losses, expected, rtol=1e-5), f"{losses}, not {expected}")
    trained = zero.read_weights(WORK / "w.safetensors", export)
    for name in ("center", "decay", "layer.weight"):
        checks.that(torch.allclose(trained[name], module.state_dict()[name], 1e-5),
                    f"{name}: {trained[name]}")


class Joined(nn.Module):
    """Inputs that are called like nodes and values of the exporter."""

    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(9, 1)

    def forward(self, cat, linear, val_0, loss):
        y = self.layer(torch.cat([cat, linear, val_0], 1))[:, 0]
        return functional.mse_loss(y * 2.0, loss)


class Scaled(nn.Module):
    def __init__(self):
        super().__init__()
        self.scale = nn.Parameter(torch.ones(3))

    def forward(self, scale):
        return (self.scale * scale).sum()


def check_names(checks):
    batch = {name: torch.randn(4, 3) for name in ("cat", "linear", "val_0")}
    batch["loss"] = torch.randn(4)
    export = zero.export(Joined(), batch, path=WORK / "names.onnx")
    graph = onnx.load(export.path).graph
    names = [value.name for value in graph.input]
    made = [name for node in graph.node for name in node.output]
    checks.that(names == list(batch) and not set(made) & set(names) and len(set(made)) == len(made),
                f"{names}, {made}")
    export = zero.export(nn.Linear(3, 2), {"input": torch.randn(4, 3), "labels": torch.randn(4, 2)},
                         loss="mse_loss", path=WORK / "names.onnx", dynamic_batch=True)
    checks.that(not export.notes, f"{export.notes}")
    check_raises(checks, "tensor", ["the input 'scale' has the name of a tensor of the module"],
                 zero.export, Scaled(), {"scale": torch.randn(4, 3)}, path=WORK / "names.onnx")


class Sums(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(6, 2)

    def forward(self, x):
        a, b = (self.layer(x) - 200).unbind(1)
        return -torch.logaddexp(a, b).mean()


class Cancelling(nn.Module):
    """A sum whose terms cancel: float32 has few digits of it in any order."""

    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(4096))

    def forward(self, x):
        return (x * self.weight).sum(1).square().mean()


def check_comparison(checks):
    x = torch.randn(4, 6)
    export = zero.export(Sums(), {"x": x}, path=WORK / "sums.onnx")
    checks.that(not export.notes, f"{export.notes}")
    check_raises(checks, "infinite", ["the module's own loss of the example is inf"],
                 zero.export, nn.Linear(2, 1), torch.full((2, 2), 3e38), loss=lambda y, _:
                 (y * 10).sum().abs() + torch.inf, path=WORK / "infinite.onnx")
    calls = iter([torch.inf] + [1.0] * 9)
    check_raises(checks, "only in Zero", ["the loss: expected", "got one that is infinite or NaN"],
                 zero.export, nn.Linear(6, 2), x, path=WORK / "infinite.onnx",
                 loss=lambda y, _: y.square().mean() * next(calls))
    terms = torch.randn(2, 4096) * 1e3
    terms[:, 1::2] = -terms[:, ::2] * (1 + 1e-6 * torch.rand(2, 2048))
    export = zero.export(Cancelling(), {"x": terms}, path=WORK / "cancelling.onnx", tolerance=1e-6)
    checks.that(not export.notes, f"{export.notes}")


def main():
    WORK.mkdir(parents=True, exist_ok=True)
    torch.set_num_threads(1)
    torch.manual_seed(0)
    checks = Checks()
    check_buffers(checks)
    check_names(checks)
    check_comparison(checks)
    checks.finish()


if __name__ == "__main__":
    main()
