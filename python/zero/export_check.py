"""Compares an exported graph with its module: tensors, loss and gradients."""

import contextlib
import copy
import json
import tempfile
from pathlib import Path

import numpy as np
import onnx
import torch
from onnx.external_data_helper import load_external_data_for_tensor, uses_external_data
from torch.utils._python_dispatch import TorchDispatchMode

from .errors import ExportError, ToolError
from .lora_layers import adapter_of
from .state import State, list_differences
from .tools import run_tool
from .weights import read_safetensors

# Nodes that draw random numbers also when a graph is evaluated, unlike Dropout.
_RANDOM = {"Bernoulli", "Multinomial", "RandomNormal", "RandomNormalLike", "RandomUniform",
           "RandomUniformLike"}


def _tied(module):
    """The names of the state_dict, in groups of those that are one tensor, and its tensors."""
    tensors, groups = module.state_dict(keep_vars=True), {}
    for name, value in tensors.items():
        if not isinstance(value, torch.Tensor):
            raise ExportError(f"expected tensors in the state_dict, got {type(value).__name__} for "
                              f"'{name}'")
        groups.setdefault(id(value), []).append(name)
    return tensors, list(groups.values())


def _read_targets(program):
    """The names of the parameters and buffers that the loss of the exported program depends on."""
    signature = program.graph_signature
    targets = {**signature.inputs_to_parameters, **signature.inputs_to_buffers}
    results = next(node for node in program.graph.nodes if node.op == "output").all_input_nodes
    waiting = [node for node in results if node.name in signature.user_outputs]
    reached = set(waiting)
    while waiting:
        new = set(waiting.pop().all_input_nodes) - reached
        reached |= new
        waiting.extend(new)
    return {targets[node.name] for node in reached if node.name in targets}


def _bytes(tensor):
    return tensor.detach().cpu().contiguous().reshape(-1).view(torch.uint8).numpy().tobytes()


def _compare(name, initializer, tensor, folder):
    """What differs between an initializer and the module's tensor, or None."""
    if tuple(initializer.dims) != tuple(tensor.shape):
        transposed = tuple(initializer.dims) == tuple(reversed(tensor.shape))
        return (f"'{name}': the module has the shape {tuple(tensor.shape)}, the graph "
                f"{tuple(initializer.dims)}{', which is transposed' if transposed else ''}")
    if uses_external_data(initializer):
        stored = onnx.TensorProto()
        stored.CopyFrom(initializer)
        load_external_data_for_tensor(stored, str(folder))
        initializer = stored
    array = onnx.numpy_helper.to_array(initializer)
    if array.dtype.name != str(tensor.dtype).removeprefix("torch."):
        return f"'{name}': the module has {tensor.dtype}, the graph {array.dtype.name}"
    return None if array.tobytes() == _bytes(tensor) else f"'{name}': the values differ"


def _place(names, initializers):
    """The initializer of a tensor with these names, or None; and what is wrong, or None."""
    found = [name for name in names if name in initializers]
    if len(found) > 1:
        return found[0], f"'{found[0]}' and '{found[1]}' are tied, but have an initializer each"
    return (found[0], None) if found else (None, None)


