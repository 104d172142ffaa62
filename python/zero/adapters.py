"""Files of adapters, as PEFT reads them."""

import json
from pathlib import Path

from .errors import ExportError
from .state import State, list_differences
from .weights import read_safetensors, write_safetensors

# PEFT calls a model that it adapts base_model.model.
PREFIX = "base_model.model."


def save_adapter(folder, weights, program):
    """Writes the adapter of a file that `zero-run --save` wrote; returns the folder.

    `peft.PeftModel.from_pretrained(base, folder)` loads it.

    folder: gets adapter_model.safetensors, without the base, and adapter_config.json.
    weights: ends with .safetensors.
    program: the path that `zero.export` returned for a module of `zero.lora` or PEFT.

    Raises ExportError if the module had no adapter, or the file lacks a part of it.
    """
    folder, state = Path(folder), State.read(program)
    if state.adapter is None:
        raise ExportError(f"'{program}' has no adapter: expected the export of a module of "
                          f"zero.lora or PEFT")
    tensors, found, missing = read_safetensors(weights), {}, []
    for key, name in state.adapter["keys"].items():
        entry = state.tensors[name]
        value = tensors.get(entry["initializer"])
        if value is None or list(value[0].shape) != entry["shape"]:
            missing.append(f"expected '{entry['initializer']}' of shape {entry['shape']}, got " +
                           ("none" if value is None else f"{list(value[0].shape)}"))
        found[key] = value
    if missing:
        raise ExportError(f"'{weights}' does not fit the adapter:{list_differences(missing)}")
    folder.mkdir(parents=True, exist_ok=True)
    write_safetensors(found, folder / "adapter_model.safetensors", {"format": "pt"})
    text = json.dumps(state.adapter["config"], indent=2, sort_keys=True)
    (folder / "adapter_config.json").write_text(text + "\n")
    return folder
