"""Loads the extension zero._native."""

import importlib
import os

# How often a waiting thread of OpenMP looks for work, about 50 us: longer than the time between two
# kernels, shorter than a time slice. zero-run sets the same.
_SPINS = "1000"


def _is_main_interpreter():
    for name in ("_interpreters", "_xxsubinterpreters"):  # of Python 3.13, and before
        try:
            interpreters = importlib.import_module(name)
        except ImportError:
            continue
        return interpreters.get_current() == interpreters.get_main()
    return True


def _import():
    if not _is_main_interpreter():
        raise ImportError("zero cannot be imported by a subinterpreter: its extension has one state "
                          "for the whole process. Use a process of its own")
    try:
        from . import _native
    except ImportError as error:
        raise ImportError(f"the extension of zero cannot be loaded: {error}; build zero_native and "
                          "put python/ of the build tree into PYTHONPATH") from error
    return _native


def load():
    """Returns zero._native.

    OpenMP reads its settings when it is loaded, and spins for milliseconds without any. They are
    set only for this, so that child processes have the environment of the caller.
    """
    if os.environ.keys() & {"OMP_WAIT_POLICY", "GOMP_SPINCOUNT"}:
        return _import()
    os.environ["GOMP_SPINCOUNT"] = _SPINS
    try:
        return _import()
    finally:
        del os.environ["GOMP_SPINCOUNT"]
