"""Exports small networks on images and writes PyTorch's results for them.

usage: vision_models.py [FOLDER] [NAME...]

Writes FOLDER/NAME/{model.onnx,groundtruth.npz}, test/data by default, in the form that
test/data/README.md describes: the loss and gradients of a batch, and the losses of ten
updates by AdamW and by SGD with momentum, in fp32 on one thread.
"""

import sys
from pathlib import Path

import numpy as np
import onnx
import torch
import torch.nn.functional as F
from torch import nn

DATA = Path(__file__).resolve().parent.parent / "data"
STEPS = 10


class Block(nn.Module):
    def __init__(self, before, after):
        super().__init__()
        self.conv = nn.Conv2d(before, after, 3, padding=1)
        self.norm = nn.GroupNorm(2, after)

    def forward(self, x):
        return F.silu(self.norm(self.conv(x)))


class UNet(nn.Module):
    """Three levels, with upsampling by bilinear, by nearest and by a transposed convolution."""

    def __init__(self):
        super().__init__()
        self.enter = Block(3, 6)
        self.down1, self.down2, self.down3 = Block(6, 8), Block(8, 8), Block(8, 8)
        self.up3, self.up2 = Block(16, 8), Block(16, 6)
        self.transposed = nn.ConvTranspose2d(6, 6, 2, stride=2)
        self.head = nn.Conv2d(12, 4, 1)

    def forward(self, image, labels):
        a = self.enter(image)
        b = self.down1(F.max_pool2d(a, 2))
        c = self.down2(F.max_pool2d(b, 2))
        d = self.down3(F.interpolate(c, scale_factor=0.5, mode="bilinear"))
        d = F.interpolate(d, scale_factor=2, mode="bilinear", align_corners=True)
        c = self.up3(torch.cat([d, c], 1))
        b = self.up2(torch.cat([F.interpolate(c, scale_factor=2, mode="bilinear"), b], 1))
        logits = self.head(torch.cat([self.transposed(b), a], 1))
        return F.cross_entropy(logits, labels)

    @staticmethod
    def batch():
        return {"image": torch.randn(4, 3, 16, 24), "labels": torch.randint(4, (4, 16, 24))}


class FeaturePyramid(nn.Module):
    """Levels of odd sizes, resized to each other by nearest; heads of several sizes."""

    def __init__(self):
        super().__init__()
        self.stages = nn.ModuleList([nn.Conv2d(3, 6, 3, stride=2, padding=1),
                                     nn.Conv2d(6, 8, 3, stride=2, padding=1),
                                     nn.Conv2d(8, 10, 3, stride=2, padding=1)])
        self.lateral = nn.ModuleList([nn.Conv2d(n, 8, 1) for n in (6, 8, 10)])
        self.smooth = nn.Conv2d(8, 8, 3, padding=1)
        self.head = nn.Conv2d(8, 5, 3, padding=1)

    def forward(self, image, labels):
        levels = []
        for stage in self.stages:
            image = F.relu(stage(image))
            levels.append(image)
        top, losses = None, 0
        for lateral, level in zip(reversed(list(self.lateral)), reversed(levels)):
            here = lateral(level)
            if top is not None:
                here = here + F.interpolate(top, size=here.shape[-2:], mode="nearest")
            top = self.smooth(here)
            whole = F.interpolate(self.head(top), size=labels.shape[-2:], mode="bicubic")
            losses = losses + F.cross_entropy(whole, labels)
        return losses

    @staticmethod
    def batch():
        return {"image": torch.randn(2, 3, 27, 34), "labels": torch.randint(5, (2, 27, 34))}


class Autoencoder(nn.Module):
    """A variational autoencoder: noise is an input, upsampling is by nearest as in latent
    diffusion."""

    def __init__(self):
        super().__init__()
        self.encoder = nn.Sequential(nn.Conv2d(3, 8, 3, 2, 1), nn.SiLU(), nn.Conv2d(8, 8, 3, 2, 1),
                                     nn.SiLU(), nn.Conv2d(8, 8, 1))
        self.enter = Block(4, 8)
        self.attention = nn.MultiheadAttention(8, 2, batch_first=True)
        self.blocks = nn.ModuleList([Block(8, 8), Block(8, 8)])
        self.leave = nn.Conv2d(8, 3, 3, padding=1)

    def forward(self, image, noise):
        mean, log_variance = self.encoder(image).chunk(2, 1)
        h = self.enter(mean + (log_variance / 2).exp() * noise)
        tokens = h.flatten(2).transpose(1, 2)
        tokens = tokens + self.attention(tokens, tokens, tokens, need_weights=False)[0]
        h = tokens.transpose(1, 2).reshape(h.shape)
        for block in self.blocks:
            h = block(F.interpolate(h, scale_factor=2.0, mode="nearest"))
        divergence = -0.5 * (1 + log_variance - mean**2 - log_variance.exp()).mean()
        return F.mse_loss(self.leave(h), image) + 0.1 * divergence

    @staticmethod
    def batch():
        return {"image": torch.randn(4, 3, 16, 16), "noise": torch.randn(4, 4, 4, 4)}


