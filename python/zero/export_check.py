"""Compares an exported graph with its module: tensors, loss and gradients."""

import contextlib
import copy
import json
import math
import tempfile
from pathlib import Path

import numpy as np
import onnx
import torch
from onnx.external_data_helper import load_external_data_for_tensor, uses_external_data
from torch.utils._python_dispatch import TorchDispatchMode

from .adapters import digests_of
from .errors import ExportError, ToolError
from .exporter import tensors_read
from .lora_layers import adapter_of
from .state import State, list_differences
from .stored import OnDisk, in_place_of
from .tools import run_tool
from .weights import array_of, read_safetensors

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
    read = tensors_read(program, program.graph_signature.user_outputs)
    unread, differences, places = set(), [], {}
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
    lost += [f"forward updates '{name}', on which the loss depends: Zero keeps its initial value, "
             f"because only buffers of floats are carried from step to step"
             for name in program.graph_signature.buffers_to_mutate.values()
             if name in tensors and name not in unread and not tensors[name].is_floating_point()]
    adapter = adapter_of(module)
    if adapter is not None:
        _add_digests(entries, tensors)
    return State(entries, _input_shapes(graph), buffers, adapter), unread, lost


def _add_digests(entries, tensors):
    """Enters what identifies the base of an adapter into the entries of frozen tensors."""
    by_place = {}
    for name, entry in entries.items():
        place = entry["initializer"]
        if entry["role"] == "frozen" and place and tensors[name].is_floating_point():
            if place not in by_place:
                by_place[place] = digests_of(*array_of(name, tensors[name]))
            entry["digests"] = by_place[place]


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


def _computing_in(dtype, module, batch, disk):
    """The module and inputs with floats of another type. As float32, only 16-bit tensors change, as
    in Zero. With `disk`, other values of the module are in its files."""
    def changes(value):
        return value.is_floating_point() and value.dtype != dtype and (
            dtype == torch.float64 or value.dtype in (torch.float16, torch.bfloat16))
    values = [value.to(dtype) if changes(value) else value.clone()
              for value in batch.inputs.values()]
    tensors = [*module.parameters(), *module.buffers()]
    if any(map(changes, tensors)):
        kept = {id(tensor): in_place_of(tensor, disk.copy(tensor, dtype)) if changes(tensor)
                else tensor for tensor in tensors} if disk else {}
        module = copy.deepcopy(module, kept).to(dtype)
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


# With values in files, so many parts of the gradients are computed one after the other.
_PARTS = 8


def _parts(trained):
    """The names of tensors in groups of about equal bytes."""
    most = sum(value.nbytes for value in trained.values()) // _PARTS
    groups, size = [[]], 0
    for name, value in trained.items():
        if size > most:
            groups.append([])
            size = 0
        groups[-1].append(name)
        size += value.nbytes
    return groups


def _gradients(result, trained, disk):
    """A dictionary from the names of parameters to their gradients. With `disk`, the gradients are
    computed in several parts, and kept in its files."""
    gradients = {}
    for names in _parts(trained) if disk else [list(trained)]:
        found = torch.autograd.grad(result, [trained[name] for name in names], allow_unused=True,
                                    retain_graph=bool(disk))
        for name, value in zip(names, found):
            value = None if value is None else value.to_dense().cpu()
            gradients[name] = None if value is None else \
                (disk.copy(value, value.dtype) if disk else value).numpy()
        if disk:
            del found, value
            disk.trim()
    return gradients


def _torch_figures(module, batch, loss, disk, dtype=torch.float32):
    """PyTorch's loss, and the gradients by name, which are None if the loss has dropout. It is then
    computed as Zero evaluates it: without dropout, and with running statistics. Tied parameters
    have each of their names."""
    module, values = _computing_in(dtype, module, batch, disk)
    with same_buffers(module):
        result, drawn = _loss_of(module, batch, loss, values)
        if not drawn:
            trained = {name: value for name, value
                       in module.named_parameters(remove_duplicate=False) if value.requires_grad}
            return result.item(), _gradients(result, trained, disk)
    with same_buffers(module), _running_statistics(module):
        return _loss_of(module, batch, loss, values)[0].item(), None


def _torch_rounding(module, batch, loss, expected, gradients, disk):
    """PyTorch's figures in float64, and how far those of float32 are from them: of the loss, and
    of gradients by name. None if the module cannot compute in float64."""
    try:
        exact, exact_gradients = _torch_figures(module, batch, loss, disk, torch.float64)
    except Exception:  # whatever a module raises that has float32 in its code
        return None
    distances = {name: _distance(value, exact_gradients[name])
                 for name, value in (gradients or {}).items()}
    return exact, exact_gradients, abs(expected - exact), distances


def _number(value):
    """JSON has no infinity, and null in its place."""
    return math.nan if value is None else value


