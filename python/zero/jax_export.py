"""Writes a JAX function as StableHLO."""

import functools
import inspect

import jax
from jaxlib.mlir import ir

from .errors import ExportError
from .jax_derivatives import find_own_derivatives, lower_with_marks, with_gradients
from .match import Argument, Leaf, describe, fits_any, pair, pair_explicit
from .names import Names, check_path
from .trees import flatten, join, key_text

# A program with more bytes of constants has probably closed over its parameters.
MOST_CONSTANT_BYTES = 16 << 20
_REMEDY_CARRY = "say where it is: carry={argument: position in the result}, or loss=POSITION"
_REMEDY_GRADIENT = "return the gradients of all of params=, or none, and name the loss with loss="


def _type_of(leaf):
    """The type of a leaf as JAX prints it, such as float32[4,3]."""
    return f"{leaf.dtype}[{','.join(map(str, leaf.shape))}]"


def _argument_names(function, args, keywords):
    """The names of the positional arguments, in order."""
    try:
        signature = inspect.signature(function)
        bound = signature.bind(*args, **keywords)
    except TypeError as error:
        raise ExportError(f"the arguments do not fit the function: {error}") from None
    except ValueError:  # Some callables have no signature.
        return [f"arg{index}" for index in range(len(args))]
    names = []
    for name, value in bound.arguments.items():
        kind = signature.parameters[name].kind
        if kind == inspect.Parameter.VAR_POSITIONAL:
            names += [f"{name}.{index}" for index in range(len(value))]
        elif name not in keywords and kind != inspect.Parameter.VAR_KEYWORD:
            names.append(name)
    return names


