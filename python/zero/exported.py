"""What zero.export returns."""

import os
from dataclasses import dataclass
from pathlib import Path

from .flags import arguments_of
from .state import State

# The names of 16-bit types in --frozen-precision.
_HALVES = {"bfloat16": "bf16", "float16": "fp16"}


@dataclass(frozen=True)
class Export(os.PathLike):
    """A graph that was exported, and what zeroc must know about it.

    Attributes:
        path: MODEL.onnx.
        trainable: MODEL.trainable.txt, or None if all parameters are trained.
        state: what MODEL.state.json says.
        example: the shape of each input in the example, by name.
        notes: sentences about what the graph lacks and what was not compared with the module.
    """
    path: Path
    trainable: Path | None
    state: State
    example: dict
    notes: tuple = ()

    def __fspath__(self):
        return os.fspath(self.path)

    def _frozen_precision(self):
        """The 16-bit type of all frozen tensors, or None: it stores their values as they are."""
        types = {entry["dtype"] for entry in self.state.tensors.values()
                 if entry["role"] == "frozen" and entry["initializer"]}
        return _HALVES.get(types.pop()) if len(types) == 1 else None

    def keywords(self, batch=None):
        """The keywords of zero.compile() for this graph, which it adds to those that it is given.

        batch: as flags() takes it.
        """
        shapes = {name: (batch or shape[0], *shape[1:]) for name, shape in self.example.items()
                  if self.state.inputs[name][0] == "batch"}
        keywords = {"trainable": self.trainable, "shape": shapes or None,
                    "frozen_precision": self._frozen_precision()}
        return {name: value for name, value in keywords.items() if value is not None}

    def flags(self, batch=None):
        """The flags of zeroc for this graph: `["zeroc", export.path, *export.flags()]`.

        batch: the samples that one rank reads in one micro-batch, for a graph with a dynamic batch;
            otherwise that of the example.
        """
        return arguments_of(self.keywords(batch))

    def completed(self, keywords):
        """`keywords` of zero.compile(), and what they leave to this graph."""
        own = self.keywords()
        # Other rules say what is trained. What they freeze need not be stored in 16 bits.
        if keywords.keys() & {"trainable", "freeze_all_but", "forward_only"}:
            own.pop("trainable", None)
        if keywords.keys() & {"trainable", "freeze_all_but", "forward_only", "freeze", "precision",
                              "config"}:
            own.pop("frozen_precision", None)
        return {**own, **keywords}
