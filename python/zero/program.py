"""Compiled programs."""

from __future__ import annotations

import html
import json
import shutil
import tempfile
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from . import native
from .errors import InvalidArgumentError, NotFoundError
from .tools import run_tool
from .values import (Certificate, Tier, Value, bytes_text, certificate_of_plan, mesh_of_plan,
                     volumes_of_plan)

if TYPE_CHECKING:
    from .session import Session


class Report:
    """The page that draws a plan: memory over the step, the arena, what ranks exchange. Notebooks
    show it.

    Attributes:
        html: the text of the page, which loads nothing else.
    """

    def __init__(self, page):
        self.html = page

    def save(self, path):
        """Writes the page to a file."""
        Path(path).write_text(self.html, encoding="utf-8")

    def _repr_html_(self):
        # The page has scripts and styles of its own, which a frame keeps apart from the notebook's.
        return (f'<iframe srcdoc="{html.escape(self.html)}" width="100%" height="700" '
                f'style="border: 0"></iframe>')

    def __repr__(self):
        return f"Report({len(self.html)} characters; save(path) writes the page)"


@dataclass(frozen=True)
class Simulation:
    """A step on the description of a machine.

    Attributes:
        seconds: of a step.
        machine: name of the description.
        data: everything that `zero-sim --json` prints: lanes, stalls, time by kernel.
    """
    seconds: float
    machine: str
    data: dict

    def __repr__(self):
        return f"Simulation({1e3 * self.seconds:.4g} ms on {self.machine})"