def check_state(module, batch, program, path):
    """Compares the tensors of the graph with the module's.

    Returns the State of the graph, the names of what it lacks because the loss does not depend on
    it, and a list of sentences about what is lost with these. Raises ExportError with all tensors
    that were folded, renamed, dropped or changed.
    """
    graph = onnx.load(path, load_external_data=False).graph
    initializers = {initializer.name: initializer for initializer in graph.initializer}
    tensors, groups = _tied(module)
    read, unread, differences, places = _read_targets(program), set(), [], {}
    for names in groups:
        tensor = tensors[names[0]]
        place, problem = _place(names, initializers)
        if place is not None:
            problem = problem or _compare(place, initializers[place], tensor, path.parent)
        elif read.intersection(names):
            problem = f"'{names[0]}': the loss depends on it, but the graph lacks it"
        else:
            unread.update(names)
        differences += [problem] if problem else []
        places.update(dict.fromkeys(names, place))
    if differences:
        raise ExportError(f"'{path}' differs from the module:{list_differences(differences)}")
    roles = {name: "trained" if parameter.requires_grad else "frozen"
             for name, parameter in module.named_parameters(remove_duplicate=False)}
    entries = {name: {"initializer": places[name], "shape": list(tensor.shape),
                      "dtype": str(tensor.dtype).removeprefix("torch."),
                      "role": roles.get(name, "buffer")} for name, tensor in tensors.items()}
    buffers = [name for name, _ in module.named_buffers() if name not in tensors]
    lost = [f"forward updates '{name}', which the loss does not depend on: Zero does not update it"
            for name in program.graph_signature.buffers_to_mutate.values()
            if name in unread and tensors[name].is_floating_point()]
    return State(entries, _input_shapes(graph), buffers, adapter_of(module)), unread, lost


def _input_shapes(graph):
    return {value.name: [size.dim_param and "batch" or size.dim_value
                         for size in value.type.tensor_type.shape.dim] for value in graph.input}


def _arguments(function, args, kwargs):
    """The arguments of a call of an operator by name, with defaults."""
    given = {argument.name: argument.default_value for argument in function._schema.arguments}
    return {**given, **dict(zip(given, args)), **kwargs}


class _WithoutDropout(TorchDispatchMode):
    """Replaces each draw of dropout by its mean, so that dropout changes nothing, and notes whether
    anything was drawn."""

    def __init__(self):
        super().__init__()
        self.drawn = False

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        if torch.Tag.nondeterministic_seeded not in function.tags:
            return function(*args, **kwargs)
        given = _arguments(function, args, kwargs)
        if given.get("dropout_p") == 0:  # Attention draws only for its dropout.
            return function(*args, **kwargs)
        self.drawn = True
        if function is torch.ops.aten.bernoulli_.float:
            return given["self"].fill_(given["p"])
        if function is torch.ops.aten.native_dropout.default:
            return args[0].clone(), torch.ones_like(args[0], dtype=torch.bool)
        return function(*args, **kwargs)


def _in_float(module, batch):
    """The module and inputs as Zero computes with them: 16-bit tensors as float32."""
    def is_half(value):
        return value.dtype in (torch.float16, torch.bfloat16)
    values = [value.float() if is_half(value) else value.clone() for value in batch.inputs.values()]
    if any(map(is_half, [*module.parameters(), *module.buffers()])):
        module = copy.deepcopy(module).float()
    return module, values


@contextlib.contextmanager
def same_buffers(module):
    """Restores the buffers of a module after the body, which may change or replace them."""
    owners = [(part._buffers, dict(part._buffers)) for part in module.modules()]
    values = [(buffer, buffer.clone()) for buffer in module.buffers()]
    try:
        yield
    finally:
        for owner, buffers in owners:
            owner.update(buffers)
        with torch.no_grad():
            for buffer, value in values:
                buffer.copy_(value)


@contextlib.contextmanager
def _running_statistics(module):
    """Lets the batch normalizations of a module use their running statistics in the body."""
    norms = [part for part in module.modules()
             if part.training and isinstance(part, torch.nn.modules.batchnorm._BatchNorm)]
    try:
        for part in norms:
            part.training = False
        yield
    finally:
        for part in norms:
            part.training = True


def _loss_of(module, batch, loss, values):
    """PyTorch's loss without dropout, and whether it has dropout."""
    with torch.random.fork_rng(devices=[]), torch.enable_grad(), _WithoutDropout() as mode:
        return batch.loss(module.forward, loss, values), mode.drawn


def _torch_figures(module, batch, loss):
    """PyTorch's loss, and the gradients by name, which are None if the loss has dropout. It is then
    computed as Zero evaluates it: without dropout, and with running statistics. Tied parameters
    have each of their names."""
    module, values = _in_float(module, batch)
    with same_buffers(module):
        result, drawn = _loss_of(module, batch, loss, values)
        if not drawn:
            trained = {name: value for name, value
                       in module.named_parameters(remove_duplicate=False) if value.requires_grad}
            gradients = torch.autograd.grad(result, list(trained.values()), allow_unused=True)
            return result.item(), dict(zip(trained, gradients))
    with same_buffers(module), _running_statistics(module):
        return _loss_of(module, batch, loss, values)[0].item(), None


