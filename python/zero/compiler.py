"""zero.compile()."""

from __future__ import annotations

import inspect
import json
import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from .errors import CompileError
from .exported import Export
from .flags import arguments_of
from .program import temporary_folder
from .prediction import forward_arguments
from .session import Program
from .tools import run_tool

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ._flags import Flags


class _Source:
    """A model as files.

    Attributes:
        path: of the model.
        roles: of the names file, or None.
        weights: of initial values that the executable cannot refer to, or None.
        is_temporary: the files are in a temporary directory.
    """

    def __init__(self, path, roles=None, weights=None, is_temporary=False):
        self.path, self.roles, self.weights = Path(path), roles, weights
        self.is_temporary = is_temporary

    def files(self):
        """The files beside each other that make the model, by suffix."""
        return {path.suffix: path for path in (self.path, self.roles, self.weights) if path}


def _is_text(model):
    return isinstance(model, str) and "\n" in model


def _takes(exporter, keywords):
    """Moves the keywords that an exporter has from `keywords` to a new dictionary."""
    names = inspect.signature(exporter).parameters
    return {name: keywords.pop(name) for name in list(keywords)
            if name in names and name not in ("module", "example", "path", "function", "args")}


def _from_torch(module, example, keywords, folder):
    from .torch_export import from_torch
    from .weights import save_weights
    if example is None:
        raise TypeError("a module needs example=: its inputs, as tensors in a tuple or by name")
    program = from_torch(module, example, path=folder / "model.mlir",
                         **_takes(from_torch, keywords))
    weights = save_weights(module, folder / "model.safetensors", program)
    return _Source(program, program.with_suffix(".json"), weights, True)


def _from_jax(function, example, keywords, folder):
    from .jax_export import _argument_names, from_jax
    from .weights import save_weights
    args = example if isinstance(example, (tuple, list)) else (example,)
    program = from_jax(function, *args, path=folder / "model.mlir", **_takes(from_jax, keywords))
    state = dict(zip(_argument_names(function, args, {}), args))
    entries = json.loads(program.with_suffix(".json").read_text())["args"]
    carried = {entry["name"].split(".")[0] for entry in entries if entry.get("role") != "data"}
    values = {name: tree for name, tree in state.items() if name in carried}
    weights = save_weights(values, folder / "model.safetensors", program) if values else None
    return _Source(program, program.with_suffix(".json"), weights, True)


def _write(content, path, roles, folder):
    if isinstance(content, bytes):
        path.write_bytes(content)
    else:
        path.write_text(content)
    return _Source(path, roles, None, True)


def _source(model, example, keywords, folder):
    """The files of a model in any of its forms."""
    torch = sys.modules.get("torch")
    if torch and isinstance(model, torch.nn.Module):
        return _from_torch(model, example, keywords, folder)
    if callable(model):
        return _from_jax(model, example, keywords, folder)
    if example is not None:
        raise TypeError("example: expected a module of PyTorch or a function of JAX as the model, "
                        f"got {type(model).__name__}")
    roles = keywords.pop("roles", None)
    if isinstance(roles, Mapping):
        text, roles = json.dumps(roles), folder / "model.json"
        roles.write_text(text)
    if hasattr(model, "SerializeToString"):
        model = model.SerializeToString()
    if isinstance(model, (bytes, bytearray, memoryview)):
        return _write(bytes(model), folder / "model.onnx", roles, folder)
    if _is_text(model):
        return _write(model, folder / "model.mlir", roles, folder)
    if not isinstance(model, (str, os.PathLike)):
        raise TypeError("expected a path, an onnx.ModelProto, bytes, the text of a program in "
                        "MLIR, a module of PyTorch or a function of JAX, got "
                        f"{type(model).__name__}")
    return _Source(model, roles, None, False)


def _as_list(paths):
    return [] if paths is None else [paths] if isinstance(paths, (str, os.PathLike)) else [*paths]


class _Compilation:
    """A model and its flags, which can be compiled to several places."""

    def __init__(self, source, arguments):
        self.source, self.arguments = source, arguments

    def to(self, output, *flags):
        """Compiles to `output`, if it is not None; returns what zeroc printed."""
        roles = [f"--roles={self.source.roles}"] if self.source.roles else []
        to = [] if output is None else ["-o", output]
        printed, remarks = run_tool("zeroc", self.source.path, *roles, *self.arguments, *to,
                                    *flags, error=CompileError)
        return printed + remarks

    def begun_at(self, output):
        """Compiles to `output`, and returns the Program."""
        log = self.to(output)
        return Program(output, weights=self.source.weights, log=log)

    def move(self, output, *flags):
        """Writes the files of a temporary model beside `output`, and compiles those. Returns what
        zeroc printed, and the path of initial values or None."""
        beside = {suffix: output.with_suffix(suffix) for suffix in self.source.files()}
        if output in beside.values():
            raise TypeError(f"the model is written beside the executable: expected another suffix, "
                            f"got '{output}'")
        for suffix, path in self.source.files().items():
            beside[suffix].write_bytes(path.read_bytes())
        source = _Source(beside[self.source.path.suffix],
                         self.source.roles and beside[".json"],
                         self.source.weights and beside[self.source.weights.suffix])
        return _Compilation(source, self.arguments).to(output, *flags), source.weights


