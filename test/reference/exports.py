"""Small modules whose training semantics ONNX cannot express, exported by PyTorch's dynamo
exporter, and PyTorch's results of training them.

usage: exports.py [CASE...]   (all without arguments; see README.md for the environment)

Writes test/data/exports/CASE/model.onnx and, except for the cases that are rejected,
groundtruth.npz with the batch (input.NAME), the losses of five AdamW updates (adamw_losses[t] after
t updates: lr 1e-2, weight decay 0.01), the first gradients (grad.NAME) and buffers after one step
(buffer_after1.NAME).
"""

import contextlib
import copy
import io
import sys
import warnings
from pathlib import Path

import numpy as np
import onnx
import torch
from torch import nn
from torch.nn import functional as F

OUT = Path(__file__).resolve().parent.parent / "data" / "exports"
UPDATES = 5
BATCH, WIDTH, CLASSES = 8, 6, 5
CASES = {}


def case(function):
    """Registers a function that returns a module and its named inputs."""
    CASES[function.__name__.rstrip("_")] = function
    return function


class Classifier(nn.Module):
    """A linear layer and a loss that `loss` computes from its scores."""

    def __init__(self, loss, **members):
        super().__init__()
        self.layer = nn.Linear(WIDTH, CLASSES)
        self.loss = loss
        for name, member in members.items():
            if isinstance(member, nn.Module):
                self.add_module(name, member)
            else:
                self.register_buffer(name, member)

    def forward(self, x, y):
        return self.loss(self, x, y)


def samples():
    return {"x": torch.randn(BATCH, WIDTH), "y": torch.randint(0, CLASSES, (BATCH,))}


# Stopped gradients.

@case
def detach():
    """A target that the model computes, as in BYOL."""
    def loss(m, x, y):
        scores = m.layer(x)
        return F.mse_loss(scores, m.layer(x.flip(1)).detach()) + 0.1 * F.cross_entropy(scores, y)
    return Classifier(loss), samples()


@case
def straight_through():
    """Rounded forward, identity backward."""
    def loss(m, x, y):
        h = m.layer(x)
        return F.cross_entropy(h + (torch.round(h * 4) / 4 - h).detach(), y)
    return Classifier(loss), samples()


class VectorQuantizer(nn.Module):
    """VQ-VAE (van den Oord et al., 2017): nearest code, straight-through estimator,
    codebook and commitment losses."""

    def __init__(self):
        super().__init__()
        self.encoder, self.decoder = nn.Linear(WIDTH, 4), nn.Linear(4, WIDTH)
        self.codes = nn.Embedding(7, 4)

    def forward(self, x):
        z = self.encoder(x)
        distance = (z.unsqueeze(1) - self.codes.weight.unsqueeze(0)).pow(2).sum(2)
        q = self.codes(distance.detach().argmin(1))
        out = self.decoder(z + (q - z).detach())
        return (F.mse_loss(out, x) + F.mse_loss(q, z.detach()) + 0.25 * F.mse_loss(z, q.detach()))


@case
def vqvae():
    return VectorQuantizer(), {"x": torch.randn(BATCH, WIDTH)}


# Arguments that ONNX's nodes do not have.

@case
def label_smoothing():
    return Classifier(lambda m, x, y: F.cross_entropy(m.layer(x), y, label_smoothing=0.1)), samples()


@case
def label_smoothing_weights():
    """With class weights and ignored labels."""
    inputs = samples()
    inputs["y"][2] = -100
    return Classifier(lambda m, x, y: F.cross_entropy(m.layer(x), y, weight=m.weights,
                                                      label_smoothing=0.2),
                      weights=torch.rand(CLASSES) + 0.5), inputs


@case
def label_smoothing_rows():
    """reduction='none' and 'sum', scores of three dimensions."""
    def loss(m, x, y):
        scores = m.layer(x)
        rows = F.cross_entropy(scores, y, label_smoothing=0.1, reduction="none")
        image = scores.reshape(2, 4, CLASSES).transpose(1, 2)
        total = F.cross_entropy(image, y.reshape(2, 4), label_smoothing=0.3, reduction="sum")
        return (rows * rows).mean() + 0.1 * total
    return Classifier(loss), samples()


