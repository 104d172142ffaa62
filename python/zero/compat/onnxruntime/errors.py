"""The exceptions of zero.compat.onnxruntime. Models, data and steps raise those of zero.errors."""

from ...errors import BadFileError, ZeroError


class TrainingError(ZeroError, RuntimeError):
    """A call with arguments that do not fit, in the wrong order, or not supported.
    onnxruntime-training raises RuntimeError for these."""


class CheckpointError(BadFileError):
    """A file that is no checkpoint of onnxruntime-training, or state that cannot be one."""