def automatic_flags(path, arguments):
    """The flags with which zeroc's planner fits the step of the model at a path, compiled with
    these arguments, into this machine."""
    printed, _ = run_tool("zero-run", path, *arguments, "--auto", "--print-auto",
                          error=CompileError)
    return printed.splitlines()


def compile(model, *, example=None, output=None, auto=False, **flags: Unpack[Flags]) -> Program:
    """Compiles a model into a training step for data-parallel ranks; returns a zero.Program.

    model: one of
        - the path of a model: ONNX, or StableHLO or linalg in MLIR;
        - what zero.export() returned: parameters that were frozen in the module stay so, in the 16
          bits that they all have there, and a dynamic batch is that of the example, unless flags
          say otherwise;
        - an onnx.ModelProto, or its bytes (data_root: the directory of external data);
        - the text of a program in MLIR, with roles: a file or a dictionary of names and roles;
        - a torch.nn.Module, with example: its inputs, as zero.from_torch() takes them, and loss: a
          function of the module and the inputs;
        - a function of JAX, jitted or not, with example: a tuple of its arguments. carry, params,
          buffers, loss and keywords are those of zero.from_jax().
    output: the path of the executable; a temporary file that lives as long as the program, if not
        given.
    auto: whether stage, tiers, recomputation and tiles that no flag says are chosen for the
        memory and the speed of this machine, which is measured once: `zero-run --auto`. The disk
        is used only with nvme_dir.
    flags: every flag of zeroc, with underscores instead of dashes; `stage` is `zero_stage`. A
        switch is True or False, a list is a list, a list of pairs is a dictionary
        (`shape={"x": (32, 784)}`), sizes are bytes or texts such as "4GiB".

    The compiler is a process of its own. Its warnings become Python's. Raises CompileError with its
    text, TypeError for an unknown keyword.

        program = zero.compile("gpt2.onnx", stage=3, ranks=4, memory_budget="4GiB", lr=3e-4)
    """
    for flag in ("emit_onnx", "external_data"):
        if flag in flags:
            raise TypeError(f"{flag}: zero.emit_onnx(model, path) writes a step as ONNX")
    folder = temporary_folder()
    where = Path(folder.name)
    if isinstance(model, Export):
        flags = model.completed(flags)
    source = _source(model, example, flags, where)
    pages = [where / "plan.json", where / "plan.html", *_as_list(flags.pop("report", None))]
    report = f"--report={','.join(map(str, pages))}"
    arguments = arguments_of(flags)
    if auto:
        roles = [f"--roles={source.roles}"] if source.roles else []
        arguments += automatic_flags(source.path, [*roles, *arguments])
    compilation = _Compilation(source, arguments)
    weights, path = source.weights, None
    if flags.get("plan_only"):
        log = compilation.to(output, report)  # an output is an error of zeroc
    elif output is not None and source.is_temporary:
        path = Path(output)
        log, weights = compilation.move(path, report)
    else:
        path = where / "model.zexe" if output is None else Path(output)
        log = compilation.to(path, report)
    predicting = _Compilation(source, forward_arguments(arguments))
    rebuild = compilation.move if source.is_temporary and output is None else None
    return Program(path, plan=json.loads(pages[0].read_text()), report=pages[1].read_text(),
                   weights=weights, log=log, rebuild=rebuild, folder=folder,
                   forward=lambda: predicting.begun_at(where / "forward.zexe"))


def emit_onnx(model, output, *, example=None, **flags: Unpack[Flags]) -> Path:
    """Writes the training step of a model, with gradients and updates, as plain ONNX operators;
    returns the path.

    model, example, flags: as compile() takes them; external_data=True writes tensors to
        OUTPUT.data. Flags of the plan have no effect, and are errors.
    """
    folder = temporary_folder()
    if isinstance(model, Export):
        flags = model.completed(flags)
    source = _source(model, example, flags, Path(folder.name))
    _Compilation(source, [*arguments_of(flags), f"--emit-onnx={output}"]).to(None)
    return Path(output)
