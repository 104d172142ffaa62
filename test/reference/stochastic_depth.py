"""Exports a small vision model with stochastic depth and trains it in PyTorch.

usage: stochastic_depth.py BIN

Writes test/data/stochastic-depth: the exported model and PyTorch's results with the masks that Zero
draws. The blocks of the model are those of ConvNeXt, Swin and EfficientNet with the stochastic
depth of timm and torchvision. The masks are known: each is a function of node, step and row
(test/support/philox.py), and `zeroc` in BIN prints the number of a node.
"""

import subprocess
import sys
from pathlib import Path

import numpy as np
import onnx
import torch
from timm.layers import DropPath
from torch import nn
from torchvision.ops import StochasticDepth

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "support"))

from philox import draw, node_numbers, uniform  # noqa: E402
from small_models import strip  # noqa: E402

WIDTH, CLASSES, BATCH, UPDATES = 16, 10, 8, 10
FOLDER = ROOT / "data" / "stochastic-depth"


class ConvNeXtBlock(nn.Module):
    def __init__(self, drop):
        super().__init__()
        self.conv = nn.Conv2d(WIDTH, WIDTH, 3, padding=1, groups=WIDTH)
        self.norm = nn.LayerNorm(WIDTH)
        self.up, self.down = nn.Linear(WIDTH, 2 * WIDTH), nn.Linear(2 * WIDTH, WIDTH)
        self.scale = nn.Parameter(torch.full((WIDTH, 1, 1), 0.5))
        self.drop = drop

    def forward(self, x):
        y = self.norm(self.conv(x).permute(0, 2, 3, 1))
        y = self.down(nn.functional.gelu(self.up(y))).permute(0, 3, 1, 2)
        return x + self.drop(self.scale * y)