class SpatialTransformer(nn.Module):
    """Transforms its images by learned grids, then classifies them."""

    def __init__(self):
        super().__init__()
        self.where = nn.Sequential(nn.Conv2d(1, 4, 5, stride=2), nn.ReLU(), nn.Flatten(),
                                   nn.Linear(144, 12), nn.ReLU(), nn.Linear(12, 6))
        self.conv = nn.Conv2d(1, 6, 5)
        self.fc = nn.Linear(6 * 9, 10)

    def forward(self, image, labels):
        # Near the identity, to avoid jumps of the loss at which rounding decides.
        theta = torch.eye(2, 3) * 0.9 + 0.1 * self.where(image).view(-1, 2, 3)
        grid = F.affine_grid(theta, image.shape, align_corners=False)
        turned = F.grid_sample(image, grid, align_corners=False)
        edge = F.grid_sample(image, grid, mode="bicubic", padding_mode="reflection", align_corners=True)
        h = F.avg_pool2d(F.relu(self.conv((turned + edge) / 2)), 4)
        return F.cross_entropy(self.fc(h.flatten(1)), labels)

    @staticmethod
    def batch():
        return {"image": torch.randn(4, 1, 16, 16), "labels": torch.randint(10, (4,))}


MODELS = {"unet-tiny": UNet, "fpn-tiny": FeaturePyramid, "vae-tiny": Autoencoder,
          "stn-tiny": SpatialTransformer}


def losses_of(maker, state, batch, optimizer):
    """The losses before the first and after each of ten updates."""
    model = maker()
    model.load_state_dict(state)
    optimizer = optimizer(model.parameters())
    losses = []
    for _ in range(STEPS + 1):
        loss = model(**batch)
        losses.append(loss.item())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return losses


def truth_of(maker, model, batch):
    state = {name: value.clone() for name, value in model.state_dict().items()}
    loss = model(**batch)
    loss.backward()
    gradients = {f"grad.{name}": p.grad.numpy() for name, p in model.named_parameters()}
    return {
        **{f"input.{name}": value.numpy() for name, value in batch.items()},
        "parameters": np.array(sorted(name for name, _ in model.named_parameters())),
        "loss": np.float32(loss.item()), **gradients,
        "adamw_losses": losses_of(maker, state, batch, lambda p: torch.optim.AdamW(
            p, lr=1e-3, weight_decay=0.01)),
        "sgdm_losses": losses_of(maker, state, batch, lambda p: torch.optim.SGD(
            p, lr=0.05, momentum=0.9))}


def export(model, batch, path):
    program = torch.onnx.export(model, tuple(batch.values()), dynamo=True, optimize=False,
                                input_names=list(batch), output_names=["loss"], verbose=False)
    proto = program.model_proto
    for node in proto.graph.node:  # removes metadata about the origin of nodes
        kept = [p for p in node.metadata_props if p.key == "pkg.torch.onnx.fx_node"]
        del node.metadata_props[:]
        node.metadata_props.extend(kept)
    for value in proto.graph.value_info:
        del value.metadata_props[:]
    onnx.save(proto, path)


def main():
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else DATA
    torch.set_num_threads(1)
    for name in sys.argv[2:] or ("unet-tiny", "stn-tiny"):
        torch.manual_seed(0)
        maker = MODELS[name]
        model, batch = maker(), maker.batch()
        for parameter in model.parameters():  # no zero bias, no weight of one
            if parameter.dim() == 1:
                parameter.data += 0.1 * torch.randn_like(parameter)
        (folder / name).mkdir(parents=True, exist_ok=True)
        export(model, batch, folder / name / "model.onnx")
        np.savez_compressed(folder / name / "groundtruth.npz", **truth_of(maker, model, batch))
        print(name, sum(p.numel() for p in model.parameters()), "parameters")


if __name__ == "__main__":
    main()
