"""The flags of zeroc as keywords."""

import difflib
import os

from ._flags import FLAGS

# Shorter names than the flags have.
_SHORT = {"stage": "zero_stage"}
# Keywords of zero.compile() that are not flags.
_OWN = ("output", "example", "auto", "loss", "roles")


def _nearest(name):
    known = [*FLAGS, *_SHORT, *_OWN]
    same_end = [each for each in known if each.endswith("_" + name)]
    return (same_end or difflib.get_close_matches(name, known, 1, 0.6) or [None])[0]


def _part(value):
    """An item of a value, or of a pair of one."""
    if isinstance(value, (tuple, list)):  # a shape
        return "x".join(map(str, value))
    if isinstance(value, dict):  # settings of a group of parameters
        return ":".join(f"{str(key).replace('_', '-')}={item}" for key, item in value.items())
    return str(os.fspath(value) if isinstance(value, os.PathLike) else value)


def _text(flag, value):
    if isinstance(value, dict):
        between = ":" if flag.flag == "param-group" else "="
        return ",".join(f"{key}{between}{_part(item)}" for key, item in value.items())
    if isinstance(value, (tuple, list)):
        return ",".join(map(_part, value))
    return _part(value)


def _argument(name, flag, value):
    """The arguments for one keyword: none or one, or one for each of several shapes."""
    dashes = "--" + flag.flag
    if flag.kind == "switch":
        if not isinstance(value, bool):
            raise TypeError(f"{name}: expected True or False, got {value!r}")
        return [dashes] if value else []
    if isinstance(value, bool):
        raise TypeError(f"{name}: expected a value ({flag.value or flag.kind}), got {value!r}")
    several = value if flag.flag == "shape" and isinstance(value, list) else [value]
    return [f"{dashes}={_text(flag, each)}" for each in several]


def arguments_of(keywords):
    """The command line of zeroc for keywords; those that are None are left out.

    Raises TypeError for an unknown keyword, and names the nearest one.
    """
    arguments = []
    for given, value in keywords.items():
        name = _SHORT.get(given, given)
        if name not in FLAGS:
            nearest = _nearest(given)
            raise TypeError(f"zero.compile() has no keyword '{given}'"
                            + (f": did you mean '{nearest}'?" if nearest else ""))
        if value is not None:
            arguments += _argument(given, FLAGS[name], value)
    return arguments
