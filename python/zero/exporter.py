"""Runs PyTorch's ONNX exporter, and restores what it loses."""

import inspect
import keyword
import warnings

import torch

from .errors import ExportError
from .rewrites import Rewrites

def signature_of(names):
    """A signature with these names, so that PyTorch calls no node of the graph like an input; None
    if Python cannot have them."""
    if not all(name.isidentifier() and not keyword.iskeyword(name) for name in names):
        return None
    kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
    return inspect.Signature([inspect.Parameter(name, kind) for name in names])


def _cause(error):
    """What an error of the exporter is about: its own text only points to the first error."""
    while error.__cause__ is not None:
        error = error.__cause__
    return error


def with_loss(module, batch, loss):
    """The module with a forward that returns the loss. All of its tensors and parts are those of
    `module`, under the same names.

    Its attribute `rewrites` is the context of the forward, and `results` has the names of buffers
    whose new values the forward returns, too.
    """
    forward = module.forward
    result = object.__new__(type(module))
    result.__dict__.update(module.__dict__)
    if inspect.ismethod(forward) and forward.__self__ is module:
        forward = forward.__func__.__get__(result)  # so that what it assigns is exported

    def forward_with_loss(*values):
        with result.rewrites:
            value = batch.loss(forward, loss, values)
        written = [result.get_buffer(name).clone() for name in result.results]
        return (value, *written) if written else value
    if signature := signature_of(batch.inputs):
        forward_with_loss.__signature__ = signature
    result.__dict__ |= {"forward": forward_with_loss, "rewrites": Rewrites(), "results": []}
    return result


def tensors_read(program, results):
    """The names of the parameters and buffers that results of an ExportedProgram depend on."""
    signature = program.graph_signature
    targets = {**signature.inputs_to_parameters, **signature.inputs_to_buffers}
    output = next(node for node in program.graph.nodes if node.op == "output")
    waiting = [node for node in output.all_input_nodes if node.name in results]
    reached = set(waiting)
    while waiting:
        new = set(waiting.pop().all_input_nodes) - reached
        reached |= new
        waiting.extend(new)
    return {targets[node.name] for node in reached if node.name in targets}


def _written(program):
    """The values that forward writes to buffers that the loss of this or a later step depends on,
    by the buffer's name."""
    signature = program.graph_signature
    values = {buffer: value for value, buffer in signature.buffers_to_mutate.items()}
    found, results = {}, set(signature.user_outputs)
    while new := {buffer: values[buffer] for buffer in tensors_read(program, results)
                  if buffer in values and buffer not in found}:
        found |= new
        results = set(new.values())
    return found


def _names_made(graph):
    return {value.name for node in graph for value in node.outputs}


def _with_written(module, program, export):
    """The program with the values that forward writes to buffers that it reads. The exporter drops
    a value that nothing in the graph reads, unless it is also a result."""
    written = _written(program.exported_program)
    made = _names_made(program.model.graph)
    module.results = sorted(buffer for buffer, value in written.items() if value not in made)
    if not module.results:
        return program
    program = export()
    graph = program.model.graph
    for value in list(graph.outputs)[1:]:
        graph.outputs.remove(value)
    made = _names_made(graph)
    for buffer, value in _written(program.exported_program).items():
        if value not in made:
            raise ExportError(f"forward updates the buffer '{buffer}', but its new value is not in "
                              f"the graph: compute it from inputs, parameters and buffers")
    return program


def _rename_inputs(graph, names):
    """Gives the inputs their names. Values that the exporter has called so get others."""
    taken = {value.name for value in graph.initializers.values()} & set(names)
    if taken:
        name = sorted(taken)[0]
        raise ExportError(f"the input '{name}' has the name of a tensor of the module: give it "
                          f"another name in forward, or in the dictionary example_batch")
    for node in graph:
        for value in node.outputs:
            if value.name in names:
                value.name = f"{value.name}_value"
    for value, name in zip(graph.inputs, names):
        value.name = name


def run_exporter(module, values, names, dynamic_shapes):
    """The ONNXProgram of a module of with_loss().

    values: of the inputs, in the order of `names`.
    """
    outputs = ["loss" if "loss" not in names else "loss_value"]

    def export():
        results = [f"next.{name}" for name in module.results]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return torch.onnx.export(module, values, dynamo=True, optimize=False, verbose=False,
                                     output_names=[*outputs, *results],
                                     dynamic_shapes=dynamic_shapes)
    try:
        try:
            program = export()
        except torch.onnx.errors.OnnxExporterError as error:
            if "Cannot view a tensor" not in str(_cause(error)):
                raise
            module.rewrites = Rewrites(lays_out=True)
            program = export()
        program = _with_written(module, program, export)
    except torch.onnx.errors.OnnxExporterError as error:
        cause = _cause(error)
        if isinstance(cause, ExportError):
            raise cause from None
        raise ExportError(f"PyTorch cannot export the module: {type(cause).__name__}: {cause} "
                          f"(docs/guides/export.md has ways for some functions)") from error
    _rename_inputs(program.model.graph, names)
    return program
