"""Programs and names files that zero.from_torch writes, and its errors.

usage: check_torch.py WORK

Each program is parsed by mlir-opt, which does not know all operations of torch-mlir. The joint
graph is compared with PyTorch's own gradients before it is lowered.
"""

import json
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import torch
from torch import nn
from torch.nn import functional

import zero
from check_trees import check_raises
from zero.torch_export import _Loss, _trace_trained
from zero_test import Checks

WORK = Path(sys.argv[1])


class Tied(nn.Module):
    """A tied table, running statistics, a mask that is not saved, both kinds of attention, and
    changes in place."""

    def __init__(self):
        super().__init__()
        self.table = nn.Embedding(16, 8)
        self.norm = nn.BatchNorm1d(8)
        self.attention = nn.MultiheadAttention(8, 2, batch_first=True)
        self.head = nn.Linear(8, 16)
        self.head.weight = self.table.weight
        self.frozen = nn.Parameter(torch.ones(8), requires_grad=False)
        self.unused = nn.Parameter(torch.ones(3))
        self.register_buffer("mask", torch.tril(torch.ones(5, 5, dtype=torch.bool)),
                             persistent=False)
        self.register_buffer("average", torch.zeros(8))

    def forward(self, tokens, labels):
        x = self.norm(self.table(tokens).transpose(1, 2)).transpose(1, 2) * self.frozen
        heads = x[:, None]
        x = x + functional.scaled_dot_product_attention(heads, heads, heads, is_causal=True)[:, 0]
        x = x + self.attention(x, x, x, need_weights=False, attn_mask=~self.mask)[0]
        self.average = 0.9 * self.average + 0.1 * x.detach().mean((0, 1))
        x = (x * torch.tensor([2.0])).relu_()
        return functional.cross_entropy(self.head(x).flatten(0, 1), labels.flatten())


class Rounded(torch.autograd.Function):
    """A straight-through estimator with a backward of its own."""

    @staticmethod
    def forward(context, x):
        return torch.round(x)

    @staticmethod
    def backward(context, gradient):
        return 3 * gradient


class OwnGradients(nn.Module):
    """What an ONNX graph of the forward pass cannot express."""

    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(4, 4)

    def forward(self, x):
        y = self.layer(x)
        with torch.no_grad():
            scale = y.abs().mean()
        return (Rounded.apply(y) * y.detach() / scale).sum()


class Counter(nn.Module):
    """The factor of a step depends on its number."""

    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(4))
        self.register_buffer("count", torch.tensor(1))

    def forward(self, x):
        self.count += 1
        return (x * self.weight / self.count).sum()


class Program:
    """An exported program: its names file, and the attributes of its arguments."""

    def __init__(self, module, example, name="joint", **options):
        path = zero.from_torch(module, example, path=WORK / f"{name}.mlir", **options)
        text = path.read_text()
        names = json.loads(path.with_suffix(".json").read_text())
        self.roles = {arg["name"]: arg["role"] for arg in names["args"]}
        self.shapes = {arg["name"]: (arg["dtype"], *arg["shape"]) for arg in names["args"]}
        self.outputs, self.loss, self.gradients = names["outputs"], names["loss"], names["grad_of"]
        self.next, attrs = {}, re.search(r"arg_attrs = \[(.*?)\], function_type", text)
        for name, entry in zip(self.roles, re.findall(r"\{.*?\}", attrs[1]) if attrs else []):
            if alias := re.search(r"tf.aliasing_output = (\d+)", entry):
                self.next[name] = self.outputs[int(alias[1])]
        subprocess.run(["mlir-opt", "--allow-unregistered-dialect", path, "-o", "/dev/null"],
                       check=True)


def make_tied():
    torch.manual_seed(0)
    return Tied().train(), {"tokens": torch.randint(0, 16, (3, 5)),
                            "labels": torch.randint(0, 16, (3, 5))}