class Program:
    """A compiled step, as zero.compile() and zero.load() return it.

    Attributes:
        path: of its .zexe; None if it was only planned.
        weights: initial values that the executable does not refer to: a path, or None. A Session
            begins with them.
        log: what the compiler has printed.
    """

    _begin = None  # the class Session: session.py, which imports this module, sets it

    def __init__(self, path, *, plan=None, report=None, weights=None, log="", rebuild=None,
                 forward=None, folder=None):
        self.path = None if path is None else Path(path)
        self.weights = weights
        self.log = log
        self._plan = plan
        self._report = report
        self._rebuild = rebuild  # compiles the same to another path
        self._predicts = None  # what forward() has compiled
        self._forward = forward  # compiles the model without training to a path
        self._folder = folder  # a temporary directory that has `path`
        self._opened = None if path is None else native.load().Executable(str(path))

    @property
    def _executable(self):
        if self._opened is None:
            raise InvalidArgumentError("the program was compiled with plan_only, and has no "
                                       "executable")
        return self._opened

    def forward(self) -> Program:
        """The model without training, compiled for the same ranks and shapes: its step computes all
        outputs. Session.predict() uses it. An error for programs of zero.load()."""
        if self._forward is None:
            raise InvalidArgumentError("the model of the program is not known: expected a program "
                                       "of zero.compile(), or one that was compiled with "
                                       "forward_only=True")
        if self._predicts is None:
            self._predicts = self._forward()
        return self._predicts

    @cached_property
    def info(self) -> dict:
        """A dictionary: name, producer, optimizer, ranks, stage, micro_batches, threads_per_rank,
        learning_rate, planned_elements (that a rank receives in a step), commands, device,
        nvme_read and nvme_written (bytes of a step)."""
        return self._executable.info()

    name = property(lambda self: self._about("name", "model"), doc="Of the model.")
    stage = property(lambda self: self._about("stage", "stage"), doc="Of ZeRO, 0 to 3.")
    ranks = property(lambda self: self._about("ranks", "ranks"), doc="Of all axes of the mesh.")
    optimizer = property(lambda self: self._about("optimizer", "optimizer"),
                         doc="With its settings; empty if the program does not train.")

    def _about(self, name, in_plan):
        return self.info[name] if self._opened else self.plan[in_plan]

    @cached_property
    def mesh(self) -> dict[str, int]:
        """The number of ranks along each axis ("data", "tensor"), the outermost first."""
        if self._opened is None:
            return mesh_of_plan(self.plan)
        return self._executable.mesh()

    @cached_property
    def volumes(self) -> dict[str, int]:
        """Elements that a rank receives in a step by plan, by the axes of the ranks that exchange
        them: "data" for ZeRO's, "tensor" for those of activations. Without control scalars."""
        if self._opened is None:
            return volumes_of_plan(self.plan)
        return self._executable.volumes()

    @cached_property
    def inputs(self) -> tuple[Value, ...]:
        """Values that a step is given, in order; their shapes are those of one rank."""
        return tuple(Value(**fields) for fields in self._executable.inputs())

    @cached_property
    def outputs(self) -> tuple[Value, ...]:
        """Values that a step returns, in order; their shapes are those of one rank."""
        return tuple(Value(**fields) for fields in self._executable.outputs())

    @cached_property
    def tensors(self) -> tuple[Value, ...]:
        """All state: parameters, buffers, optimizer state; shapes are those of whole tensors."""
        return tuple(Value(**fields) for fields in self._executable.tensors())

    @cached_property
    def parameters(self) -> tuple[Value, ...]:
        """The model's parameters, those that are frozen among them."""
        return tuple(value for value in self.tensors if value.role == "parameters")

    @cached_property
    def gradients(self) -> tuple[Value, ...]:
        """The parameters whose gradients a Session can read."""
        return tuple(Value(**fields) for fields in self._executable.gradients())

    def _has_output(self, name):
        return any(value.name == name for value in self.outputs)

    @cached_property
    def certificate(self) -> Certificate:
        """The memory of each rank as planned, exact to the byte: a zero.Certificate."""
        if self._opened is None:
            return certificate_of_plan(self.plan)
        return Certificate((fields["tier"], Tier(**fields))
                           for fields in self._executable.certificates())

    @property
    def plan(self) -> dict:
        """What `zeroc --report=FILE.json` writes, as a dictionary; docs/reference/report.md has its
        fields."""
        if self._plan is None:
            raise NotFoundError("a program that was loaded from a file has no plan and no report: "
                                "they are written when it is compiled")
        return self._plan

    @property
    def report(self) -> Report:
        """The page of the plan: a zero.Report."""
        self.plan  # whether there is one
        return Report(self._report)

    @property
    def estimate(self) -> dict | None:
        """The compiler's estimate of a step: machine, seconds, stalled (seconds that compute
        waits), lanes (seconds by lane); None without one."""
        return self._executable.plan()

    def simulate(self, machine=None, *, slowest=None, trace=None) -> Simulation:
        """Simulates a step on the description of a machine; the program does not run.

        machine: a preset ("cpu", "a100", "h100", "h200") or a file that `zero-run --calibrate`
            wrote.
        slowest: the last rank computes so many times more slowly.
        trace: a file to write a timeline to, for ui.perfetto.dev.

        Returns a zero.Simulation. Raises ToolError with the text of zero-sim.
        """
        given = {"machine": machine, "slowest": slowest, "trace": trace}
        flags = [f"--{name}={value}" for name, value in given.items() if value is not None]
        self._executable  # whether there is one
        text, _ = run_tool("zero-sim", self.path, "--json", *flags)
        data = json.loads(text)
        return Simulation(data["seconds"], data["machine"], data)

    def session(self, **keywords) -> Session:
        """A zero.Session of this program, with its keywords."""
        return self._begin(self, **keywords)

    def save(self, path) -> Path:
        """Writes the executable to a file; returns the path.

        An executable refers to the model's file for initial values. If the model was given in
        memory, it is written beside the executable, with the suffix .onnx or .mlir, and compiled
        again. Initial values that the executable cannot refer to, as those of a program of PyTorch
        or JAX, are written beside it as .safetensors: give them to Session(weights=...).
        """
        self._executable  # whether there is one
        if self._rebuild is not None:
            self._rebuild(Path(path))
        elif Path(path).resolve() != self.path.resolve():
            shutil.copyfile(self.path, path)
        return Path(path)

    def __repr__(self):
        peak = bytes_text(self.certificate.peak)
        return (f"Program({self.name!r}: ZeRO stage {self.stage} on {self.ranks} "
                f"rank{'s' if self.ranks > 1 else ''}, {self.optimizer or 'forward only'}, {peak} "
                "per rank)")


def load(path) -> Program:
    """The program of a .zexe file. Its plan and report are not in the file.

    Raises BadFileError, UnsupportedError or IoError with the reason.
    """
    return Program(path)


def temporary_folder():
    """A directory that is removed with the object that has it."""
    return tempfile.TemporaryDirectory(prefix="zero-")
