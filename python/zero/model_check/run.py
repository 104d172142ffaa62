"""Checks a program against its model."""

import tempfile
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
import onnx
from google.protobuf.message import DecodeError
from onnx import TensorProto
from onnx.external_data_helper import load_external_data_for_tensor, uses_external_data

from ..errors import BadFileError, CompileError, UnsupportedError
from ..session import Session, load
from ..tools import run_tool
from .evaluation import Evaluation, constants_as_initializers
from .gradients import NotSmooth, chance, compare
from .inputs import draw_batch, draw_parameters, draw_zeros, filled, padding_rows, widened
from .shrink import shrink

# A power of two, so large that the parameters after a step of SGD have all digits of the gradient.
RATE = 2.0 ** 20
PLAIN = "sgd(momentum=0 dampening=0 weight_decay=0)"
POINTS = 5  # drawn at most, until the loss is smooth near one
LARGE = 1 << 24  # elements of weights that are drawn, not read


@dataclass(frozen=True)
class Outcome:
    """What was compared.

    Attributes:
        program, expected: the losses.
        comparisons: of gradients.
        left_out: saved tensors, and rows of some, that have no gradient.
        source: where the gradients of the program are from.
        directions: for each parameter.
        tolerance: as a part of the norm of a gradient.
        sizes: which sizes were made smaller.
    """
    program: float
    expected: float
    comparisons: list
    left_out: list
    source: str
    directions: int
    tolerance: float
    sizes: dict = field(default_factory=dict)

    def errors(self):
        """A sentence for each difference."""
        if abs(self.program - self.expected) > self.tolerance * max(1, abs(self.expected)):
            yield f"the loss is {self.program:.9g} in the program, {self.expected:.9g} by nodes"
        for one in self.comparisons:
            if not one.error <= self.tolerance:
                yield (f"'{one.name}', direction {one.direction}: the derivative is "
                       f"{one.program:.9g} by the gradient of the program, {one.expected:.9g} by "
                       f"differences of the loss; tolerance {self.tolerance * one.scale:.3g}")

    def summary(self):
        """Lines that say what was found, and how probable an error is that was not."""
        worst = max(self.comparisons, key=lambda one: one.error)
        names = len({one.name for one in self.comparisons})
        if self.sizes:
            yield "smaller sizes: " + ", ".join(f"{size} to {to}" for size, to in
                                                self.sizes.items())
        yield (f"loss: {self.program:.9g} in the program, {self.expected:.9g} by nodes in float64")
        yield (f"gradients: {names} parameters, {self.directions} random directions each, by "
               f"{self.source}; the largest difference is {worst.error:.2g} of the norm "
               f"('{worst.name}'), tolerance {self.tolerance:g}")
        if self.left_out:
            rest = f" and {len(self.left_out) - 4} more" if len(self.left_out) > 4 else ""
            yield f"without a gradient, not compared: {', '.join(self.left_out[:4])}{rest}"
        yield (f"not a proof: a gradient that is wrong by 1% of its norm passes with probability "
               f"{chance(0.01, self.tolerance, self.directions):.2g}")


def _read_tensor(tensor, folder):
    """Reads the elements of a tensor from its file; large or missing weights are left out."""
    entries = {entry.key: entry.value for entry in tensor.external_data}
    is_weight = tensor.data_type == TensorProto.FLOAT
    if is_weight and (np.prod(tensor.dims) > LARGE or not (folder / entries["location"]).exists()):
        return
    load_external_data_for_tensor(tensor, str(folder))
    tensor.ClearField("external_data")
    tensor.ClearField("data_location")


def read_model(path):
    """The model with its weights, and constants as initializers."""
    try:
        model = onnx.load(path, load_external_data=False)
    except DecodeError as error:
        raise BadFileError(f"expected an ONNX model, got '{path}': {error}") from error
    constants_as_initializers(model.graph)
    for tensor in model.graph.initializer:
        if uses_external_data(tensor):
            _read_tensor(tensor, Path(path).parent)
    return model


