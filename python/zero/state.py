"""What a module's state_dict has, and where it is in the graph that was exported from it.

`zero.export` writes it beside MODEL.onnx:

- MODEL.state.json: the tensors of `state_dict()` by name, each with the name of the graph's
  initializer that holds it, the inputs, and the adapter, if there is one;
- MODEL.state.safetensors: buffers, and parameters that the loss does not depend on. A run changes
  only some of the former, and saves none of the latter;
- MODEL.trainable.txt, if some parameters are frozen: what `zeroc --trainable` reads.
"""

import json
from dataclasses import asdict, dataclass, field
from pathlib import Path

from .errors import ExportError
from .weights import read_safetensors, to_numpy, to_torch, write_safetensors

# Differences that an error lists.
_MOST = 10


def list_differences(differences):
    """The lines of an error that lists what differs."""
    rest = len(differences) - _MOST
    return "".join(f"\n  {line}" for line in differences[:_MOST]) + \
        (f"\n  and {rest} more" if rest > 0 else "")


@dataclass
class State:
    """The tensors of a module and their places in its graph.

    Attributes:
        tensors: for each name of the state_dict a dictionary: "initializer", the graph's name for
            it, or None if the graph lacks it; "shape", a list; "dtype", as numpy names it; and
            "role": trained, frozen or buffer. Tied tensors have one initializer. Frozen tensors
            beside an adapter have "digests", as adapters.digests_of() makes them.
        inputs: the shape of each input, by name. A symbolic batch is "batch".
        unsaved: the names of buffers that the state_dict lacks because they are not persistent.
        adapter: None, or a dictionary: "config", the content of adapter_config.json, and "keys",
            the state_dict's name of each tensor of the adapter, by the name that PEFT gives it.
    """
    tensors: dict
    inputs: dict = field(default_factory=dict)
    unsaved: list = field(default_factory=list)
    adapter: dict | None = None

    def write(self, program, rest):
        """Writes the files beside `program`. rest: tensors with their types, as
        MODEL.state.safetensors has them. Returns the path of the list of trained parameters, or
        None if all are trained."""
        lines = ",\n".join(f"    {json.dumps(name)}: {json.dumps(entry)}"
                           for name, entry in self.tensors.items())
        parts = {key: value for key, value in asdict(self).items() if key != "tensors"}
        _file(program, "json").write_text(
            '{\n  "tensors": {\n' + lines + "\n  }" +
            "".join(f",\n  {json.dumps(key)}: {json.dumps(value)}"
                    for key, value in parts.items()) + "\n}\n")
        if rest:
            write_safetensors(rest, _file(program, "safetensors"))
        else:
            _file(program, "safetensors").unlink(missing_ok=True)
        return self._write_trainable(Path(program).with_suffix(".trainable.txt"))

    def _write_trainable(self, path):
        names = {role: {entry["initializer"] for entry in self.tensors.values()
                        if entry["role"] == role and entry["initializer"]}
                 for role in ("trained", "frozen")}
        if not names["frozen"]:
            path.unlink(missing_ok=True)
            return None
        path.write_text("".join(f"{name}\n" for name in sorted(names["trained"])))
        return path

    @classmethod
    def read(cls, program):
        """The state of the graph at `program`, a path that `zero.export` returned."""
        path = _file(program, "json")
        try:
            return cls(**json.loads(path.read_text()))
        except FileNotFoundError:
            raise ExportError(f"expected '{path}', which zero.export writes beside '{program}'; "
                              f"other exports have no record of the module") from None
        except (TypeError, json.JSONDecodeError) as error:
            raise ExportError(f"expected '{path}' as zero.export writes it: {error}") from None


def _file(program, kind):
    return Path(program).with_suffix(f".state.{kind}")


def read_rest(program):
    """The tensors of MODEL.state.safetensors."""
    path = _file(program, "safetensors")
    return read_safetensors(path) if path.exists() else {}


def rename(tensors, state, rest=None, source="the file"):
    """Tensors of a graph under the names of the module's state_dict.

    tensors: by the name of the graph's initializer, each with the attribute `shape`, or a pair of
        an array and the name of its type.
    state: a State.
    rest: values by the state_dict's name for what `tensors` lacks.
    source: what the error says that `tensors` are from.

    Returns one entry for each name of the state_dict, in its order; tied tensors share a value.
    Raises ExportError with all names that are missing or that the module lacks, and all shapes
    that differ.
    """
    rest, found, differences = rest or {}, {}, []
    known = {*state.tensors, *state.unsaved,
             *(entry["initializer"] for entry in state.tensors.values())}
    for name, entry in state.tensors.items():
        value = next((tensors[key] for key in (entry["initializer"], name) if key in tensors),
                     rest.get(name))
        if value is None:
            differences.append(f"'{name}' is missing")
            continue
        shape = list((value[0] if isinstance(value, tuple) else value).shape)
        if shape != entry["shape"]:
            differences.append(f"'{name}': expected the shape {entry['shape']}, got {shape}")
        found[name] = value
    differences += [f"'{name}' is not a tensor of the module" for name in tensors
                    if name not in known]
    if differences:
        raise ExportError(f"{source} does not fit the module:{list_differences(differences)}")
    return found


def read_weights(path, program=None, framework="torch"):
    """The tensors of a file that `zero-run --save` wrote, under the module's names.

    `module.load_state_dict(zero.read_weights("trained.safetensors", "model.onnx"), strict=True)`
    loads what was trained.

    path: ends with .safetensors.
    program: the path that `zero.export` returned. The result then has exactly the names of the
        module's state_dict: tied tensors under all of their names, and buffers and parameters that
        the loss does not depend on with the values that they had in the export. Without it, the
        result has what the file has.
    framework: "torch" for tensors, "numpy" for arrays. Numpy has no bfloat16: arrays are float32.

    Raises ExportError if the file does not fit the module.
    """
    if framework not in ("torch", "numpy"):
        raise ExportError(f"framework: expected torch or numpy, got {framework!r}")
    tensors = read_safetensors(path)
    if program is not None:
        tensors = rename(tensors, State.read(program), read_rest(program), f"'{path}'")
    convert = to_torch if framework == "torch" else to_numpy
    return {name: convert(*value) for name, value in tensors.items()}
