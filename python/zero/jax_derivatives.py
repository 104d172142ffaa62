"""Derivatives that a JAX function defines itself, which StableHLO has no op for.

A loss that Zero differentiates keeps `stop_gradient`, and the functions of JAX whose derivative
Zero has a rule for, as calls that Zero knows. Any other `custom_jvp` or `custom_vjp` only JAX can
differentiate.
"""

import functools
import os

import jax
from jax.extend.core import jaxpr_as_fun
from jax.extend.mlir.dialects import stablehlo
from jax.interpreters import mlir

_STOP_GRADIENT = "stop_gradient"
_CUSTOM_JVP = "custom_jvp_call"
# Calls for functions of JAX whose derivative at a bound is not that of the ops in them.
_CALLS = {"relu": "zero.relu", "relu6": "zero.relu6"}
# Functions of JAX that have the derivative of the ops in them.
_ORDINARY = {"logaddexp", "_softmax"}
_JAX_FOLDER = os.path.dirname(jax.__file__) + os.sep


def _function_of(call_jaxpr):
    """The name and the place of a function with a custom_jvp or custom_vjp."""
    name, _, place = call_jaxpr.jaxpr.debug_info.func_src_info.partition(" at ")
    return name, place


def _standard_name(call_jaxpr):
    """The name of a function of JAX itself, else nothing."""
    name, place = _function_of(call_jaxpr)
    return name if place.startswith(_JAX_FOLDER) else None


def _equations(jaxpr):
    """All equations of a jaxpr and of those within, but not those within the functions that have
    a derivative of their own."""
    for equation in jaxpr.eqns:
        yield equation
        if equation.primitive.name.startswith(("custom_jvp_call", "custom_vjp_call")):
            continue
        for value in equation.params.values():
            for inner in value if isinstance(value, (tuple, list)) else (value,):
                inner = getattr(inner, "jaxpr", inner)
                if hasattr(inner, "eqns"):
                    yield from _equations(inner)


def _describe(equation):
    """What Zero cannot differentiate in an equation, or nothing."""
    primitive = equation.primitive.name
    if not primitive.startswith("custom_"):
        return None
    inner = equation.params.get("call_jaxpr") or equation.params.get("fun_jaxpr")
    if inner is None:
        return primitive
    if primitive == _CUSTOM_JVP and _standard_name(inner) in {*_CALLS, *_ORDINARY}:
        return None
    name, place = _function_of(inner)
    return f"{primitive.removesuffix('_call')} of '{name}' at {place}"


def find_own_derivatives(traced):
    """What only JAX can differentiate in a traced function, each once, as texts."""
    found = filter(None, map(_describe, _equations(traced.jaxpr.jaxpr)))
    return list(dict.fromkeys(found))


def _call(target):
    """A lowering to a call that Zero knows, from one operand to a result of its type."""
    def lower(_, operand, **__):
        return [stablehlo.CustomCallOp([operand.type], [operand], call_target_name=target).result]
    return lower


def _lower_custom_jvp(context, *operands, call_jaxpr, **_):
    name = _standard_name(call_jaxpr)
    if name in _CALLS:
        return _call(_CALLS[name])(context, *operands)
    return mlir.lower_fun(jaxpr_as_fun(call_jaxpr), multiple_results=True)(context, *operands)


def lower_with_marks(traced, **options):
    """`traced.lower`, with calls for what the derivative depends on and values do not."""
    rules = {_STOP_GRADIENT: _call("zero.stop_gradient"), _CUSTOM_JVP: _lower_custom_jvp}
    overrides = {equation.primitive: rules[equation.primitive.name]
                 for equation in _equations(traced.jaxpr.jaxpr)
                 if equation.primitive.name in rules}
    parameters = mlir.LoweringParameters(override_lowering_rules=tuple(overrides.items()))
    return traced.lower(_private_parameters=parameters, **options)


def with_gradients(function, loss_of, chosen):
    """`function` as one that returns its result and the gradients of the loss, which `loss_of`
    takes from the result, with respect to the leaves `chosen` of its arguments."""
    @functools.wraps(function, updated=())
    def joint(*args, **keywords):
        leaves, tree = jax.tree.flatten((args, keywords))

        def loss(trained):
            whole = list(leaves)
            for index, leaf in zip(chosen, trained):
                whole[index] = leaf
            args, keywords = jax.tree.unflatten(tree, whole)
            result = function(*args, **keywords)
            return loss_of(result), result
        gradients, result = jax.grad(loss, has_aux=True)([leaves[index] for index in chosen])
        return result, gradients
    return joint
