"""Writes training programs of JAX and PyTorch as MLIR that Zero compiles.

from_jax, from_torch: write the program, and a file with the names of its arguments.
save_weights: writes initial values under the same names.

Needs numpy, and what it exports from: JAX, or PyTorch with torch-mlir.
"""

from .errors import ExportError
from .weights import save_weights

__all__ = ["ExportError", "from_jax", "from_torch", "save_weights"]


def __getattr__(name):
    # JAX and PyTorch take seconds to import, and few programs have both.
    if name == "from_jax":
        from .jax_export import from_jax
        return from_jax
    if name == "from_torch":
        from .torch_export import from_torch
        return from_torch
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
