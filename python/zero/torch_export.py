"""Writes the forward and backward pass of a PyTorch module as linalg on tensors."""

import contextlib
import re
import traceback

import torch
from torch import nn

from .errors import ExportError
from .inputs import data_names
from .losses import check_loss
from .names import Names, check_path
from .trees import join


def _dtype(tensor):
    return str(tensor.dtype).removeprefix("torch.")


class _Tensors:
    """The parameters or buffers of a module, each once with its first name, and all their places.
    """

    def __init__(self, named, every):
        self.names = [name for name, _ in named]
        self.values = [value for _, value in named]
        index = {id(value): i for i, value in enumerate(self.values)}
        self.places = {name: index[id(value)] for name, value in every}


def _owner(module, name):
    """The dictionary of a submodule that has the tensor `name`, and its key there."""
    *path, last = name.split(".")
    owner = module.get_submodule(join(path))
    return (owner._parameters if last in owner._parameters else owner._buffers), last


@contextlib.contextmanager
def _replaced(module, tensors):
    """Replaces tensors of a module, by name, in the body."""
    places = {name: _owner(module, name) for name in tensors}
    before = {name: owner[key] for name, (owner, key) in places.items()}
    try:
        for name, (owner, key) in places.items():
            owner[key] = tensors[name]
        yield
    finally:
        for name, (owner, key) in places.items():
            owner[key] = before[name]


class _Distinct(torch.autograd.Function):
    """Returns its operand. The gradient is a value of its own: AOT autograd identifies gradients by
    their values, and the two biases of an LSTM have the same."""

    @staticmethod
    def forward(context, value):
        return value.view_as(value)

    @staticmethod
    def backward(context, gradient):
        return gradient.clone()


class _Loss(nn.Module):
    """A module that computes the loss, with tied tensors registered once.

    The names of registered tensors cannot have dots, so parameters are called p0, p1, ..., and
    buffers b0, b1, ...
    """

    def __init__(self, module, loss, inputs, by_name):
        super().__init__()
        self.wrapped = (module,)  # in a tuple, so that its tensors are not registered twice
        self.loss, self.inputs, self.by_name = loss, list(inputs), by_name
        self.tensors = {
            "p": _Tensors(list(module.named_parameters()),
                          module.named_parameters(remove_duplicate=False)),
            "b": _Tensors(list(module.named_buffers()),
                          module.named_buffers(remove_duplicate=False))}
        for index, value in enumerate(self.tensors["p"].values):
            self.register_parameter(f"p{index}", nn.Parameter(value.detach(), value.requires_grad))
        for index, value in enumerate(self.tensors["b"].values):
            self.register_buffer(f"b{index}", value.detach().clone())

    def name_of(self, registered):
        """The module's name of a registered tensor."""
        return self.tensors[registered[0]].names[int(registered[1:])]

    def forward(self, *values):
        module, = self.wrapped
        state = {key: _Distinct.apply(value) for key, value in self.named_parameters()}
        state.update(self.named_buffers())
        mine = {name: state[f"{kind}{index}"]
                for kind, tensors in self.tensors.items() for name, index in tensors.places.items()}
        function = self.loss or module
        first = (module,) if self.loss else ()
        with _replaced(module, mine):
            if self.by_name:
                result = function(*first, **dict(zip(self.inputs, values)))
            else:
                result = function(*first, *values)
            self._store_assigned(module)
        return (check_loss(result, "compute it with loss=lambda module, *inputs: ..."),)

    def _store_assigned(self, module):
        """Writes buffers that the module assigned, instead of changing them in place."""
        for index, name in enumerate(self.tensors["b"].names):
            owner, key = _owner(module, name)
            if owner[key] is not getattr(self, f"b{index}"):
                getattr(self, f"b{index}").copy_(owner[key])


@contextlib.contextmanager
def _settings():
    """What PyTorch needs to know while it traces: models do not branch on the values of masks if
    torch.compiler.is_exporting() is true, and recurrent layers become products without oneDNN."""
    wanted = [(torch.compiler, "_is_compiling_flag", True),
              (torch.compiler, "_is_exporting_flag", True),
              (torch.backends.mkldnn, "enabled", False)]
    before = [(owner, name, getattr(owner, name)) for owner, name, _ in wanted]
    try:
        for owner, name, value in wanted:
            setattr(owner, name, value)
        yield
    finally:
        for owner, name, value in before:
            setattr(owner, name, value)


