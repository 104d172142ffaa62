"""The training interface of onnxruntime, on Zero.

A script that was written for `onnxruntime.training` runs with `zero.compat.onnxruntime` in its
place: `artifacts.generate_artifacts` and `onnxblock` make the files that training starts from, and
CheckpointState, Module, Optimizer and LinearLRScheduler train. Artifacts of onnxruntime-training
are trained as well. docs/guides/migrate-onnxruntime.md lists what differs.

Needs onnx and flatbuffers.
"""

from . import artifacts, onnxblock
from .api import CheckpointState, LinearLRScheduler, Module, Optimizer
from .errors import CheckpointError, TrainingError
from .values import OrtValue

__all__ = ["CheckpointError", "CheckpointState", "LinearLRScheduler", "Module", "Optimizer",
           "OrtValue", "TrainingError", "artifacts", "onnxblock"]
