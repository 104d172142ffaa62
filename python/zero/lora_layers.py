"""Low-rank adapters (LoRA) beside the linear layers of a PyTorch module."""

import copy
import json
import math
import sys
import tempfile
from pathlib import Path

from torch import nn

from .adapters import PREFIX
from .errors import ExportError


def _sizes(layer):
    """The numbers of features that a linear layer reads and writes, or None for another layer."""
    if isinstance(layer, nn.Linear):
        return layer.in_features, layer.out_features
    # The layer of GPT-2 in transformers, whose weight has the other orientation.
    if type(layer).__name__ == "Conv1D" and hasattr(layer, "nf"):
        return layer.weight.shape
    return None


class Lora(nn.Module):
    """A frozen linear layer plus the product of two small trained ones.

    Its tensors have the names that PEFT gives them, without the name of the adapter.
    """

    def __init__(self, layer, rank, alpha, dropout):
        super().__init__()
        reads, writes = _sizes(layer)
        device = layer.weight.device
        self.base_layer = layer
        self.lora_dropout = nn.Dropout(dropout) if dropout else nn.Identity()
        self.lora_A = nn.Linear(reads, rank, bias=False, device=device)
        self.lora_B = nn.Linear(rank, writes, bias=False, device=device)
        self.scaling = alpha / rank
        nn.init.kaiming_uniform_(self.lora_A.weight, a=math.sqrt(5))
        nn.init.zeros_(self.lora_B.weight)  # so that training begins with the base

    @property
    def weight(self):
        return self.base_layer.weight

    @property
    def bias(self):
        return self.base_layer.bias

    def forward(self, x):
        base = self.base_layer(x)
        change = self.lora_B(self.lora_A(self.lora_dropout(x.to(self.lora_A.weight.dtype))))
        return (base + change * self.scaling).to(base.dtype)


def _find_targets(module, targets):
    """The layers to adapt, by name. Raises ExportError for targets that name no linear layer."""
    found = {name: layer for name, layer in module.named_modules()
             if any(name == target or name.endswith(f".{target}") for target in targets)}
    for target in targets:
        if not any(name == target or name.endswith(f".{target}") for name in found):
            linear = {name.rpartition(".")[2] for name, layer in module.named_modules()
                      if name and _sizes(layer)}
            raise ExportError(f"targets: no layer is called '{target}'; the linear layers are "
                              f"{', '.join(sorted(linear))}")
    for name, layer in found.items():
        if not _sizes(layer):
            raise ExportError(f"targets: expected linear layers, got {type(layer).__name__} for "
                              f"'{name}'")
    return found


def _config(module, layers, targets, rank, alpha, dropout, task_type):
    """The content of adapter_config.json."""
    transposed = {not isinstance(layer, nn.Linear) for layer in layers.values()}
    if len(transposed) > 1:
        raise ExportError("targets: expected layers of one kind, got torch.nn.Linear and Conv1D")
    return {"peft_type": "LORA", "task_type": task_type, "r": rank, "lora_alpha": alpha,
            "lora_dropout": dropout, "target_modules": list(targets),
            "fan_in_fan_out": transposed == {True}, "bias": "none", "inference_mode": True,
            "base_model_name_or_path": getattr(getattr(module, "config", None), "_name_or_path",
                                               "") or None}


def lora(module, targets=("q_proj", "v_proj"), rank=8, alpha=16, dropout=0.0, task_type=None):
    """Freezes a module and adds trained adapters to its linear layers; returns the module.

    A layer that computes x W + b then computes x W + b + (alpha / rank) dropout(x) A B, where A of
    [features, rank] is random and B of [rank, features] zero. The module is changed in place; it
    has the base once, as `LAYER.base_layer`. Its mode stays.

    module: parameters that are tied stay tied.
    targets: the last parts of the names of layers: torch.nn.Linear, or Conv1D of transformers.
    rank, alpha, dropout: integers of at least 1, and the share of inputs of A that are set to 0.
    task_type: for adapter_config.json, such as CAUSAL_LM; it selects the class that PEFT wraps the
        base in.

    Raises ExportError for targets that name no linear layer.
    """
    targets = (targets,) if isinstance(targets, str) else tuple(targets)
    if rank < 1 or not 0 <= dropout < 1:
        raise ExportError(f"expected a rank of at least 1 and a dropout in [0, 1), got {rank} and "
                          f"{dropout}")
    if any(isinstance(part, Lora) for part in module.modules()):
        raise ExportError("expected a module without adapters")
    layers = _find_targets(module, targets)
    config = _config(module, layers, targets, rank, alpha, dropout, task_type)
    module.requires_grad_(False)
    for name, layer in layers.items():
        parent, _, last = name.rpartition(".")
        adapted = Lora(layer, rank, alpha, dropout)
        setattr(module.get_submodule(parent), last, adapted.train(layer.training))
    module.zero_adapter = config
    return module


def _peft_config(model):
    """The content of adapter_config.json of a model of PEFT, as PEFT writes it."""
    config = copy.copy(model.peft_config[model.active_adapter])
    config.inference_mode = True
    with tempfile.TemporaryDirectory() as folder:
        config.save_pretrained(folder)
        return json.loads(Path(folder, "adapter_config.json").read_text())


def _peft_keys(model, names):
    """The name of each tensor that PEFT would save, by its key. names: those of the state_dict, by
    address and shape."""
    import peft
    saved = peft.get_peft_model_state_dict(model, adapter_name=model.active_adapter)
    places = {key: names.get((value.data_ptr(), value.shape)) for key, value in saved.items()}
    if lost := [key for key, name in places.items() if name is None]:
        raise ExportError(f"PEFT saves '{lost[0]}', which is not a tensor of the module")
    return places


def adapter_of(module):
    """The adapter of a module, or of a part of it, as State has it; None if there is none."""
    for path, part in module.named_modules():
        if config := part.__dict__.get("zero_adapter"):
            prefix = f"{path}." if path else ""
            names = [f"{name}.{which}.weight" for name, layer in part.named_modules()
                     if isinstance(layer, Lora) for which in ("lora_A", "lora_B")]
            return {"config": config, "keys": {PREFIX + name: prefix + name for name in names}}
        if "peft" in sys.modules and isinstance(part, sys.modules["peft"].PeftModel):
            names = {(value.data_ptr(), value.shape): name
                     for name, value in module.state_dict().items()}
            return {"config": _peft_config(part), "keys": _peft_keys(part, names)}
    return None
