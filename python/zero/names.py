"""The names file: what `--roles=FILE` of the tools reads beside a program."""

import json
from dataclasses import dataclass, field
from pathlib import Path

from .errors import ExportError
from .trees import check_unique

ROLES = ("parameter", "buffer", "data")


@dataclass
class Names:
    """Names and roles of a program's arguments and results.

    Attributes:
        arguments: one dictionary for each, with "name", "shape" and "dtype", and "role" unless the
            program itself says that the argument is carried.
        outputs: the name of each result.
        gradients: the name of the parameter, by that of the result that is its gradient.
        loss: the name of a result.
    """
    arguments: list = field(default_factory=list)
    outputs: list = field(default_factory=list)
    gradients: dict = field(default_factory=dict)
    loss: str = ""

    def add(self, name, shape, dtype, role=None):
        if role not in (None, *ROLES):
            raise ExportError(f"'{name}': expected a role of {', '.join(ROLES)}, got {role}")
        entry = {"name": name, "role": role, "shape": list(shape), "dtype": dtype}
        self.arguments.append({key: value for key, value in entry.items() if value is not None})

    def write(self, path):
        """Writes the file for the program at `path` beside it, with the suffix .json."""
        check_unique([argument["name"] for argument in self.arguments], "argument")
        check_unique(self.outputs, "result")
        path = Path(path).with_suffix(".json")
        lines = ",\n".join(f"  {json.dumps(argument)}" for argument in self.arguments)
        rest = {"outputs": self.outputs, "grad_of": self.gradients, "loss": self.loss}
        fields = [f'"args": [\n{lines}\n]', *(f"{json.dumps(key)}: {json.dumps(value, indent=2)}"
                                              for key, value in rest.items() if value)]
        path.write_text("{\n" + ",\n".join(fields) + "\n}\n")
        return path


def check_path(path):
    """The path of a program, which the names file must not overwrite."""
    path = Path(path)
    if path.suffix != ".mlir":
        raise ExportError(f"expected a path that ends with .mlir, got '{path}'")
    return path