class _Program:
    """A traced function: its arguments, its result, and, once lowered, its module."""

    def __init__(self, function, args, keywords):
        names = _argument_names(function, args, keywords)
        self.traced = self._trace(function, args, keywords)
        positional, by_keyword = self.traced.args_info
        if len(positional) != len(args):
            raise ExportError("expected no static arguments by position: give them by name in "
                              "keywords={...}, or bind them with functools.partial")
        self.arguments, self.leaves, self.dtypes, self.donated = [], [], [], set()
        for name, tree in [*zip(names, positional), *by_keyword.items()]:
            self._add_argument(name, tree)
        self.results = self._results()

    def _results(self):
        return [Leaf(path, _type_of(leaf)) for path, leaf in flatten(self.traced.out_info)]

    def lower(self, marked=False):
        """Sets the module, `marked` with what Zero has to know to differentiate it."""
        lower = lower_with_marks if marked else type(self.traced).lower
        # Programs for GPUs call functions of GPU libraries. JAX keeps the module that it returns,
        # and compiles it when the function is called: only a copy may be changed.
        lowered = lower(self.traced, lowering_platforms=("cpu",)).compiler_ir("stablehlo")
        with lowered.context, ir.Location.unknown():
            self.module = lowered.operation.clone()
        with self.module.context:
            self.main = next(op for op in self.module.regions[0].blocks[0].operations
                             if getattr(op, "sym_name", None) is not None
                             and op.sym_name.value == "main")
            self._find_kept()

    def has_shardings(self):
        with self.module.context:
            attrs = self.main.attributes["arg_attrs"] if "arg_attrs" in self.main.attributes else []
            return any(attr.name.endswith(".sharding") for each in attrs for attr in each)

    def add_gradients(self, function, args, keywords, trained, loss):
        """Lets JAX differentiate the result at index `loss` by the trained arguments. Returns the
        indices of the gradients, which follow the other results, by leaf."""
        chosen = [index for index, name in enumerate(self.owners())
                  if name in trained and "float" in self.dtypes[index]]
        by_keyword = self.traced.args_info[1]
        static = {name: value for name, value in keywords.items() if name not in by_keyword}
        joint = with_gradients(functools.partial(function, **static) if static else function,
                               lambda result: jax.tree.leaves(result)[loss], chosen)
        before = len(self.results)
        self.traced = self._trace(joint, args, {name: keywords[name] for name in by_keyword})
        self.results += self._results()[before:]
        return {leaf: before + index for index, leaf in enumerate(chosen)}

    def owners(self):
        """The name of the argument of each leaf."""
        return [argument.name for argument in self.arguments for _ in argument.leaves]

    @staticmethod
    def _trace(function, args, keywords):
        jitted = function if hasattr(function, "trace") else jax.jit(function)
        traced = jitted.trace(*args, **keywords)
        size = sum(getattr(value, "nbytes", 0) for value in traced.jaxpr.consts)
        if size > MOST_CONSTANT_BYTES:
            raise ExportError(f"the function closes over {size} bytes of arrays: expected its "
                              f"parameters and data as arguments")
        return traced

    def _add_argument(self, name, tree):
        """Adds an argument with its leaves; `self.leaves` has those of all arguments in order."""
        pairs, _ = jax.tree_util.tree_flatten_with_path(tree)
        leaves = []
        for path, info in pairs:
            leaf = Leaf(tuple(map(key_text, path)), _type_of(info))
            leaves.append(leaf)
            # A program takes the words of a key of jax.random.
            is_key = jax.dtypes.issubdtype(info.dtype, jax.dtypes.prng_key)
            self.dtypes.append("uint32" if is_key else str(info.dtype))
            self.leaves.append((join((name, *leaf.path)),
                                name.replace(".", "[", 1) + "]" * ("." in name)
                                + jax.tree_util.keystr(path)))
            if info.donated:
                self.donated.add(name)
        self.arguments.append(Argument(name, leaves))

    def _find_kept(self):
        """Sets `self.kept`, the leaves that the program takes. JAX drops those that no operation
        reads; the locations of the others have their names."""
        block = self.main.regions[0].blocks[0]
        self.types = [argument.type for argument in block.arguments]
        self.kept = list(range(len(self.leaves)))
        if len(self.types) == len(self.leaves):
            return
        position = {jax_name: index for index, (_, jax_name) in enumerate(self.leaves)}
        located = [_location_name(argument.location) for argument in block.arguments]
        if not all(name in position for name in located):
            raise ExportError(f"expected {len(self.leaves)} arguments in the lowered program, got "
                              f"{len(located)}: jit the function with keep_unused=True")
        self.kept = [position[name] for name in located]

    def argument(self, chosen, option):
        """The argument that a name or position of an option denotes."""
        known = {argument.name: argument for argument in self.arguments}
        if isinstance(chosen, int) and -len(known) <= chosen < len(known):
            return self.arguments[chosen]
        if chosen not in known:
            raise ExportError(f"{option}: expected arguments of {', '.join(known)}, got "
                              f"{chosen!r}")
        return known[chosen]

    def first_leaf(self, argument):
        """The index of the argument's first leaf among those of all."""
        before = self.arguments[:self.arguments.index(argument)]
        return sum(len(other.leaves) for other in before)

    def set_aliases(self, result_of):
        """Says in the program which result is the next value of which leaf.

        JAX pairs donated buffers by type alone, so its own marks are replaced.
        """
        with self.module.context:
            old = self.main.attributes["arg_attrs"] if "arg_attrs" in self.main.attributes else \
                [ir.DictAttr.get({})] * len(self.types)
            lists = []
            for leaf, attrs in zip(self.kept, old):
                kept = {attr.name: attr.attr for attr in attrs
                        if attr.name not in ("tf.aliasing_output", "jax.buffer_donor")}
                if leaf in result_of:
                    i32 = ir.IntegerType.get_signless(32)
                    kept["tf.aliasing_output"] = ir.IntegerAttr.get(i32, result_of[leaf])
                lists.append(ir.DictAttr.get(kept))
            self.main.attributes["arg_attrs"] = ir.ArrayAttr.get(lists)

    def write(self, path, locations):
        path.write_text(self.module.get_asm(print_generic_op_form=True,
                                                      enable_debug_info=locations) + "\n")


def _location_name(location):
    """The name in a location that is printed as loc("name")."""
    text = str(location)
    return text[len('loc("'):-len('")')] if text.startswith('loc("') else text