def check_names(checks):
    module, example = make_tied()
    before = {name: value.clone() for name, value in module.state_dict().items()}
    got = Program(module, example)
    trained = [name for name, value in module.named_parameters()
               if value.requires_grad and name != "unused"]
    changed = ["average", "norm.running_mean", "norm.running_var"]
    roles = {**{name: "parameter" if name in trained else "buffer"
                for name, _ in module.named_parameters() if name != "unused"},
             "mask": "buffer", **dict.fromkeys(changed, "buffer"),
             "tokens": "data", "labels": "data"}
    checks.that(list(got.roles.items()) == list(roles.items()), f"roles: {got.roles}")
    checks.that("head.weight" not in got.roles and got.roles["frozen"] == "buffer", "tied, frozen")
    checks.that(got.next == {name: f"{name}.new" for name in changed}, f"buffers: {got.next}")
    checks.that(got.outputs == [*(f"{n}.new" for n in changed), "loss",
                                *(f"{n}.grad" for n in trained)] and got.loss == "loss",
                f"results: {got.outputs}")
    checks.that(got.gradients == {f"{n}.grad": n for n in trained}, f"{got.gradients}")
    checks.that(got.shapes["head.bias"] == ("float32", 16) and
                got.shapes["tokens"] == ("int64", 3, 5), f"shapes: {got.shapes}")
    after = module.state_dict()
    checks.that(module.training and module.head.weight is module.table.weight and
                all(torch.equal(after[name], value) for name, value in before.items()) and
                all(value.grad is None for value in module.parameters()), "module was changed")


def check_graph(checks):
    """The joint graph has PyTorch's loss, gradients and buffers."""
    module, example = make_tied()
    wrapper = _Loss(module, None, example, by_name=True)
    graph, signature = _trace_trained(wrapper, tuple(example.values()))
    state = [getattr(wrapper, name) for name in (*signature.parameters, *signature.buffers)]
    got = [value.detach() for value in graph(*state, *example.values())]
    loss = module(**example)
    loss.backward()
    expected = [module.average, module.norm.running_mean, module.norm.running_var,
                module.norm.num_batches_tracked, loss,
                *(value.grad for value in module.parameters() if value.grad is not None)]
    checks.that(len(got) == len(expected), f"results: {len(got)}")
    for index, (actual, wanted) in enumerate(zip(got, expected)):
        checks.that(torch.allclose(actual, wanted.detach(), rtol=1e-4, atol=1e-6),
                    f"result {index}: {actual} {wanted}")


def check_own_gradients(checks):
    """Functions with a backward of their own and no_grad() have PyTorch's gradients."""
    torch.manual_seed(0)
    module, x = OwnGradients(), torch.randn(3, 4) * 3
    wrapper = _Loss(module, None, ["x"], by_name=False)
    graph, _ = _trace_trained(wrapper, (x,))
    got = graph(wrapper.p0, wrapper.p1, x)
    loss = module(x)
    loss.backward()
    for actual, wanted in zip(got, (loss, module.layer.weight.grad, module.layer.bias.grad)):
        checks.that(torch.allclose(actual, wanted, rtol=1e-5), f"own gradients: {actual} {wanted}")
    checks.that(module.layer.bias.grad.abs().sum() > 0, "no gradient")


def check_examples(checks):
    """A loss beside the module, inputs by position, one tensor given twice, evaluation mode."""
    linear = nn.Sequential(nn.Linear(4, 4), nn.BatchNorm1d(4), nn.Dropout(0.1)).eval()
    x = torch.ones(3, 4)
    got = Program(linear, (x, x),
                  loss=lambda module, inputs, target: functional.mse_loss(module(inputs), target))
    checks.that(list(got.roles)[-2:] == ["inputs", "target"] and not got.next and
                got.outputs[0] == "loss", f"loss: {got.roles} {got.outputs}")
    lstm = Program(nn.LSTM(4, 4), torch.ones(5, 3, 4),
                   loss=lambda module, x: module(x)[0].square().mean())
    checks.that(len(set(lstm.outputs)) == 5, f"equal gradients: {lstm.outputs}")
    counter = Program(Counter(), x)
    checks.that(counter.next == {"count": "count.new"}, f"a counter that is read: {counter.next}")
    one = Program(linear, x, loss=lambda module, *parts: module(parts[0]).sum())
    checks.that(list(one.roles)[-1] == "parts.0", f"variable number: {one.roles}")