@case
def soft_targets():
    """Probabilities as targets, with and without smoothing and weights."""
    def loss(m, x, y):
        scores = m.layer(x)
        image = scores.reshape(2, 4, CLASSES).transpose(1, 2)
        return (F.cross_entropy(scores, y) + F.cross_entropy(scores, y, label_smoothing=0.1)
                + 0.1 * F.cross_entropy(image, y.reshape(2, 4, CLASSES).transpose(1, 2),
                                        weight=m.weights, reduction="sum"))
    return (Classifier(loss, weights=torch.rand(CLASSES) + 0.5),
            {"x": torch.randn(BATCH, WIDTH), "y": torch.softmax(torch.randn(BATCH, CLASSES), 1)})


class Tokens(nn.Module):
    """A table of tokens, of which one is padding, and a classifier of their mean."""

    def __init__(self, **arguments):
        super().__init__()
        self.table = nn.Embedding(9, WIDTH, **arguments)
        self.layer = nn.Linear(WIDTH, CLASSES)

    def forward(self, tokens, y):
        return F.cross_entropy(self.layer(self.table(tokens).mean(1)), y)


def tokens():
    return {"tokens": torch.randint(0, 9, (BATCH, 4)), "y": torch.randint(0, CLASSES, (BATCH,))}


@case
def padding_idx():
    return Tokens(padding_idx=3), tokens()


@case
def scatter_mean():
    """Means over positions, including and excluding the previous values."""
    def loss(m, x, y):
        scores, place = m.layer(x), torch.tensor([0, 1, 1, 3, 0, 0, 2, 3]).unsqueeze(1)
        place = place.expand(BATCH, CLASSES)
        base = m.base + 0 * scores.sum()
        with_self = base.scatter_reduce(0, place, scores, "mean")
        without = base.scatter_reduce(0, place, scores, "mean", include_self=False)
        return F.cross_entropy(with_self, y[:5]) + F.cross_entropy(without, y[:5])
    return Classifier(loss, base=torch.randn(5, CLASSES)), samples()


class Ties(nn.Module):
    """The second layer begins at zero, as of an adapter: all its results are equal, and at bounds."""

    def __init__(self):
        super().__init__()
        self.first, self.second = nn.Linear(WIDTH, 4), nn.Linear(4, CLASSES)
        self.prelu = nn.PReLU()
        self.bound = nn.Parameter(torch.zeros(()))
        nn.init.zeros_(self.second.weight)
        nn.init.zeros_(self.second.bias)

    def forward(self, x, y):
        v = self.second(torch.tanh(self.first(x)))
        zero, one = torch.tensor(0.0), torch.tensor(1.0)
        rows = (v.max(1).values + 2 * v.min(1).values - 3 * v.amax(1) + (v - 1).amin(1)
                + F.max_pool1d(v[:, None], CLASSES).flatten() + v.topk(2).values[:, 0])
        scores = (F.relu6(v) + 2 * F.hardtanh(v, 0, 1) + 3 * v.clamp(0, 1) + 4 * v.clamp(min=0)
                  - 5 * v.clamp_max(0) + 6 * v.clamp(zero, one) + 7 * v.clamp(max=self.bound)
                  + 8 * torch.minimum(torch.maximum(v, zero), one) + 9 * self.prelu(v)
                  + 10 * v.abs() + F.hardsigmoid(v - 3) + 2 * F.hardswish(v + 3))
        return F.cross_entropy(scores * 0.1, y) + (rows * torch.arange(BATCH) * 0.1).mean()


@case
def ties():
    return Ties(), samples()


@case
def ties_optimized():
    """The exporter's optimizer makes a Clip of maxima and minima."""
    return Ties(), samples()


ties_optimized.options = {"optimize": True}


# Buffers that forward updates.