def _as_list(chosen):
    if chosen is None:
        return []
    return list(chosen) if isinstance(chosen, (list, tuple, set, dict)) else [chosen]


def _path(place):
    """The path of a part of the result, from a position or a name with dots."""
    return tuple(str(place).split("."))


def _find_carried(program, carry, trained, loss):
    """The index of its next value's result, by leaf. The result at `loss`, if given, is none."""
    if isinstance(carry, dict):
        pairs = [(program.argument(chosen, "carry"), place) for chosen, place in carry.items()]
        found = [(argument, pair_explicit(argument, _path(place), program.results, "carry"))
                 for argument, place in pairs]
    else:
        names = _as_list(carry) if carry is not None else \
            [name for name in program.donated if name not in trained]
        chosen = {program.argument(name, "carry").name for name in names}
        arguments = [argument for argument in program.arguments if argument.name in chosen]
        source = "argument to carry" if carry is not None else "donated argument"
        taken = [] if loss is None else _loss_candidates(program, loss, ())
        found = zip(arguments, pair(arguments, program.results, f"the {source}", _REMEDY_CARRY,
                                    taken))
    return {program.first_leaf(argument) + index: result
            for argument, results in found for index, result in enumerate(results)}


def _find_gradients(program, trained, taken):
    """The index of the gradient's result, by leaf; empty if the function returns no gradients."""
    arguments = [argument for argument in program.arguments if argument.name in trained]
    if not fits_any(arguments, program.results, taken):
        return {}
    found = pair(arguments, program.results, "the trained argument", _REMEDY_GRADIENT, taken)
    return {program.first_leaf(argument) + index: result
            for argument, results in zip(arguments, found)
            for index, result in enumerate(results)}


def _loss_candidates(program, chosen, taken):
    """The indices of the results that may be the loss."""
    scalars = [index for index, leaf in enumerate(program.results)
               if index not in taken and leaf.type.endswith("[]") and "float" in leaf.type]
    if chosen is not None:
        return [index for index in scalars if program.results[index].path == _path(chosen)]
    named = [index for index in scalars if program.results[index].path[-1:] == ("loss",)]
    return named if len(scalars) > 1 and named else scalars


def _find_loss_and_gradients(program, chosen, trained, carried):
    """The index of the loss, and those of gradients by leaf. The gradient of a scalar looks like a
    loss, so what can only be the loss is found first."""
    candidates = _loss_candidates(program, chosen, carried)
    known = candidates if len(candidates) == 1 else []
    gradients = _find_gradients(program, trained, {*carried, *known})
    taken = {*carried, *gradients.values()}
    candidates = _loss_candidates(program, chosen, taken)
    if len(candidates) == 1:
        return candidates[0], gradients
    wanted = "one float that is not state" if chosen is None else f"one float at '{chosen}'"
    rest = [leaf for index, leaf in enumerate(program.results) if index not in taken]
    raise ExportError(f"loss: expected a result of {wanted}, got {describe(rest)}; choose it with "
                      f"loss=POSITION")


def _check_trains(carried, trained):
    if not carried and not trained:
        raise ExportError(
            "nothing to train: expected a step with donated arguments "
            "(jax.jit(step, donate_argnums=...)), or carry= for the arguments that it returns, or "
            "params= for those that Zero trains")


def _names(program, carried, gradients, roles, loss):
    """The names of all arguments and results."""
    names = Names()
    owner = program.owners()
    for leaf, kind in zip(program.kept, program.types):
        role = None if leaf in carried else roles.get(owner[leaf], "data")
        dtype = program.dtypes[leaf]
        names.add(program.leaves[leaf][0], ir.RankedTensorType(kind).shape, dtype,
                  "buffer" if role == "parameter" and "float" not in dtype else role)
    names.outputs = [join(("result", *leaf.path)) for leaf in program.results]
    names.outputs[loss] = names.loss = "loss"
    for leaf, result in carried.items():
        names.outputs[result] = program.leaves[leaf][0] + ".new"
    for leaf, result in gradients.items():
        names.outputs[result] = program.leaves[leaf][0] + ".grad"
        names.gradients[names.outputs[result]] = program.leaves[leaf][0]
    return names