def _run(export, batch, evaluate):
    """The loss of the example that zero-run computes, and its gradients by name unless it only
    evaluates."""
    with tempfile.TemporaryDirectory() as folder:
        arrays = {name: value.detach().cpu() for name, value in batch.inputs.items()}
        np.savez(Path(folder, "batch.npz"),
                 **{name: (value.float() if value.dtype == torch.bfloat16 else value).numpy()
                    for name, value in arrays.items()})
        what = [f"--eval-data={folder}/batch.npz", "--steps=0"] if evaluate else \
            [f"--data={folder}/batch.npz", "--steps=1", "--lr=0",
             f"--dump-gradients={folder}/gradients.safetensors"]
        try:
            run_tool("zero-run", export.path, *export.flags(), *what, "--optimizer=sgd",
                     f"--report-json={folder}/report.json", "--quiet", "--allow-nan")
        except ToolError as error:
            raise ExportError("the loss cannot be compared (check=False leaves that out): "
                              f"zero-run on '{export.path}': {error}") from error
        report = json.loads(Path(folder, "report.json").read_text())
        if evaluate:
            return report["evaluations"][0]["eval_loss"], None
        gradients = {name: array.copy() for name, (array, _)
                     in read_safetensors(Path(folder, "gradients.safetensors")).items()}
        return report["losses"][0], gradients


def _compare_gradients(expected, actual, export, tolerance):
    """The differences of gradients. Rounding of the whole step is allowed in each of them."""
    arrays = {name: None if value is None else value.to_dense().cpu().numpy()
              for name, value in expected.items()}
    norms = {name: np.linalg.norm(value) for name, value in arrays.items() if value is not None}
    least, differences, seen = 1e-2 * max(norms.values(), default=0), [], set()
    for name, value in arrays.items():
        place = export.state.tensors[name]["initializer"]
        if place in seen:
            continue
        seen.add(place)
        got = actual.get(place)
        if value is None:
            if got is not None and np.any(got):
                differences.append(f"the gradient of '{name}': PyTorch has none")
        elif got is None:
            differences.append(f"the gradient of '{name}': Zero does not train it")
        else:
            error = np.linalg.norm(got - value)
            if not error <= tolerance * max(norms[name], least):
                differences.append(f"the gradient of '{name}': it is {error:.3g} from PyTorch's, "
                                   f"of norm {norms[name]:.3g}")
    differences += [f"the gradient of '{name}': PyTorch does not train it" for name in actual
                    if name not in seen]
    return differences


def check_gradients(module, batch, loss, export, tolerance):
    """Compares the loss and the gradients of the example with the module's.

    Returns a list of sentences about what was not compared. Raises ExportError with what differs.
    """
    nodes = onnx.load(export.path, load_external_data=False).graph.node
    random = sorted({node.op_type for node in nodes} & _RANDOM)
    if random:
        return [f"the loss was not compared with the module's: it draws random numbers by "
                f"{', '.join(random)}"]
    expected, gradients = _torch_figures(module, batch, loss)
    drawn = gradients is None
    actual, own = _run(export, batch, evaluate=drawn)
    differences = []
    if not abs(actual - expected) <= tolerance * max(abs(expected), 1e-3):
        differences.append(f"the loss: expected {expected:.7g}, as the module computes it"
                           f"{' without dropout' if drawn else ''}, got {actual:.7g}")
    if not drawn:
        differences += _compare_gradients(gradients, own, export, tolerance)
    if differences:
        raise ExportError(f"'{export.path}' differs from the module:"
                          f"{list_differences(differences)}")
    return ["gradients were not compared with the module's, because it has dropout; the loss was "
            "compared without it"] if drawn else []
