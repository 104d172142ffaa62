#!/usr/bin/env python3
"""Trains BERT of transformers from a configuration to classify sequences of different lengths.

usage: train.py [--out=FOLDER] [--layers=N] [--width=N] [--sequence=N] [--samples=N] [--batch=N]
                [--epochs=N] [--lr=X] [--ranks=N]

A sequence has 4 to N words between two paddings, which an attention mask hides. Two of the words
are markers; the class says which of them comes first. Paddings have markers, too, so a model must
apply the mask to tell. The trained weights are loaded into the module, which then classifies
sequences that were not trained on, and are saved as transformers does.

Needs PyTorch, onnxscript and transformers.
"""

import argparse
from pathlib import Path

import numpy as np
import torch
import transformers

import zero

WORDS, MARKERS = 64, (62, 63)


def make_sequences(count, sequence, seed):
    """`input_ids` and `attention_mask` (count, sequence), and `labels` (count,)."""
    random = np.random.default_rng(seed)
    words = random.integers(0, MARKERS[0], (count, sequence))
    lengths = random.integers(4, sequence + 1, count)
    begins = random.integers(0, sequence - lengths + 1)
    labels = random.integers(0, 2, count)
    for row, begin, length, label in zip(words, begins, lengths, labels):
        places = begin + np.sort(random.choice(length, 2, replace=False))
        row[places] = MARKERS if label else MARKERS[::-1]
    padding = np.where(random.random(words.shape) < 0.3, random.choice(MARKERS, words.shape), words)
    places = np.arange(sequence) - begins[:, None]
    mask = (places >= 0) & (places < lengths[:, None])
    ids, mask = np.where(mask, words, padding), mask.astype(np.int64)
    return {"input_ids": ids, "attention_mask": mask, "labels": labels}


def make_model(layers, width, sequence):
    """BERT without dropout, whose random numbers `zero.export` could not compare."""
    return transformers.BertForSequenceClassification(transformers.BertConfig(
        vocab_size=WORDS, hidden_size=width, num_hidden_layers=layers, num_attention_heads=4,
        intermediate_size=4 * width, max_position_embeddings=sequence, num_labels=2,
        hidden_dropout_prob=0.0, attention_probs_dropout_prob=0.0))


def parse():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--out", type=Path, default=Path("bert"))
    for name, default in {"layers": 2, "width": 64, "sequence": 16, "samples": 4096, "batch": 16,
                          "epochs": 6, "ranks": 2}.items():
        parser.add_argument(f"--{name}", type=int, default=default)
    parser.add_argument("--lr", type=float, default=1e-3)
    return parser.parse_args()


@torch.no_grad()
def accuracy(model, data):
    inputs = {name: torch.from_numpy(value) for name, value in data.items()}
    labels = inputs.pop("labels")
    return (model.eval()(**inputs).logits.argmax(-1) == labels).float().mean().item()


def main():
    options = parse()
    options.out.mkdir(parents=True, exist_ok=True)
    torch.manual_seed(0)
    model = make_model(options.layers, options.width, options.sequence)
    train, heldout = (make_sequences(count, options.sequence, seed)
                      for seed, count in enumerate((options.samples, 512)))
    print(f"held-out accuracy {accuracy(model, heldout):.3f}")
    example = {name: torch.from_numpy(value[:options.batch]) for name, value in train.items()}
    export = zero.export(model, example, path=options.out / "model.onnx")
    program = zero.compile(export, stage=3, ranks=options.ranks, optimizer="adamw", lr=options.lr,
                           clip_norm=1.0, warmup_steps=20)
    print(program)
    weights = options.out / "trained.safetensors"
    with program.session() as session:
        print(session.train(train, epochs=options.epochs, shuffle=1))
        session.save(weights)
    model.load_state_dict(zero.read_weights(weights, export), strict=True)
    model.save_pretrained(options.out / "model")
    print(f"held-out accuracy {accuracy(model, heldout):.3f}")


if __name__ == "__main__":
    main()
