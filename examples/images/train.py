#!/usr/bin/env python3
"""Trains a ResNet or a vision transformer on images of bright shapes, and classifies held-out ones
with the trained module.

usage: train.py [--model=resnet|vit] [--out=FOLDER] [--images=N] [--batch=N] [--epochs=N] [--lr=X]
                [--ranks=N]

An image of 32 x 32 pixels is noise with a disk, a ring, a square or a cross of a random color,
place and size. Writes OUT/model.onnx, and OUT/model.pt with the trained state_dict, running
statistics of batch normalization among it.

Needs PyTorch and onnxscript; torchvision for the ResNet, transformers for the transformer.
"""

import argparse
from pathlib import Path

import numpy as np
import torch

import zero

PIXELS, CLASSES = 32, 4


def make_images(count, seed):
    """`images` (count, 3, 32, 32) of float32, and their `labels` (count,)."""
    random = np.random.default_rng(seed)
    labels = random.integers(0, CLASSES, count)
    size = random.uniform(5, 9, (count, 1, 1))
    center = random.uniform(13, PIXELS - 13, (2, count, 1, 1))
    y, x = np.abs(np.mgrid[:PIXELS, :PIXELS][:, None] - center)  # distances, (count, 32, 32)
    radius = np.hypot(x, y)
    shapes = [radius < size, (radius < size) & (radius > 0.6 * size),
              np.maximum(x, y) < 0.8 * size, (np.minimum(x, y) < 0.25 * size) & (radius < size)]
    mask = np.select([labels[:, None, None] == label for label in range(CLASSES)], shapes)
    colors = random.uniform(0.5, 1.5, (count, 3, 1, 1))
    noise = random.normal(0, 0.2, (count, 3, PIXELS, PIXELS))
    return {"images": (noise + mask[:, None] * colors).astype(np.float32), "labels": labels}


def make_resnet():
    """One block of torchvision at each of its four sizes."""
    from torchvision.models.resnet import BasicBlock, ResNet
    return ResNet(BasicBlock, [1, 1, 1, 1], num_classes=CLASSES)


def make_vit():
    """A transformer of 4 layers on patches of 4 x 4 pixels; its forward returns only scores."""
    import transformers

    class ViT(transformers.ViTForImageClassification):
        def forward(self, images):
            return super().forward(pixel_values=images).logits
    return ViT(transformers.ViTConfig(
        image_size=PIXELS, patch_size=4, hidden_size=64, num_hidden_layers=4,
        num_attention_heads=4, intermediate_size=128, num_labels=CLASSES,
        hidden_dropout_prob=0.0, attention_probs_dropout_prob=0.0))


def parse():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--model", choices=["resnet", "vit"], default="resnet")
    parser.add_argument("--out", type=Path, default=Path("images"))
    for name, default in {"images": 2048, "batch": 16, "epochs": 4, "ranks": 2}.items():
        parser.add_argument(f"--{name}", type=int, default=default)
    parser.add_argument("--lr", type=float, default=2e-3)
    return parser.parse_args()


@torch.no_grad()
def accuracy(module, images, labels):
    scores = module.eval()(torch.from_numpy(images))
    return (scores.argmax(-1).numpy() == labels).mean()


def main():
    options = parse()
    options.out.mkdir(parents=True, exist_ok=True)
    torch.manual_seed(0)
    module = {"resnet": make_resnet, "vit": make_vit}[options.model]()
    train, heldout = make_images(options.images, seed=0), make_images(256, seed=1)
    print(f"held-out accuracy {accuracy(module, **heldout):.3f}")
    example = tuple(torch.from_numpy(train[name][:options.batch]) for name in train)
    export = zero.export(module, example, loss="cross_entropy", path=options.out / "model.onnx")
    program = zero.compile(export, stage=2, ranks=options.ranks, optimizer="adamw", lr=options.lr)
    print(program)
    names = [value.name for value in program.inputs]
    weights = options.out / "trained.safetensors"
    with program.session() as session:
        print(session.train(dict(zip(names, train.values())), epochs=options.epochs, shuffle=1))
        session.save(weights)
    module.load_state_dict(zero.read_weights(weights, export), strict=True)
    torch.save(module.state_dict(), options.out / "model.pt")
    print(f"held-out accuracy {accuracy(module, **heldout):.3f}")


if __name__ == "__main__":
    main()
