#!/usr/bin/env python3
"""Trains a small GPT, written in plain PyTorch, on text files, and continues a text with it.

usage: train.py [TEXT...] [--out=FOLDER] [--layers=N] [--width=N] [--heads=N] [--sequence=N]
                [--batch=N] [--steps=N] [--lr=X] [--ranks=N] [--prompt=TEXT] [--sample=N]

A byte is a token. Without a TEXT, the model learns the documentation of the repository. The last
tenth of the text is held out. Writes OUT/model.onnx, and OUT/model.pt with the trained state_dict.

Needs PyTorch and onnxscript.
"""

import argparse
from pathlib import Path

import numpy as np
import torch
from torch import nn
from torch.nn import functional

import zero

DOCS = Path(__file__).resolve().parents[2] / "docs"


class Block(nn.Module):
    """Causal self-attention and a network of two layers, each after a norm and added to its input:
    (batch, sequence, width) to the same shape."""

    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.qkv, self.merge = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def attention(self, x):
        batch, sequence, width = x.shape
        q, k, v = (part.view(batch, sequence, self.heads, -1).transpose(1, 2)
                   for part in self.qkv(x).chunk(3, dim=-1))
        mixed = functional.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.merge(mixed.transpose(1, 2).reshape(batch, sequence, width))

    def forward(self, x):
        x = x + self.attention(self.norm1(x))
        return x + self.down(functional.gelu(self.up(self.norm2(x))))


class GPT(nn.Module):
    """Tokens (batch, sequence) to scores (batch, sequence, vocabulary), or with `targets` of the
    shape of the tokens to their mean cross-entropy."""

    def __init__(self, layers, width, heads, sequence, vocabulary=256):
        super().__init__()
        self.sequence = sequence
        self.token, self.position = nn.Embedding(vocabulary, width), nn.Embedding(sequence, width)
        self.blocks = nn.Sequential(*(Block(width, heads) for _ in range(layers)))
        self.norm, self.head = nn.LayerNorm(width), nn.Linear(width, vocabulary, bias=False)
        self.apply(self.initialize)
        self.head.weight = self.token.weight

    @staticmethod
    def initialize(part):
        if isinstance(part, (nn.Linear, nn.Embedding)):
            nn.init.normal_(part.weight, std=0.02)

    def forward(self, tokens, targets=None):
        places = torch.arange(tokens.shape[1], device=tokens.device)
        scores = self.head(self.norm(self.blocks(self.token(tokens) + self.position(places))))
        if targets is None:
            return scores
        return functional.cross_entropy(scores.flatten(0, 1), targets.flatten())

    @torch.no_grad()
    def sample(self, prompt, count):
        """`count` bytes that follow the bytes `prompt`, drawn as the model says."""
        tokens = torch.tensor([list(prompt)])
        for _ in range(count):
            scores = self(tokens[:, -self.sequence:])[:, -1]
            drawn = torch.multinomial(functional.softmax(scores, dim=-1), 1)
            tokens = torch.cat([tokens, drawn], dim=1)
        return bytes(tokens[0].tolist())


def parse():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("texts", nargs="*", type=Path)
    parser.add_argument("--out", type=Path, default=Path("nanogpt"))
    for name, default in {"layers": 4, "width": 128, "heads": 4, "sequence": 128, "batch": 8,
                          "steps": 500, "ranks": 2, "sample": 300}.items():
        parser.add_argument(f"--{name}", type=int, default=default)
    parser.add_argument("--lr", type=float, default=2e-3)
    parser.add_argument("--prompt", default="The ")
    return parser.parse_args()


def read_text(paths, sequence):
    """Training and held-out data: `tokens` (samples, sequence), and `targets`, the next bytes."""
    text = b"".join(path.read_bytes() for path in paths or sorted(DOCS.rglob("*.md")))
    count = (len(text) - 1) // sequence
    tokens, targets = (np.frombuffer(text, np.uint8, count * sequence, offset=begin)
                       .reshape(count, sequence) for begin in (0, 1))
    split = count * 9 // 10
    return ({"tokens": tokens[:split], "targets": targets[:split]},
            {"tokens": tokens[split:], "targets": targets[split:]})


def main():
    options = parse()
    options.out.mkdir(parents=True, exist_ok=True)
    torch.manual_seed(0)
    model = GPT(options.layers, options.width, options.heads, options.sequence)
    example = torch.randint(0, 256, (options.batch, options.sequence))
    export = zero.export(model, {"tokens": example, "targets": example},
                         path=options.out / "model.onnx")
    program = zero.compile(export, stage=3, ranks=options.ranks, optimizer="adamw", lr=options.lr,
                           weight_decay=0.1, clip_norm=1.0, warmup_steps=options.steps // 20,
                           lr_schedule="cosine", total_steps=options.steps)
    print(program)
    train, heldout = read_text(options.texts, options.sequence)
    weights = options.out / "trained.safetensors"
    with program.session() as session:
        print(f"held-out loss {session.evaluate(heldout):.4f}")
        print(session.train(train, steps=options.steps, shuffle=1))
        print(f"held-out loss {session.evaluate(heldout):.4f}")
        session.save(weights)
    model.load_state_dict(zero.read_weights(weights, export), strict=True)
    torch.save(model.state_dict(), options.out / "model.pt")
    print(model.sample(options.prompt.encode(), options.sample).decode(errors="replace"))


if __name__ == "__main__":
    main()