def _trace(wrapper, values):
    """The joint graph of forward and backward, and what AOT autograd says about it."""
    from torch._functorch.aot_autograd import aot_export_module
    from torch.nn.attention import SDPBackend, sdpa_kernel
    from torch_mlir.extras.fx_decomp_util import get_decomposition_table
    # Other kernels of attention are single operators, whose backward torch-mlir does not know.
    with sdpa_kernel(SDPBackend.MATH), _settings():
        return aot_export_module(wrapper, values, trace_joint=True, output_loss_index=0,
                                 decompositions=get_decomposition_table())


def _freeze_unused(wrapper, values):
    """Freezes the parameters on which the loss does not depend: AOT autograd has no gradient for
    them."""
    trained = [value for value in wrapper.parameters() if value.requires_grad]
    before = [buffer.clone() for buffer in wrapper.buffers()]
    with torch.random.fork_rng(devices=[]):
        loss, = wrapper(*values)
    gradients = torch.autograd.grad(loss, trained, allow_unused=True)
    for buffer, value in zip(wrapper.buffers(), before):
        buffer.copy_(value)
    for parameter, gradient in zip(trained, gradients):
        parameter.requires_grad_(gradient is not None)


def _trace_trained(wrapper, values):
    """As _trace, also if some parameters are not used. Raises ExportError for a graph that depends
    on values."""
    from torch._subclasses.fake_tensor import (DataDependentOutputException,
                                               DynamicOutputShapeException)
    try:
        try:
            return _trace(wrapper, values)
        except AssertionError as error:
            if "did not receive a gradient" not in str(error):
                raise
        _freeze_unused(wrapper, values)
        return _trace(wrapper, values)
    except (DataDependentOutputException, DynamicOutputShapeException) as error:
        frames = [frame for frame in traceback.extract_tb(error.__traceback__)
                  if "/torch/_" not in frame.filename and "/torch/utils/" not in frame.filename]
        raise ExportError(f"{frames[-1].filename}:{frames[-1].lineno} reads the value of a tensor, "
                          f"which is not known in an export: {frames[-1].line}") from error


def _drop_counters(graph, signature):
    """Drops the next values of counters that nothing else reads, such as num_batches_tracked."""
    placeholders = {node.name: node for node in graph.nodes if node.op == "placeholder"}
    of_buffer = {key: placeholders[name] for name, key in signature.inputs_to_buffers.items()}
    output = next(node for node in graph.nodes if node.op == "output")
    results, kept = list(output.args[0]), dict(signature.buffers_to_mutate)
    for node in results[:len(kept)]:
        counter = of_buffer[kept[node.name]]
        only_counts = list(counter.users) == [node] and list(node.users) == [output]
        if only_counts and not counter.meta["val"].is_floating_point():
            del kept[node.name]
            results.remove(node)
    output.args = (tuple(results),)
    graph.eliminate_dead_code()
    signature.buffers_to_mutate = kept


def _check_deterministic(graph):
    for node in graph.nodes:
        tags = getattr(node.target, "tags", ())
        if torch.Tag.nondeterministic_seeded in tags:
            raise ExportError(f"{node.target} draws random numbers, which linalg cannot express: "
                              f"set the probability of each dropout to 0")


def _unknown_operators(graph_module):
    """The operators of a graph that torch-mlir has no operation for."""
    from torch_mlir import fx
    text = str(fx.stateless_fx_import(graph_module, model_name="joint"))
    return sorted(set(re.findall(r'torch\.operator "torch\.([\w.]+)"', text)))


def _lower(graph_module):
    """The module of torch-mlir for a graph."""
    from torch_mlir import fx
    from torch_mlir.compiler_utils import TorchMlirCompilerError
    try:
        return fx.stateless_fx_import(graph_module, output_type="linalg-on-tensors",
                                      model_name="joint")
    except TorchMlirCompilerError as error:
        unknown = _unknown_operators(graph_module)
        raise ExportError("torch-mlir cannot lower " +
                          (f"{', '.join(unknown)}: compute it with other operators" if unknown else
                           "the graph; its messages are above")) from error