def check_weights(checks):
    module, example = make_tied()
    saved = dict(np.load(zero.save_weights(module, WORK / "module.npz")))
    wanted = dict([*module.named_parameters(), *module.named_buffers()])
    checks.that(list(saved) == list(wanted), f"module: {list(saved)}")
    state = dict(np.load(zero.save_weights(module.state_dict(), WORK / "state.npz")))
    checks.that(state.keys() - saved.keys() == {"head.weight"} and
                saved.keys() - state.keys() == {"mask"}, f"state_dict: {list(state)}")
    checks.that(np.array_equal(saved["table.weight"], module.table.weight.detach().numpy()),
                "values")
    program = zero.from_torch(module, example, path=WORK / "weights.mlir")
    names = json.loads(program.with_suffix(".json").read_text())["args"]
    read = dict(np.load(zero.save_weights(module, WORK / "read.npz", program)))
    checks.that(list(read) == [arg["name"] for arg in names if arg["role"] != "data"] and
                wanted.keys() - read.keys() == {"unused", "norm.num_batches_tracked"},
                f"read: {list(read)}")
    check_raises(checks, "missing", ["expected an array for 'mask'", "weights.mlir"],
                 zero.save_weights, module.state_dict(), WORK / "x.npz", program)
    half = module.bfloat16()
    check_raises(checks, "bfloat16", ["'frozen' is bfloat16"], zero.save_weights, half,
                 WORK / "half.npz")
    zero.save_weights(half, WORK / "half.safetensors")


def check_errors(checks):
    module, example = make_tied()
    def refused(label, words, *arguments, **options):
        check_raises(checks, label, words, zero.from_torch, *arguments,
                     **{"path": WORK / "x.mlir", **options})
    refused("missing", ["example", "missing a required argument: 'labels'"], module,
            {"tokens": example["tokens"]})
    refused("no tensor", ["expected a tensor for 'labels', got int"], module,
            (example["tokens"], 3))
    refused("no loss", ["got a tensor of shape (2, 3)", "loss=lambda"], nn.Linear(4, 3),
            torch.ones(2, 4))
    refused("tuple", ["got tuple"], nn.Linear(4, 3), torch.ones(2, 4),
            loss=lambda module, x: (module(x).sum(), x))
    refused("random", ["aten.native_dropout.default draws random numbers", "dropout to 0"],
            nn.Sequential(nn.Linear(4, 3), nn.Dropout(0.1)), torch.ones(2, 4),
            loss=lambda module, x: module(x).sum())
    refused("value", ["batchnorm.py:", "reads the value of a tensor", "num_batches_tracked"],
            nn.BatchNorm1d(4, momentum=None), torch.ones(3, 4),
            loss=lambda module, x: module(x).sum())
    refused("shape", ["check_torch.py:", "reads the value"], nn.Linear(4, 3), torch.ones(2, 4),
            loss=lambda module, x: module(x[x > 0]).sum())
    refused("operator", ["torch-mlir cannot lower aten._linalg_eigh", "other operators"],
            nn.Linear(4, 4), torch.ones(4, 4),
            loss=lambda module, x: torch.linalg.eigvalsh(module(x)).sum())
    refused("frozen", ["nothing to train"], nn.Linear(4, 3).requires_grad_(False),
            torch.ones(2, 4), loss=lambda module, x: module(x).sum())
    refused("path", ["ends with .mlir"], module, example, path=WORK / "x.json")


def main():
    WORK.mkdir(parents=True, exist_ok=True)
    checks = Checks()
    check_names(checks)
    check_graph(checks)
    check_own_gradients(checks)
    check_examples(checks)
    check_weights(checks)
    check_errors(checks)
    checks.finish()


if __name__ == "__main__":
    main()
