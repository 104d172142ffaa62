"""What fine-tuning reads of a Hugging Face folder: its configuration and the headers of weights."""

from __future__ import annotations

import math
import re
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from ..errors import NotFoundError
from ..text.folder import read_object
from ..weights import places_of

# Files of a folder that tokenizing needs; the runtime copies them beside the weights of a model,
# but not beside those of adapters.
TOKENIZER_FILES = ("added_tokens.json", "chat_template.jinja", "chat_template.json", "merges.txt",
                   "special_tokens_map.json", "spiece.model", "tokenizer.json", "tokenizer.model",
                   "tokenizer_config.json", "vocab.json", "vocab.txt")
_HALVES = {"bfloat16": "bf16", "float16": "fp16"}


@dataclass(frozen=True)
class Model:
    """A folder.

    Attributes:
        folder: its path.
        vocabulary: token ids of the model, or None.
        positions: the longest sequence, or None.
        parameters: elements of all tensors; 0 without weights.
        half: "bf16" or "fp16" if most bytes of the weights are of this type, otherwise None.
        linear: the last part of the names of the linear layers inside of blocks, sorted.
    """
    folder: Path
    vocabulary: int | None
    positions: int | None
    parameters: int
    half: str | None
    linear: tuple


def _places(folder):
    index = folder / "model.safetensors.index.json"
    files = {"model.safetensors"}
    if index.exists():
        files = set(read_object(index).get("weight_map", {}).values())
    return {name: place for file in sorted(files) if (folder / file).exists()
            for name, place in places_of(folder / file).items()}


def _linear_layers(places):
    """Matrices inside of numbered blocks. Experts and what routes to them are left out: PEFT adds
    no adapters to them, because transformers stores them as one parameter."""
    found = set()
    for name, place in places.items():
        block = re.search(r"\.\d+\.(.*)\.weight$", name)
        if block and len(place.shape) == 2 and "experts." not in name:
            found.add(block[1].rsplit(".", 1)[-1])
    return tuple(sorted(found - {"gate"}))


def read_model(folder):
    """Reads the Model at a path; needs no weights."""
    folder = Path(folder)
    if not folder.is_dir():
        raise NotFoundError(f"'{folder}' is no folder: expected one with config.json, "
                            f"tokenizer.json and model.safetensors, as save_pretrained writes it")
    if not (folder / "config.json").exists():
        raise NotFoundError(f"'{folder}' has no config.json: expected a folder as save_pretrained "
                            f"writes it")
    config, places = read_object(folder / "config.json"), _places(folder)
    types = Counter()
    for place in places.values():
        types[place.dtype] += place.end - place.begin
    stored = types.most_common(1)[0][0] if types else None
    return Model(folder, config.get("vocab_size"),
                 config.get("max_position_embeddings") or config.get("n_positions"),
                 sum(math.prod(place.shape) for place in places.values()),
                 _HALVES.get(stored), _linear_layers(places))