def _name_arguments(names, graph, signature, wrapper, inputs):
    """Names the arguments that the graph reads, and drops the others."""
    trained = set(signature.backward_signature.gradients_to_parameters.values())
    registered = {**signature.inputs_to_parameters, **signature.inputs_to_buffers}
    data = dict(zip(signature.user_inputs, inputs))
    for node in [node for node in graph.nodes if node.op == "placeholder"]:
        key = registered.get(node.name)
        if not node.users and key not in trained:
            graph.erase_node(node)
            continue
        role = "data" if key is None else "parameter" if key in trained else "buffer"
        value = node.meta["val"]
        names.add(data[node.name] if key is None else wrapper.name_of(key), value.shape,
                  _dtype(value), role)


def _name_results(names, wrapper, signature):
    """Names the results: the next values of buffers, the loss, the gradients."""
    updated = [wrapper.name_of(key) for key in signature.buffers_to_mutate.values()]
    trained = [wrapper.name_of(key)
               for key in signature.backward_signature.gradients_to_parameters.values()]
    names.loss = "loss"
    names.outputs = [f"{name}.new" for name in updated] + ["loss"]
    for name in trained:
        names.outputs.append(f"{name}.grad")
        names.gradients[f"{name}.grad"] = name
    return updated


def _set_aliases(module, names, updated):
    """Says in the program which result is the next value of which buffer, as JAX does."""
    from torch_mlir import ir
    position = {argument["name"]: index for index, argument in enumerate(names.arguments)}
    with module.context:
        main = module.body.operations[0]
        attrs = [ir.DictAttr.get({}) for _ in names.arguments]
        i32 = ir.IntegerType.get_signless(32)
        for result, name in enumerate(updated):
            attrs[position[name]] = ir.DictAttr.get(
                {"tf.aliasing_output": ir.IntegerAttr.get(i32, result)})
        main.attributes["arg_attrs"] = ir.ArrayAttr.get(attrs)


def from_torch(module, example, *, path, loss=None):
    """Writes a PyTorch module for `zero-run PATH --roles=NAMES`; returns the path.

    The program is the forward and the backward pass: it takes the module's parameters, its buffers
    and a batch, and returns the loss and the gradients, and the next values of the buffers that
    the module changes. Zero adds the optimizer. The module stays in its mode (`train()` or
    `eval()`) and is not changed.

    module: parameters with requires_grad=False are only read.
    example: a tensor, a tuple of tensors, or a dictionary of them by name: the arguments of
        forward, or of `loss` after its first. Their shapes and types are fixed in the program; the
        batch is that of one rank.
    path: ends with .mlir. The names file is written beside it with the suffix .json.
    loss: computes the loss, a float without dimensions, from the module and the inputs:
        `lambda module, x, labels: cross_entropy(module(x), labels)`. Without it, forward returns
        the loss.

    Parameters and buffers have the names of `module.named_parameters()` and `named_buffers()`. Tied
    parameters are one, with the first name, and the sum of their gradients. Data has the names of
    the parameters of forward or `loss`. Tensors that the program does not read are left out.

    Raises ExportError with the name of the input or operator and what to do.
    """
    path = check_path(path)
    inputs, by_name = data_names(loss or module.forward, example, 1 if loss else 0)
    wrapper = _Loss(module, loss, inputs, by_name)
    if not any(parameter.requires_grad for parameter in wrapper.parameters()):
        raise ExportError("nothing to train: expected a module with a parameter that requires a "
                          "gradient")
    # One tensor that is given twice would become one argument.
    values = tuple(value.detach().clone() for value in inputs.values())
    graph_module, signature = _trace_trained(wrapper, values)
    _check_deterministic(graph_module.graph)
    _drop_counters(graph_module.graph, signature)
    names = Names()
    _name_arguments(names, graph_module.graph, signature, wrapper, inputs)
    updated = _name_results(names, wrapper, signature)
    lowered = _lower(graph_module)
    if updated:
        _set_aliases(lowered, names, updated)
    path.write_text(lowered.operation.get_asm(print_generic_op_form=True) + "\n")
    names.write(path)
    return path
