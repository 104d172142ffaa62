"""How far gradients in float32 are from float64: Zero's at most 1.2 times as far as PyTorch's.

usage: check_gradient_distance.py WORK

A T5, a ResNet of bottlenecks and a MobileNet, whose sums over tokens and pixels are long. The
distance is that of all gradients together.
"""

import copy
import sys
from pathlib import Path

import numpy as np
import torch
import transformers
from torch import nn
from torch.nn import functional

import zero
from zero_test import Checks, read_safetensors, run_tool

WORK = Path(sys.argv[1])
MOST = 1.2


class Loss(nn.Module):
    """The cross-entropy of a classifier of images."""

    def __init__(self, model):
        super().__init__()
        self.model = model

    def forward(self, x, y):
        return functional.cross_entropy(self.model(x).logits, y)


class Translation(nn.Module):
    def __init__(self, model):
        super().__init__()
        self.model = model

    def forward(self, x, y):
        return self.model(input_ids=x, labels=y).loss


def models():
    images = {"x": torch.randn(8, 3, 64, 64), "y": torch.randint(0, 10, (8,))}
    tokens = {"x": torch.randint(0, 1000, (4, 64)), "y": torch.randint(0, 1000, (4, 64))}
    yield "t5", Translation(transformers.T5ForConditionalGeneration(transformers.T5Config(
        vocab_size=1000, d_model=128, d_kv=32, d_ff=256, num_layers=2, num_heads=4, dropout_rate=0,
        decoder_start_token_id=0, use_cache=False, attn_implementation="eager"))), tokens
    yield "resnet", Loss(transformers.ResNetForImageClassification(transformers.ResNetConfig(
        embedding_size=32, hidden_sizes=[64, 128], depths=[2, 2], num_labels=10))), images
    yield "mobilenet", Loss(transformers.MobileNetV2ForImageClassification(
        # Of ReLU6, the rounding of one element can change the gradient of all.
        transformers.MobileNetV2Config(depth_multiplier=0.35, classifier_dropout_prob=0,
                                       hidden_act="silu", num_labels=10))), images


def torch_gradients(model, batch, dtype):
    model = copy.deepcopy(model).to(dtype)
    model(**{name: x.to(dtype) if x.is_floating_point() else x
             for name, x in batch.items()}).backward()
    return {name: p.grad.double().numpy()
            for name, p in model.named_parameters(remove_duplicate=False)}


def zero_gradients(model, batch, folder):
    folder.mkdir(parents=True, exist_ok=True)
    zero.export(copy.deepcopy(model), batch, path=folder / "model.onnx", check=False)
    np.savez(folder / "batch.npz", **{name: x.numpy() for name, x in batch.items()})
    gradients = folder / "gradients.safetensors"
    run_tool("zero-run", folder / "model.onnx", "--steps=1", f"--data={folder / 'batch.npz'}",
             "--optimizer=sgd", f"--dump-gradients={gradients}", "--quiet")
    return read_safetensors(gradients)


def distance(gradients, exact):
    return np.sqrt(sum(np.square(gradients[name] - exact[name]).sum() for name in exact)
                   / sum(np.square(exact[name]).sum() for name in exact))


def main():
    checks = Checks()
    torch.manual_seed(0)
    for name, model, batch in models():
        model.train()
        exact = torch_gradients(model, batch, torch.float64)
        found = zero_gradients(model, batch, WORK / name)
        checks.that(set(found) <= set(exact), f"{name}: gradients of {set(found) - set(exact)}")
        exact = {key: exact[key] for key in found}  # once for parameters that are one
        own, other = (distance(gradients, exact) for gradients in
                      (found, torch_gradients(model, batch, torch.float32)))
        print(f"{name}: Zero {own:.2e}, PyTorch {other:.2e} from float64")
        checks.that(own <= MOST * other, f"{name}: {own} from float64, PyTorch {other}")
    checks.finish()


if __name__ == "__main__":
    main()