def _differentiate(program, function, args, keywords, trained, loss):
    """Lowers a loss that Zero differentiates. What has a derivative of its own is differentiated by
    JAX: then returns the indices of the gradients by leaf, else nothing."""
    own = find_own_derivatives(program.traced)
    program.lower(marked=not own)
    if not own:
        return {}
    found = "; ".join(own)
    if program.has_shardings():
        raise ExportError(f"the loss has derivatives that only JAX knows ({found}), and shardings: "
                          f"expected jax.value_and_grad of it, jitted with these shardings")
    try:
        gradients = program.add_gradients(function, args, keywords, trained, loss)
    except (NotImplementedError, TypeError, ValueError) as error:
        raise ExportError(f"the loss has derivatives that only JAX knows ({found}), and JAX cannot "
                          f"differentiate it: {error}") from None
    program.lower()
    return gradients


def from_jax(function, *args, path, carry=None, params=None, buffers=None, loss=None,
             keywords=None, locations=False):
    """Writes a JAX function for `zero-run PATH --roles=NAMES`; returns the path.

    Three kinds of functions train:

    - A whole step takes its state and a batch, and returns the next state and the loss. Its state
      is what `jax.jit(step, donate_argnums=...)` donates, or what `carry` names.
    - A function that returns the loss and the gradients of `params`, as `jax.value_and_grad(f)`
      does. Zero adds the optimizer.
    - A function that returns the loss. Zero differentiates it with respect to `params`, and keeps
      `stop_gradient`. If it has a `custom_jvp` or `custom_vjp` other than those of JAX's ReLUs,
      softmax and logaddexp, JAX differentiates it, and the program returns its gradients.

    function: jitted or not.
    args: the arguments, trees of arrays or of jax.ShapeDtypeStruct. Shapes are fixed in the
        program; the batch is that of one rank.
    path: ends with .mlir. The names file is written beside it with the suffix .json.
    carry: the arguments that are state, by name or position, each with a part of the result that
        has its structure and types; or a dictionary from argument to the position of its next value
        in the result (`{"params": 0, "scale": 3}`; `"1.scale"` is deeper). Arguments of one
        structure are paired with the parts of this structure in order.
    params: the arguments that are trained, by name or position.
    buffers: arguments that are state and only read.
    loss: the position of the loss in the result, such as 0 or "1.loss". Not needed if there is one
        float that is not state, or one that is called "loss", unless state could be it.
    keywords: further arguments of the function by name, also static ones.
    locations: writes the Python line of each operation into the program. Messages then name it.

    Leaves are named by the function's parameter and their path, such as `params.fc1.w`. A key of
    jax.random is the two or four uint32 of jax.random.key_data. Results are the name of the state
    with `.new`, of the parameter with `.grad`, `loss`, and `result.` with the path.

    Raises ExportError with the name of the argument and what to do.
    """
    path = check_path(path)
    keywords = keywords or {}
    program = _Program(function, args, keywords)
    trained = {program.argument(chosen, "params").name for chosen in _as_list(params)}
    roles = {program.argument(chosen, "buffers").name: "buffer" for chosen in _as_list(buffers)}
    roles |= dict.fromkeys(trained, "parameter")
    carried = _find_carried(program, carry, trained, loss)
    _check_trains(carried, trained)
    chosen_loss, gradients = _find_loss_and_gradients(program, loss, trained,
                                                      set(carried.values()))
    if trained and not gradients:
        gradients = _differentiate(program, function, args, keywords, trained, chosen_loss)
    else:
        program.lower()
    kept = set(program.kept)
    carried = {leaf: result for leaf, result in carried.items() if leaf in kept}
    gradients = {leaf: result for leaf, result in gradients.items() if leaf in kept}
    program.set_aliases(carried)
    with program.module.context:
        names = _names(program, carried, gradients, roles, chosen_loss)
    program.write(path, locations)
    names.write(path)
    return path
