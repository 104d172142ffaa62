#!/usr/bin/env python3
"""A GPT-2 with adapters of PEFT, exported by PyTorch, and the results of training it in PyTorch.
test/execute/check_selection.py compares with them.

usage: lora_gpt2.py     (needs torch, transformers, peft, onnx, onnxscript, numpy; see README.md)

Writes test/data/gpt2-lora: model.onnx, trainable.txt (created as in docs/guides/weights.md), and
groundtruth.npz.
"""

import copy
import sys
import warnings
from pathlib import Path

import numpy as np
import onnx
import peft
import torch
import transformers

FOLDER = Path(__file__).resolve().parent.parent / "data" / "gpt2-lora"
BATCH, SEQUENCE, VOCABULARY, STEPS = 4, 8, 64, 11


class WithLoss(torch.nn.Module):
    def __init__(self, model):
        super().__init__()
        self.model = model

    def forward(self, input_ids, labels):
        logits = self.model(input_ids=input_ids, use_cache=False).logits
        return torch.nn.functional.cross_entropy(logits.flatten(0, 1), labels.flatten())


def make_model():
    torch.manual_seed(0)
    config = transformers.GPT2Config(
        vocab_size=VOCABULARY, n_positions=SEQUENCE, n_embd=16, n_layer=1, n_head=2,
        resid_pdrop=0.0, embd_pdrop=0.0, attn_pdrop=0.0, bos_token_id=0, eos_token_id=0)
    adapters = peft.LoraConfig(r=2, lora_alpha=8, lora_dropout=0.0, target_modules=["c_attn", "c_fc"],
                               fan_in_fan_out=True)
    model = WithLoss(peft.get_peft_model(transformers.GPT2LMHeadModel(config), adapters)).train()
    with torch.no_grad():  # constant parameters would hide errors
        for name, parameter in model.named_parameters():
            if "lora" in name or parameter.dim() == 1:
                parameter.add_(torch.randn_like(parameter) * 0.3)
            else:
                parameter.mul_(10)
    return model


def export(model, inputs):
    torch.onnx.export(model, tuple(inputs.values()), FOLDER / "model.onnx", dynamo=True,
                      optimize=False, input_names=list(inputs), output_names=["loss"],
                      external_data=False)
    exported = onnx.load(FOLDER / "model.onnx")
    held = {i.name for i in exported.graph.initializer}
    for node in exported.graph.node:  # removes paths of the exporting machine and reduces the size
        keys = ["pkg.torch.onnx.fx_node"] if node.op_type != "Constant" else []
        if held.intersection(node.input):
            keys.append("pkg.torch.onnx.name_scopes")
        kept = [p for p in node.metadata_props if p.key in keys]
        del node.metadata_props[:]
        node.metadata_props.extend(kept)
    onnx.save(exported, FOLDER / "model.onnx")


def train(model, inputs, make_optimizer):
    """Losses before each update, and the gradients of the first."""
    optimizer = make_optimizer([p for p in model.parameters() if p.requires_grad])
    losses, gradients = [], None
    for _ in range(STEPS):
        optimizer.zero_grad()
        loss = model(**inputs)
        loss.backward()
        losses.append(loss.item())
        gradients = gradients or {n: p.grad.numpy().copy() for n, p in model.named_parameters()
                                  if p.requires_grad}
        optimizer.step()
    return np.array(losses), gradients


def adamw(parameters):
    return torch.optim.AdamW(parameters, lr=1e-2, weight_decay=0.01)


def sgd(parameters):
    return torch.optim.SGD(parameters, lr=0.05, momentum=0.9)


def rounded(model, dtype):
    """The model with its frozen parameters rounded to 16 bits."""
    model = copy.deepcopy(model)
    with torch.no_grad():
        for parameter in model.parameters():
            if not parameter.requires_grad:
                parameter.copy_(parameter.to(dtype).to(torch.float32))
    return model


def main():
    warnings.filterwarnings("ignore")
    torch.set_num_threads(1)
    FOLDER.mkdir(exist_ok=True)
    model = make_model()
    inputs = {"input_ids": torch.randint(0, VOCABULARY, (BATCH, SEQUENCE)),
              "labels": torch.randint(0, VOCABULARY, (BATCH, SEQUENCE))}
    export(model, inputs)
    # The list of docs/guides/weights.md.
    names = [n for n, p in model.named_parameters(remove_duplicate=False) if p.requires_grad]
    (FOLDER / "trainable.txt").write_text("\n".join(names) + "\n")
    losses, gradients = train(copy.deepcopy(model), inputs, adamw)
    everything = copy.deepcopy(model)
    everything.requires_grad_(True)
    figures = {
        **{f"input.{n}": v.numpy() for n, v in inputs.items()},
        **{f"grad.{n}": v for n, v in gradients.items()},
        "parameters": np.array(sorted(gradients)), "loss": losses[0], "adamw_losses": losses,
        "sgdm_losses": train(copy.deepcopy(model), inputs, sgd)[0],
        "adamw_losses_bf16_base": train(rounded(model, torch.bfloat16), inputs, adamw)[0],
        "adamw_losses_fp16_base": train(rounded(model, torch.float16), inputs, adamw)[0],
        "adamw_losses_of_all": train(everything, inputs, adamw)[0]}
    np.savez_compressed(FOLDER / "groundtruth.npz", **figures)
    for name in figures:
        if "losses" in name:
            print(name, *np.round(figures[name], 5), file=sys.stderr)


if __name__ == "__main__":
    main()
