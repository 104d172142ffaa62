"""Writes training programs of PyTorch and JAX that Zero compiles, and reads what it trained.

export: a PyTorch module and its loss as an ONNX graph, compared with the module.
from_jax, from_torch: programs in MLIR, and a file with the names of their arguments.
save_weights: writes initial values under the same names.
read_weights: the weights of a run under the names of the module's state_dict.
lora, save_adapter: adapters beside a frozen module, and the files that PEFT loads.

Needs numpy, and what it exports from: JAX; PyTorch with onnxscript, or with torch-mlir.
"""

from importlib import import_module

from .adapters import save_adapter
from .errors import ExportError
from .state import read_weights
from .weights import save_weights

__all__ = ["ExportError", "export", "from_jax", "from_torch", "lora", "read_weights",
           "save_adapter", "save_weights"]

# The functions that need JAX or PyTorch, which take seconds to import, and few programs have both.
_MODULES = {"export": "onnx_export", "from_jax": "jax_export", "from_torch": "torch_export",
            "lora": "lora_layers"}


def __getattr__(name):
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f".{_MODULES[name]}", __name__), name)
