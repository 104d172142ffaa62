#!/usr/bin/env python3
"""A byte-level GPT-2, exported, and the results of training it in PyTorch on real text, in fp32 and
with bf16 autocast. test/execute/check_bf16_curve.py compares with them.

usage: byte_gpt.py     (needs torch, transformers, numpy, onnx, onnxscript; see README.md)

Writes model.onnx and curves.json into test/data/gpt-bytes, which contains text.txt.
"""

import json
import sys
import time

import numpy as np
import onnx
import onnxscript.optimizer
import torch
import transformers
from models import DATA, gpt2, sum_of_losses

FOLDER = DATA / "gpt-bytes"
SIZE = {"width": 128, "layers": 2, "heads": 4, "vocabulary": 256, "sequence": 128}
BATCH, STEPS = 8, 200
ADAMW = {"lr": 1e-3, "betas": (0.9, 0.999), "eps": 1e-8, "weight_decay": 0.01}
WARMUP, CLIP = 20, 1.0


class WithLoss(torch.nn.Module):
    """The exported model, under the name that its parameters get."""

    def __init__(self, model):
        super().__init__()
        self.model = model

    def forward(self, input_ids, labels):
        return self.model(input_ids=input_ids, labels=labels, use_cache=False).loss


def make_model():
    """Initializes like transformers, but biases and norms differ from each other, because the
    exporter merges equal tensors. Each weight is rounded to bf16, where both precisions
    start."""
    torch.manual_seed(0)
    model = gpt2(**SIZE).train()
    for parameter in model.parameters():
        if parameter.dim() == 1:
            parameter.data += 0.02 * torch.randn_like(parameter)
        parameter.data = parameter.data.bfloat16().float()
    return model


def export(model, path):
    tokens = torch.zeros(BATCH, SIZE["sequence"], dtype=torch.long)
    batch = torch.export.Dim("batch")
    program = torch.onnx.export(WithLoss(model), (tokens, tokens.clone()), dynamo=True,
                                optimize=False, opset_version=18,
                                input_names=["input_ids", "labels"], output_names=["loss"],
                                dynamic_shapes={"input_ids": {0: batch}, "labels": {0: batch}})
    # Without this, the queries, keys and values are a sequence. If parameters were folded, they
    # could not be trained.
    onnxscript.optimizer.optimize_ir(program.model, should_fold=reads_no_parameter)
    program.save(path, external_data=False)
    strip(path)


def reads_no_parameter(node):
    """Returns None if the optimizer decides."""
    reads = any(v is not None and v.name.startswith("model.") for v in node.inputs)
    return False if reads else None


def strip(path):
    """Removes the exporter's metadata except for each node's operation."""
    model = onnx.load(path)
    for node in model.graph.node:
        kept = [p for p in node.metadata_props if p.key == "pkg.torch.onnx.fx_node"]
        del node.metadata_props[:]
        node.metadata_props.extend(kept)
    onnx.save(model, path)


def batches():
    """The text as zero-run reads it: consecutive rows, one byte per token."""
    text = np.fromfile(FOLDER / "text.txt", np.uint8).astype(np.int64)
    rows = text[:STEPS * BATCH * SIZE["sequence"]].reshape(STEPS, BATCH, SIZE["sequence"])
    return torch.from_numpy(rows)


def train(autocast):
    model = make_model()
    optimizer = torch.optim.AdamW(model.parameters(), **ADAMW)
    schedule = transformers.get_linear_schedule_with_warmup(optimizer, WARMUP, STEPS)
    losses = []
    for tokens in batches():
        with torch.autocast("cpu", torch.bfloat16, enabled=autocast):
            total, valid = sum_of_losses(model, {"input_ids": tokens, "labels": tokens})
        loss = total / valid
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), CLIP)
        optimizer.step()
        schedule.step()
        losses.append(loss.item())
    return losses


def main():
    torch.set_num_threads(1)
    export(make_model(), FOLDER / "model.onnx")
    curves = {"batch": BATCH, "sequence": SIZE["sequence"], **ADAMW, "clip_norm": CLIP,
              "warmup_steps": WARMUP, "total_steps": STEPS}
    for name, autocast in (("fp32", False), ("bf16_autocast", True)):
        start = time.monotonic()
        curves[name] = [round(loss, 6) for loss in train(autocast)]
        print(f"{name}: {curves[name][0]} -> {curves[name][-1]} in "
              f"{time.monotonic() - start:.0f} s", file=sys.stderr)
    (FOLDER / "curves.json").write_text(json.dumps(curves, indent=1) + "\n")


if __name__ == "__main__":
    main()