class AttentionBlock(nn.Module):
    """The block of Swin: attention within windows of 2 x 2."""

    def __init__(self, drop):
        super().__init__()
        self.norm = nn.LayerNorm(WIDTH)
        self.qkv, self.proj = nn.Linear(WIDTH, 3 * WIDTH), nn.Linear(WIDTH, WIDTH)
        self.drop = drop

    def forward(self, x):
        batch, _, height, width = x.shape
        y = self.norm(x.permute(0, 2, 3, 1))
        y = y.view(batch, height // 2, 2, width // 2, 2, WIDTH).transpose(2, 3)
        y = y.reshape(-1, 4, WIDTH)
        q, k, v = self.qkv(y).view(-1, 4, 3, 2, WIDTH // 2).permute(2, 0, 3, 1, 4).unbind(0)
        y = torch.softmax(q @ k.transpose(-1, -2) * (WIDTH // 2) ** -0.5, -1) @ v
        y = self.proj(y.transpose(1, 2).reshape(-1, 4, WIDTH))
        y = y.view(batch, height // 2, width // 2, 2, 2, WIDTH).transpose(2, 3)
        return x + self.drop(y.reshape(batch, height, width, WIDTH).permute(0, 3, 1, 2))


class InvertedBlock(nn.Module):
    """The block of EfficientNet: expansion, depthwise convolution, squeeze and excitation."""

    def __init__(self, drop):
        super().__init__()
        wide = 2 * WIDTH
        self.expand = nn.Conv2d(WIDTH, wide, 1)
        self.depth = nn.Conv2d(wide, wide, 3, padding=1, groups=wide)
        self.squeeze, self.excite = nn.Conv2d(wide, 8, 1), nn.Conv2d(8, wide, 1)
        self.project = nn.Conv2d(wide, WIDTH, 1)
        self.drop = drop

    def forward(self, x):
        y = nn.functional.silu(self.depth(nn.functional.silu(self.expand(x))))
        gate = nn.functional.silu(self.squeeze(y.mean((2, 3), keepdim=True)))
        return x + self.drop(self.project(y * torch.sigmoid(self.excite(gate))))


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.stem = nn.Conv2d(3, WIDTH, 2, stride=2)
        self.blocks = nn.Sequential(
            ConvNeXtBlock(DropPath(0.3)), AttentionBlock(DropPath(0.2)),
            AttentionBlock(StochasticDepth(0.4, "row")), InvertedBlock(StochasticDepth(0.5, "row")))
        self.head = nn.Linear(WIDTH, CLASSES)

    def forward(self, pixels, labels):
        x = self.blocks(self.stem(pixels)).mean((2, 3))
        return nn.functional.cross_entropy(self.head(x), labels)


class GivenMask(nn.Module):
    """Drops rows by a mask that is set before each step."""

    def __init__(self, kept):
        super().__init__()
        self.kept = kept

    def forward(self, x):
        return x * (self.mask / self.kept).view(-1, 1, 1, 1)


def export(model):
    example = (torch.zeros(BATCH, 3, 8, 8), torch.zeros(BATCH, dtype=torch.int64))
    batch = torch.export.Dim("batch", min=1)
    path = FOLDER / "model.onnx"
    torch.onnx.export(model, example, str(path), dynamo=True, optimize=False, external_data=False,
                      input_names=["pixels", "labels"], output_names=["loss"],
                      dynamic_shapes={"pixels": {0: batch}, "labels": {0: batch}})
    proto = onnx.load(path)
    strip(proto.graph.node)
    del proto.graph.value_info[:]
    onnx.save(proto, path)
    return [node.name for node in proto.graph.node if node.op_type == "RandomUniformLike"]


def train(model, inputs, numbers):
    """The losses of AdamW's steps, and the gradients and masks of the first."""
    drops = []
    for block in model.blocks:
        rate = block.drop.drop_prob if isinstance(block.drop, DropPath) else block.drop.p
        block.drop = GivenMask(1 - rate)
        drops.append(block.drop)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3, weight_decay=0.01)
    losses, gradients, masks = [], {}, {}
    for step in range(UPDATES + 1):
        for drop, number in zip(drops, numbers, strict=True):
            drawn = uniform(draw((BATCH, 1, 1, 1), number, step)) < np.float32(drop.kept)
            drop.mask = torch.tensor(drawn.reshape(-1).astype(np.float32))
            masks.setdefault(f"kept{step}", []).append(drawn.reshape(-1))
        optimizer.zero_grad()
        loss = model(*inputs)
        loss.backward()
        if step == 0:
            gradients = {f"grad.{n}": p.grad.numpy().copy() for n, p in model.named_parameters()}
        optimizer.step()
        losses.append(loss.item())
    return losses, gradients, masks


def main():
    torch.manual_seed(0)
    torch.set_num_threads(1)
    model = Model().train()
    for parameter in model.parameters():  # no bias is zero, so that the exporter omits none
        if parameter.std() == 0 or parameter.numel() < 2:
            torch.nn.init.normal_(parameter, parameter.mean().item(), 0.1)
    FOLDER.mkdir(exist_ok=True)
    names = export(model)
    text = subprocess.run([f"{sys.argv[1]}/zeroc", FOLDER / "model.onnx", "--plan-only",
                           f"--shape=pixels={BATCH}x3x8x8,labels={BATCH}",
                           "--dump-after=recognise"], check=True, capture_output=True, text=True)
    found = node_numbers(text.stdout + text.stderr)
    pixels, labels = torch.randn(BATCH, 3, 8, 8), torch.randint(0, CLASSES, (BATCH,))
    losses, gradients, masks = train(model, (pixels, labels), [found[name] for name in names])
    np.savez_compressed(
        FOLDER / "groundtruth.npz", **{"input.pixels": pixels.numpy(),
                                       "input.labels": labels.numpy()},
        parameters=sorted(n for n, _ in model.named_parameters()), loss=losses[0],
        adamw_losses=losses, kept0=np.stack(masks["kept0"]), **gradients)
    print(f"{losses[0]:.6f} -> {losses[-1]:.6f}")


if __name__ == "__main__":
    main()
