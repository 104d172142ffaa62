"""Pairs arguments of a program with parts of its result.

A program is a list of arguments, each with leaves, and one result with leaves. A leaf has a path
and a type. A part of the result fits an argument if it has leaves with the same paths and types
below it: the next value of the argument, or its gradient.
"""

from collections import namedtuple

from .errors import ExportError
from .trees import join

Leaf = namedtuple("Leaf", "path type")  # of a type: anything that can be compared and printed
Argument = namedtuple("Argument", "name leaves")  # the paths begin below the argument


def parts_of(leaves):
    """All parts of a result: the indices of the leaves below each path, the outermost first."""
    parts = {}
    for index, leaf in enumerate(leaves):
        for length in range(len(leaf.path) + 1):
            parts.setdefault(leaf.path[:length], []).append(index)
    return dict(sorted(parts.items(), key=lambda part: len(part[0])))


def _shape_of(leaves, depth=0):
    return tuple((leaf.path[depth:], leaf.type) for leaf in leaves)


def _fitting(argument, results, parts, taken):
    """The paths of the parts that fit, none inside another."""
    wanted, found = _shape_of(argument.leaves), []
    for path, indices in parts.items():
        inside = any(path[:len(outer)] == outer for outer in found)
        if not inside and not taken.intersection(indices) and \
                _shape_of([results[i] for i in indices], len(path)) == wanted:
            found.append(path)
    return found


def _place(path):
    return f"'{join(path)}'" if path else "the whole result"


def _named(path, argument):
    return bool(path) and path[-1] == argument.name


def pair_explicit(argument, path, results, what):
    """The indices of the leaves of the part at `path`, which must fit."""
    indices = parts_of(results).get(tuple(path))
    if indices is None:
        raise ExportError(f"{what} of '{argument.name}': expected a part of the result, got "
                          f"'{join(path)}'; the result has {describe(results)}")
    part = [results[i] for i in indices]
    if _shape_of(part, len(path)) != _shape_of(argument.leaves):
        raise ExportError(f"{what} of '{argument.name}': {_difference(argument, part, path)}")
    return indices


def _difference(argument, part, path):
    """Where the part at `path` of the result differs from an argument."""
    found = {leaf.path[len(path):]: leaf.type for leaf in part}
    for leaf in argument.leaves:
        name = join((argument.name, *leaf.path))
        if leaf.path not in found:
            return f"{_place(path)} of the result has nothing for '{name}'"
        if found[leaf.path] != leaf.type:
            return (f"expected {leaf.type} for '{name}', got {found[leaf.path]} in "
                    f"{_place(path)} of the result")
    return f"{_place(path)} of the result has more leaves than the argument"


def describe(results, most=8):
    """The first leaves of a result, for messages."""
    shown = [f"'{join(leaf.path) or 'result'}' ({leaf.type})" for leaf in results[:most]]
    more = f" and {len(results) - most} more" if len(results) > most else ""
    return (", ".join(shown) or "no leaves") + more


def fits_any(arguments, results, taken=()):
    """Whether a part of the result fits one of the arguments."""
    parts = parts_of(results)
    return any(_fitting(argument, results, parts, set(taken)) for argument in arguments)


def _choose(group, fitting):
    """The parts that have the names of the arguments, or that are less deep than all others."""
    named = [[path for path in fitting if _named(path, argument)] for argument in group]
    if all(len(paths) == 1 for paths in named):
        return [path for (path,) in named]
    outer = [path for path in fitting if len(path) == len(fitting[0])]
    return outer if len(outer) == len(group) else fitting


def pair(arguments, results, what, remedy, taken=()):
    """Finds the part of the result that fits each argument; returns lists of leaf indices.

    Large arguments choose first, so that a counter is not paired with a counter inside the state of
    an optimizer. Several arguments of one structure, such as weights and moments, are paired with
    the parts of this structure in order. If parts have the names of the arguments, as in
    `{"params": ..., "loss": ...}`, they are paired by name. If more parts fit, those that are less
    deep than the others are taken.
    """
    parts, taken, groups = parts_of(results), set(taken), {}
    # An argument without leaves, as the state of plain SGD, has an empty part.
    found = {argument.name: [] for argument in arguments}
    for argument in filter(lambda argument: argument.leaves, arguments):
        groups.setdefault(_shape_of(argument.leaves), []).append(argument)
    for group in sorted(groups.values(), key=lambda group: -len(group[0].leaves)):
        fitting = _fitting(group[0], results, parts, taken)
        fitting = _choose(group, fitting)
        if len(fitting) != len(group):
            raise ExportError(_count_problem(group, fitting, results, what) + f"; {remedy}")
        for argument, path in zip(group, fitting):
            found[argument.name] = parts[path]
            taken.update(parts[path])
    return [found[argument.name] for argument in arguments]


def _count_problem(group, fitting, results, what):
    names = ", ".join(f"'{argument.name}'" for argument in group)
    if not fitting:
        return (f"{names}: expected a part of the result with the same structure and types as "
                f"{what}, got {describe(results)}")
    places = ", ".join(map(_place, fitting))
    return (f"{names}: expected {len(group)} part{'s' * (len(group) > 1)} of the result with the "
            f"same structure and types as {what}, got {len(fitting)}: {places}")
