"""Blocks from which losses and optimizers of artifacts are built, as onnxruntime.training.onnxblock
has them: subclass Block, or use those of `blocks`, `loss` and `optim`, in generate_artifacts.

ForwardBlock, TrainingBlock and base(), on which generate_artifacts of onnxruntime-training is
built, are not supported.
"""

from . import blocks, loss, optim
from .blocks import Block

__all__ = ["Block", "blocks", "loss", "optim"]