def _run(export, batch, evaluate, folder, disk):
    """The loss of the example that zero-run computes, and its gradients by name unless it only
    evaluates. With `disk`, within the memory that there is, with state in files."""
    arrays = {name: value.detach().cpu() for name, value in batch.inputs.items()}
    np.savez(Path(folder, "batch.npz"),
             **{name: (value.float() if value.dtype == torch.bfloat16 else value).numpy()
                for name, value in arrays.items()})
    what = [f"--eval-data={folder}/batch.npz", "--steps=0"] if evaluate else \
        [f"--data={folder}/batch.npz", "--steps=1", "--lr=0",
         f"--dump-gradients={folder}/gradients.safetensors"]
    memory = ["--auto", "--zero-stage=3", f"--nvme-dir={folder}",
              *(f"--offload-{each}=nvme" for each in ("params", "gradients", "optimizer"))] \
        if disk else []
    try:
        run_tool("zero-run", export.path, *export.flags(), *what, *memory, "--optimizer=sgd",
                 f"--report-json={folder}/report.json", "--quiet", "--allow-nan")
    except ToolError as error:
        raise ExportError("the loss cannot be compared (check=False leaves that out): "
                          f"zero-run on '{export.path}': {error}") from error
    report = json.loads(Path(folder, "report.json").read_text())
    if evaluate:
        return _number(report["evaluations"][0]["eval_loss"]), None
    gradients = {name: array for name, (array, _)
                 in read_safetensors(Path(folder, "gradients.safetensors")).items()}
    return _number(report["losses"][0]), gradients


def _distance(left, right):
    return 0.0 if left is None or right is None else np.linalg.norm(left - right)


def _compare_gradients(expected, actual, export, tolerance, rounding):
    """The differences of gradients. Rounding of the whole step is allowed in each of them, and
    `rounding` by name."""
    norms = {name: np.linalg.norm(value) for name, value in expected.items() if value is not None}
    least, differences, seen = 1e-2 * max(norms.values(), default=0), [], set()
    for name, value in expected.items():
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
            error = _distance(got, value)
            if not error <= tolerance * max(norms[name], least) + rounding.get(name, 0):
                differences.append(f"the gradient of '{name}': it is {error:.3g} from PyTorch's, "
                                   f"of norm {norms[name]:.3g}")
    differences += [f"the gradient of '{name}': PyTorch does not train it" for name in actual
                    if name not in seen]
    return differences


def _compare_figures(figures, own, export, tolerance, rounding=0, gradient_rounding=None):
    """The differences of the loss and of gradients."""
    (expected, gradients), (actual, own_gradients) = figures, own
    differences = []
    if not abs(actual - expected) <= tolerance * max(abs(expected), 1e-3) + rounding:
        got = f"{actual:.7g}" if math.isfinite(actual) else "one that is infinite or NaN"
        differences.append(f"the loss: expected {expected:.7g}, as the module computes it"
                           f"{' without dropout' if gradients is None else ''}, got {got}")
    if gradients is not None:
        differences += _compare_gradients(gradients, own_gradients, export, tolerance,
                                          gradient_rounding or {})
    return differences


# Zero and PyTorch add in other orders, so that one may round so many times worse than the other.
_ROUNDINGS = 10


def check_gradients(module, batch, loss, export, tolerance, on_disk=False):
    """Compares the loss and the gradients of the example with the module's. Where they differ, they
    are compared with the module's in float64, and may differ by its own rounding. With `on_disk`,
    what is as large as the parameters is in files beside the graph meanwhile, not in memory.

    Returns a list of sentences about what was not compared. Raises ExportError with what differs.
    """
    nodes = onnx.load(export.path, load_external_data=False).graph.node
    random = sorted({node.op_type for node in nodes} & _RANDOM)
    if random:
        return [f"the loss was not compared with the module's: it draws random numbers by "
                f"{', '.join(random)}"]
    with tempfile.TemporaryDirectory(dir=export.path.parent if on_disk else None) as folder:
        has_gradients, differences = _differences(module, batch, loss, export, tolerance, folder,
                                                  OnDisk(folder) if on_disk else None)
    if differences:
        raise ExportError(f"'{export.path}' differs from the module:"
                          f"{list_differences(differences)}")
    return [] if has_gradients else ["gradients were not compared with the module's, because it has "
                                     "dropout; the loss was compared without it"]


def _differences(module, batch, loss, export, tolerance, folder, disk):
    """Whether the module has gradients to compare, and what differs."""
    expected, gradients = _torch_figures(module, batch, loss, disk)
    if not math.isfinite(expected):
        raise ExportError(f"the module's own loss of the example is {expected}: give an example "
                          f"with a finite loss (check=False leaves the comparison out)")
    own = _run(export, batch, gradients is None, folder, disk)
    differences = _compare_figures((expected, gradients), own, export, tolerance)
    rounding = differences and _torch_rounding(module, batch, loss, expected, gradients, disk)
    if rounding:
        exact, exact_gradients, of_loss, of_gradients = rounding
        differences = _compare_figures(
            (exact, exact_gradients), own, export, tolerance, _ROUNDINGS * of_loss,
            {name: _ROUNDINGS * distance for name, distance in of_gradients.items()})
    return gradients is not None, differences