class MovingAverage(nn.Module):
    """Scores minus their moving average, and a scale that grows with steps."""

    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(WIDTH, CLASSES)
        self.register_buffer("average", torch.zeros(CLASSES))
        self.register_buffer("scale", torch.ones(()))

    def forward(self, x, y):
        scores = self.layer(x)
        self.average.mul_(0.9).add_(scores.detach().mean(0), alpha=0.1)
        self.scale.mul_(1.25)
        return F.cross_entropy((scores - self.average) * self.scale, y)


@case
def moving_average():
    return MovingAverage(), samples()


@case
def spectral_norm():
    """The power iteration runs without gradients, and its vector is a buffer."""
    member = nn.utils.parametrizations.spectral_norm(nn.Linear(WIDTH, CLASSES))
    return Classifier(lambda m, x, y: F.cross_entropy(m.normed(x) + m.layer(x), y),
                      normed=member), samples()


class Counter(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(WIDTH, CLASSES)
        self.register_buffer("steps", torch.zeros((), dtype=torch.int64))

    def forward(self, x, y):
        self.steps += 1
        return F.cross_entropy(self.layer(x) * self.steps.clamp(max=9), y)


# Batch normalization, which the exporter puts into inference mode.

class Normed(nn.Module):
    def __init__(self, **arguments):
        super().__init__()
        self.conv = nn.Conv2d(3, 4, 3)
        self.norm = nn.BatchNorm2d(4, **arguments)
        self.vector = nn.BatchNorm1d(CLASSES, momentum=0.3)
        self.layer = nn.Linear(4, CLASSES)

    def forward(self, x, y):
        features = torch.relu(self.norm(self.conv(x))).mean((2, 3))
        return F.cross_entropy(self.vector(self.layer(features)), y)


def images():
    return {"x": torch.randn(BATCH, 3, 6, 6), "y": torch.randint(0, CLASSES, (BATCH,))}


@case
def batchnorm():
    return Normed(), images()


@case
def batchnorm_plain():
    """Without weights."""
    return Normed(affine=False), images()


@case
def batchnorm_twice():
    """Two calls, of which the second continues from the statistics that the first leaves."""
    def loss(m, x, y):
        return F.cross_entropy(m.norm(m.layer(x)) - m.norm(m.layer(x * x)), y)
    module = Classifier(loss, norm=nn.BatchNorm1d(CLASSES))
    module.norm.running_mean.uniform_(-0.3, 0.3)
    module.norm.running_var.uniform_(0.5, 2)
    return module, samples()


@case
def batchnorm_batch():
    """Without running statistics."""
    return Normed(track_running_stats=False), images()


@case
def instance_norm_statistics():
    """Normalizes by given statistics."""
    def loss(m, x, y):
        scores = m.layer(x).reshape(BATCH, CLASSES, 1)
        return F.cross_entropy(F.instance_norm(scores, m.mean, m.var, use_input_stats=False)
                               .reshape(BATCH, CLASSES), y)
    return Classifier(loss, mean=torch.randn(CLASSES), var=torch.rand(CLASSES) + 0.5), samples()


# Models that cannot be restored are only exported.

def attention_loss(m, x, y):
    q = m.layer(x).reshape(2, 1, 4, CLASSES)
    return F.cross_entropy(F.scaled_dot_product_attention(q, q, q, dropout_p=0.25).reshape(
        BATCH, CLASSES), y)


def pooled_loss(m, x, y):
    image = m.layer(x).reshape(1, 1, BATCH, CLASSES)
    pooled = F.avg_pool2d(image, (1, 1), divisor_override=3)
    return F.cross_entropy(pooled.reshape(BATCH, CLASSES), y)


EXPORTED_ONLY = {
    "attention_dropout": (lambda: (Classifier(attention_loss), samples()), {}),
    "attention_dropout_op23": (lambda: (Classifier(attention_loss), samples()),
                               {"opset_version": 23}),
    "average_divisor": (lambda: (Classifier(pooled_loss), samples()), {}),
    "counter": (lambda: (Counter(), samples()), {}),
    "detach_optimized": (detach, {"optimize": True}),
    "grid_border": (lambda: (Classifier(
        lambda m, x, y: F.cross_entropy(F.grid_sample(
            m.layer(x).reshape(1, 1, BATCH, CLASSES), m.grid, mode="bicubic",
            padding_mode="border", align_corners=False).reshape(BATCH, CLASSES), y),
        grid=torch.rand(1, BATCH, CLASSES, 2) * 2.4 - 1.2), samples()), {}),
    "instance_norm": (lambda: (Classifier(
        lambda m, x, y: F.cross_entropy(m.norm(m.layer(x).reshape(2, 4, CLASSES)).reshape(
            BATCH, CLASSES), y),
        norm=nn.InstanceNorm1d(4, track_running_stats=True)), samples()), {}),
    "embedding_norm": (lambda: (Tokens(max_norm=1.0), tokens()), {}),
    "embedding_frequency": (lambda: (Tokens(scale_grad_by_freq=True), tokens()), {}),
}


def export(module, inputs, path, **options):
    path.parent.mkdir(parents=True, exist_ok=True)
    settings = {"optimize": False, **options}
    with contextlib.redirect_stdout(io.StringIO()), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        program = torch.onnx.export(module, tuple(inputs.values()), dynamo=True, verbose=False,
                                    input_names=list(inputs), output_names=["loss"], **settings)
    model = program.model_proto
    # Stack traces name local folders and are most of a small file.
    for message in [*model.graph.node, *model.graph.value_info, *model.graph.output]:
        kept = [entry for entry in message.metadata_props
                if entry.key not in ("pkg.torch.onnx.stack_trace", "pkg.torch.onnx.class_hierarchy",
                                     "namespace", "pkg.torch.onnx.name_scopes")]
        del message.metadata_props[:]
        message.metadata_props.extend(kept)
    onnx.save(model, path)


def train(module, inputs):
    """The ground truth: the stored results of five updates."""
    initial = {name: buffer.clone() for name, buffer in module.named_buffers()}
    optimizer = torch.optim.AdamW(module.parameters(), lr=1e-2, weight_decay=0.01)
    truth = {f"input.{name}": value.numpy() for name, value in inputs.items()}
    losses = []
    for step in range(UPDATES + 1):
        optimizer.zero_grad()
        loss = module(*inputs.values())
        loss.backward()
        losses.append(loss.item())
        if step == 0:
            for name, parameter in module.named_parameters():
                truth[f"grad.{name}"] = parameter.grad.numpy().copy()
            for name, buffer in module.named_buffers():
                if buffer.is_floating_point() and not torch.equal(buffer, initial[name]):
                    truth[f"buffer_after1.{name}"] = buffer.numpy().copy()
        optimizer.step()
    truth["adamw_losses"] = np.array(losses)
    return truth


def main():
    torch.use_deterministic_algorithms(True)
    wanted = sys.argv[1:] or [*CASES, *EXPORTED_ONLY]
    for name in wanted:
        torch.manual_seed(0)
        make, options = EXPORTED_ONLY.get(name) or (CASES[name],
                                                    getattr(CASES[name], "options", {}))
        module, inputs = make()
        module.train()
        folder = OUT / name
        export(copy.deepcopy(module), inputs, folder / "model.onnx", **options)
        size = (folder / "model.onnx").stat().st_size
        if name in EXPORTED_ONLY:
            print(f"{name}: {size} bytes")
            continue
        truth = train(module, inputs)
        held = {tensor.name for tensor in onnx.load(folder / "model.onnx").graph.initializer}
        # A buffer that the graph does not read is not part of it.
        truth = {key: value for key, value in truth.items()
                 if not key.startswith("buffer_after1.") or key.split(".", 1)[1] in held}
        np.savez_compressed(folder / "groundtruth.npz", **truth)
        print(f"{name}: {size} bytes, losses {np.round(truth['adamw_losses'], 4)}")


if __name__ == "__main__":
    main()
