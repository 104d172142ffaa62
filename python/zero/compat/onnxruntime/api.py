"""Training: CheckpointState, Module, Optimizer and LinearLRScheduler."""

from .checkpoint_state import CheckpointState
from .module import Module
from .optimizer import LinearLRScheduler, Optimizer

__all__ = ["CheckpointState", "LinearLRScheduler", "Module", "Optimizer"]
