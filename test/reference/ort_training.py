"""Runs the scripts of test/python/Inputs/ort with onnxruntime-training; writes what they record.

usage: ort_training.py

Writes test/data/ort-scripts/SCRIPT.npz. Needs bench/peers/ort.txt.
"""

import runpy
import sys
import tempfile
import types
from pathlib import Path

TEST = Path(__file__).resolve().parent.parent
SCRIPTS = TEST / "python/Inputs/ort"


def correct_scheduler():
    """onnxruntime-training 1.19.2 passes the first two arguments of LinearLRScheduler on in the
    wrong order."""
    from onnxruntime.training import api

    class LinearLRScheduler(api.LinearLRScheduler):
        def __init__(self, optimizer, warmup_step_count, total_step_count, initial_lr):
            super().__init__(optimizer, total_step_count, warmup_step_count, initial_lr)
    api.LinearLRScheduler = LinearLRScheduler


def main():
    # Optimizers for PyTorch, which is not installed.
    sys.modules["onnxruntime.training.optim"] = types.ModuleType("optim")
    correct_scheduler()
    sys.path.insert(0, str(SCRIPTS))
    for name in ("train_classifier", "losses", "accumulate"):
        with tempfile.TemporaryDirectory() as folder:
            result = TEST / "data/ort-scripts" / f"{name}.npz"
            sys.argv = [name, folder, str(result)]
            runpy.run_path(str(SCRIPTS / f"{name}.py"), run_name="__main__")


if __name__ == "__main__":
    main()
