"""Compiles training steps for data-parallel ranks, and trains with them.

    program = zero.compile("gpt2.onnx", stage=3, ranks=4, memory_budget="4GiB")
    with program.session() as session:
        session.train({"input_ids": ids, "labels": labels}, epochs=3)
        session.save("trained.safetensors")

compile, load: a Program, from a model or from a .zexe file.
Program: its certificate (memory to the byte), plan, report, inputs; simulate(); session().
Session: step(), train(), evaluate(), predict(), state_dict(), save(), save_checkpoint().
Dataset: arrays or files of all inputs. Columns: batches of Parquet and Arrow files.
callbacks: what hears of a training: Callback, and WandB and MLflow, which keep its figures.
emit_onnx: the training step as ONNX operators.
export: writes a PyTorch module and its loss as an ONNX graph, compared with the module.
without_weights: modules for it whose values stay in a folder of safetensors.
from_jax, from_torch, save_weights: write programs of JAX and PyTorch, and initial values.
read_weights: the weights of a run under the names of the module's state_dict.
tokenize: writes the tokens of a corpus of text as a folder that a run reads.
finetune: trains a Hugging Face folder on a corpus, and writes a folder.
lora, save_adapter: adapters beside a frozen module, and the files that PEFT loads.

Errors derive from ZeroError, with a class for each status of the runtime and the same text.
Needs numpy, and what it exports from: JAX; PyTorch with onnxscript, or with torch-mlir.
"""

from importlib import import_module
from typing import TYPE_CHECKING

from .errors import (AbortedError, BadDataError, BadFileError, CheckFailedError, CompileError,
                     ExportError, InternalError, InvalidArgumentError, IoError, NotFiniteError,
                     NotFoundError, RankTimeoutError, ToolError, UnsupportedError, ZeroError)

if TYPE_CHECKING:
    from .adapters import save_adapter
    from .compiler import compile, emit_onnx
    from .columns import Columns
    from .dataset import Dataset
    from .finetuning.run import finetune
    from .jax_export import from_jax
    from .lora_layers import lora
    from .onnx_export import export
    from .program import Report, Simulation
    from .history import History, StepResult
    from .session import Program, Session, load
    from .state import read_weights
    from .stored import without_weights
    from .text.run import tokenize
    from .torch_export import from_torch
    from .values import Certificate, Tier, Value
    from .weights import save_weights

# The rest is imported when it is used: JAX and PyTorch take seconds, and few programs have both;
# the exporters need neither the extension nor the tools.
_PLACES = {
    "compile": "compiler", "emit_onnx": "compiler", "load": "session", "Program": "session",
    "Report": "program", "Simulation": "program", "Certificate": "values", "Tier": "values",
    "Value": "values",
    "Session": "session", "StepResult": "history", "History": "history", "Dataset": "dataset",
    "Columns": "columns",
    "save_weights": "weights", "read_weights": "state", "export": "onnx_export",
    "without_weights": "stored", "lora": "lora_layers", "save_adapter": "adapters",
    "from_jax": "jax_export", "from_torch": "torch_export",
    "tokenize": "text.run", "finetune": "finetuning.run",
}

__all__ = ["AbortedError", "BadDataError", "BadFileError", "Certificate", "CheckFailedError",
           "Columns", "CompileError", "Dataset", "ExportError", "History", "InternalError",
           "InvalidArgumentError", "IoError", "NotFiniteError", "NotFoundError", "Program",
           "RankTimeoutError", "Report", "Session", "Simulation", "StepResult", "Tier",
           "ToolError", "UnsupportedError", "Value", "ZeroError", "callbacks", "compile",
           "emit_onnx", "export", "finetune", "from_jax", "from_torch", "load", "lora",
           "read_weights", "save_adapter", "save_weights", "tokenize", "without_weights"]


def __getattr__(name):
    if name == "__version__":
        return import_module(".native", __name__).load().__version__
    if name == "callbacks":
        return import_module(".callbacks", __name__)
    if name not in _PLACES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f".{_PLACES[name]}", __name__), name)
    globals()[name] = value
    return value


def __dir__():
    return sorted({*globals(), *__all__})
