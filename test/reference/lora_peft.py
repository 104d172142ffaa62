#!/usr/bin/env python3
"""Ten steps of adapters of PEFT beside the models of test/data, for test/execute/lora-compiler.test,
which trains those that `--lora` adds.

usage: lora_peft.py [ADAPTER BASE]     (needs torch, transformers, peft, onnx, numpy; see README.md)

Writes test/data/lora-peft/truth.npz: the losses, and the names and shapes in a saved adapter. With
ADAPTER, a folder of `zero-run --save=ADAPTER/` for the model BASE ("llama" or "gpt2"), loads it by
PEFT instead and compares all tensors.
"""

import sys
import tempfile
import warnings
from pathlib import Path

import numpy as np
import peft
import torch
from models import DATA, Trained, sum_of_losses
from safetensors.numpy import load_file

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "test" / "support"), str(ROOT / "python" / "zero")]
import blocks  # noqa: E402
import lora_cases  # noqa: E402


class Wrapped(torch.nn.Module):
    """The exported module: names of the graph begin with "model."."""

    def __init__(self, model):
        super().__init__()
        self.model = model

    def forward(self, **inputs):
        return self.model(**inputs)


def round_base(trained, precision):
    """Gives frozen parameters the values with which a run computes."""
    for name, parameter in trained.parameters.items():
        value = parameter.data.numpy()
        if blocks.is_coded(value.shape) and "embed_tokens" not in name and "lm_head" not in name:
            value = blocks.decode(value, precision, value.size).reshape(value.shape)
            parameter.data.copy_(torch.from_numpy(value))
        else:
            parameter.data.copy_(parameter.data.to(torch.bfloat16).to(torch.float32))


def adapted(case):
    graph, targets, rank, alpha, stabilized, deviation, precision, dora = lora_cases.CASES[case]
    trained = Trained(graph.split("-")[0], graph)
    if precision:
        round_base(trained, precision)
    config = peft.LoraConfig(r=rank, lora_alpha=alpha, lora_dropout=0.0, target_modules=targets,
                             use_rslora=stabilized, use_dora=dora,
                             fan_in_fan_out=graph.startswith("gpt2"))
    model = peft.get_peft_model(Wrapped(trained.model), config).train()
    for key, value in peft.get_peft_model_state_dict(model).items():
        if lora_cases.is_drawn(key):
            value.copy_(torch.from_numpy(lora_cases.initial(key, tuple(value.shape), deviation)))
    return model, graph


def losses(model, graph):
    truth = np.load(DATA / graph / "groundtruth.npz")
    inputs = {k[len("input."):]: torch.from_numpy(truth[k]) for k in truth
              if k.startswith("input.")}
    optimizer = torch.optim.AdamW([p for p in model.parameters() if p.requires_grad],
                                  lr=lora_cases.LR, weight_decay=lora_cases.DECAY)
    result = []
    for _ in range(lora_cases.STEPS):
        total, valid = sum_of_losses(model, inputs)
        optimizer.zero_grad()
        (total / valid).backward()
        optimizer.step()
        result.append((total / valid).item())
    return np.array(result)


def saved_names(model):
    """Names with shapes of the file that PEFT saves."""
    with tempfile.TemporaryDirectory() as folder:
        model.save_pretrained(folder)
        tensors = load_file(Path(folder, "adapter_model.safetensors"))
    return np.array(sorted(f"{name} {'x'.join(map(str, value.shape))}"
                           for name, value in tensors.items()))


def check_loads(folder, kind):
    """PEFT loads `folder` beside the base, and has each of its tensors."""
    base = Wrapped(Trained(kind, f"{kind}-tiny").model)
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # PEFT warns of missing and unknown names
        model = peft.PeftModel.from_pretrained(base, folder)
    loaded = peft.get_peft_model_state_dict(model)
    expected = load_file(Path(folder, "adapter_model.safetensors"))
    assert loaded.keys() == expected.keys(), loaded.keys() ^ expected.keys()
    for name, value in expected.items():
        assert np.array_equal(loaded[name].numpy(), value), name
    print(f"{folder}: PEFT loads {len(expected)} tensors")


def main():
    torch.set_num_threads(1)
    if sys.argv[1:]:
        return check_loads(*sys.argv[1:])
    warnings.filterwarnings("ignore")
    figures = {}
    for case in lora_cases.CASES:
        model, graph = adapted(case)
        figures[f"{case}.names"] = saved_names(model)
        figures[f"{case}.losses"] = losses(model, graph)
        print(case, *np.round(figures[f"{case}.losses"], 5), file=sys.stderr)
    folder = DATA / "lora-peft"
    folder.mkdir(exist_ok=True)
    np.savez_compressed(folder / "truth.npz", **figures)


if __name__ == "__main__":
    main()
