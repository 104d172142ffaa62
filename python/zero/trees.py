"""Nested values as lists of named leaves.

A path is a tuple of strings: the keys of dictionaries, the fields of named tuples and dataclasses,
the positions in tuples and lists. The name of a leaf is its path joined by dots, as in
`params.layers.0.w`.
"""

import sys
from collections.abc import Mapping

from .errors import ExportError


def join(path):
    """The name of a path."""
    return ".".join(path)


def key_text(key):
    """The text of a key of jax.tree_util, whose classes name it differently."""
    for field in ("key", "idx", "name"):
        if hasattr(key, field):
            return str(getattr(key, field))
    return str(key)


def _flatten_builtin(tree, path):
    if isinstance(tree, Mapping):
        items = tree.items()
    elif hasattr(tree, "_fields"):
        items = zip(tree._fields, tree)
    elif isinstance(tree, (list, tuple)):
        items = enumerate(tree)
    else:
        return [] if tree is None else [(path, tree)]
    return [leaf for key, part in items for leaf in _flatten_builtin(part, (*path, str(key)))]


def flatten(tree):
    """The leaves of `tree` as pairs of path and value.

    Without JAX, dictionaries, named tuples, tuples and lists are trees. A program that uses JAX may
    have registered classes of its own, so JAX flattens then.
    """
    if "jax" not in sys.modules:
        return _flatten_builtin(tree, ())
    leaves, _ = sys.modules["jax"].tree_util.tree_flatten_with_path(tree)
    return [(tuple(map(key_text, path)), value) for path, value in leaves]


def check_unique(names, what):
    """Raises ExportError if two of `names` are equal, as those of {"a.b": x} and {"a": {"b": y}}
    are."""
    seen = set()
    for name in names:
        if not name or name in seen:
            raise ExportError(f"expected a name of its own for each {what}, got "
                              f"{name!r}{' twice' if name else ''}")
        seen.add(name)