def _shrunk(model, path, loss):
    """Writes a model with smaller sizes, and returns it."""
    def check(small):
        evaluation = Evaluation(filled(small), loss)
        evaluation.loss(draw_zeros(small.graph))

    small, sizes = shrink(model, check)
    onnx.save(filled(small), path)
    return small, {size: to for size, to in sizes.items() if size != to}


def _trained(program, model):
    """Names of parameters with gradients."""
    types = {tensor.name: tensor.data_type for tensor in model.graph.initializer}
    names = [value.name for value in program.tensors
             if value.role == "parameters" and not value.frozen]
    if not names:
        raise UnsupportedError("expected a program that trains parameters")
    for name in names:
        if name not in types:
            raise UnsupportedError(f"the program trains '{name}', which is no initializer of the "
                                   f"model; if zeroc restored it from what the exporter notes, "
                                   f"export with optimize=False")
        if types[name] != TensorProto.FLOAT:
            raise UnsupportedError(f"expected parameters of float32, got "
                                   f"{TensorProto.DataType.Name(types[name])} for '{name}'")
    return names


def _step(program, batch, parameters):
    """Loss and gradients of one step, and what the gradients are from."""
    plain = program.optimizer == PLAIN
    with Session(program, learning_rate=RATE if plain else None) as session:
        session.load_state_dict(parameters, strict=False)
        result = session.step(batch, keep_gradients=not plain)
        if plain:
            return result.loss, {
                name: (value - session.tensor(name).astype(np.float64)) / result.learning_rate
                for name, value in parameters.items()}, "an update of SGD"
        return result.loss, {name: session.gradient(name).astype(np.float64)
                             for name in parameters}, "the gradients that a run keeps"


def _compared(model, program, loss, directions, tolerance, random):
    """The Outcome at a point that is drawn."""
    evaluation = Evaluation(filled(model), loss)
    names = _trained(program, model)
    batch = draw_batch(model.graph, evaluation, program.inputs, random)
    parameters = draw_parameters({name: evaluation.initial[name] for name in names}, random)
    found, gradients, source = _step(program, batch, parameters)
    feeds = {name: value.astype(widened(value.dtype.name))
             for name, value in {**batch, **parameters}.items()}
    padding = padding_rows(model.graph)
    comparisons = list(compare(evaluation.loss, feeds, gradients, padding, directions, tolerance,
                               random))
    left_out = [value.name for value in program.tensors
                if value.saved and value.name not in names]
    left_out += [f"row {row} of {name} (padding_idx)" for name, row in padding.items()
                 if name in names]
    return Outcome(found, evaluation.loss(feeds), comparisons, left_out, source, directions,
                   tolerance)


def check_model(path, reference=None, *, shrinks=False, small=None, directions=2, tolerance=1e-4,
                seed=0, loss=None, flags=()):
    """Compares the loss and the gradients of a program with an evaluation of its model.

    path: of the ONNX model.
    reference: path of its executable of one rank along data; compiled with SGD and `flags` if not
        given.
    shrinks: whether the sizes of the model are made smaller first.
    small: path to write that model to.

    Returns an Outcome.
    """
    random = np.random.default_rng(seed)
    model, sizes = read_model(path), {}
    with tempfile.TemporaryDirectory() as folder:
        if shrinks:
            path = small or Path(folder) / "small.onnx"
            model, sizes = _shrunk(model, path, loss)
        if not reference:
            reference = Path(folder) / "reference.zexe"
            run_tool("zeroc", path, "--optimizer=sgd", "-o", reference, *flags, error=CompileError)
        program = load(reference)
        if program.mesh.get("data", 1) != 1 or program.info["micro_batches"] != 1:
            raise UnsupportedError(f"expected a program of one rank along data and one micro-batch, "
                                   f"got {program.mesh.get('data', 1)} and "
                                   f"{program.info['micro_batches']}")
        for _ in range(POINTS):
            try:
                outcome = _compared(model, program, loss, directions, tolerance, random)
                return replace(outcome, sizes=sizes)
            except NotSmooth as error:
                reason = error
    raise UnsupportedError(f"{reason}, at {POINTS} points")
