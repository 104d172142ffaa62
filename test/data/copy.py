#!/usr/bin/env python3
"""Copies the graphs that tests need into this folder: copy.py SOURCE

SOURCE contains one folder per graph (and ../traps others): model.onnx as its exporter wrote it,
and groundtruth.npz with PyTorch's results. The models are copied unchanged, gpt2-mini without its
weights. Of the ground truth, only the arrays that tests read are kept (see README.md); gradients
only for graphs that tests train. Run scripts/test-data.py --pack afterwards."""

import pathlib
import shutil
import sys

import numpy as np
import onnx

TRAINED = (
    "mlp",
    "mlp-dynbatch",
    "gpt2-tiny",
    "gpt2-tiny-mask",
    "gpt2-tiny-dyn",
    "gpt2-tiny-op23",
    "gpt2-tiny-ts",
    "resnet-tiny",
    "llama-tiny",
    "llama-tiny-mask",
    "bert-tiny",
)
IMPORTED = (
    "gpt2-mini",
    "gpt2-tiny-bf16",
    "mlp-dropout",
)
WHOLE_STEPS = ("mlp", "gpt2-tiny-mask", "llama-tiny-mask", "resnet-tiny")
TRAINING_INFO = ("mlp-momentum", "mlp-adam", "mlp-adamw-explicit", "gpt2-tiny-adamw")
# ONNX Runtime's files for training a graph.
TRAINING = ("mlp", "gpt2-tiny", "bert-tiny", "resnet-tiny")
TRAINING_FILES = ("training_model.onnx", "eval_model.onnx", "optimizer_model.onnx",
                  "optimizer_model_torch.onnx", "checkpoint")
# Programs in MLIR: torch-mlir's joint graphs, and JAX's whole steps.
JOINT = ("mlp", "gpt2-tiny-mask", "llama-tiny-mask")
STABLEHLO = ("jax-mlp", "jax-gpt-tiny", "jax-gpt-tiny-scan")
# The exporter's default output, from its folder of traps. Only the graphs are copied, with weights
# of zero, because their structure makes them errors.
TRAPS = ("gpt2-tiny-default", "llama-tiny-default", "resnet-tiny-default")
KEPT = ("loss", "adamw_losses", "sgdm_losses")
PREFIXES = ("input.", "buffer_after1.")  # the second: running statistics after one step


def reduce_ground_truth(path, with_gradients):
    """The arrays of the ground truth at `path` that tests read."""
    arrays = np.load(path)
    kept = {key: arrays[key] for key in arrays.files if key in KEPT or key.startswith(PREFIXES)}
    names = [key.removeprefix("param.") for key in arrays.files if key.startswith("param.")]
    kept["parameters"] = np.array(sorted(names))
    if with_gradients:
        for name in names:
            kept["grad." + name] = arrays["grad." + name].astype(np.float32)
    return kept


def copy_graph(source, target, with_gradients):
    target.mkdir(exist_ok=True)
    shutil.copyfile(source / "model.onnx", target / "model.onnx")
    if (source / "groundtruth.npz").exists():
        arrays = reduce_ground_truth(source / "groundtruth.npz", with_gradients)
        np.savez_compressed(target / "groundtruth.npz", **arrays)


def copy_trap(source, target):
    target.mkdir(exist_ok=True)
    model = onnx.load(source / "model_default.onnx")
    for tensor in model.graph.initializer:
        if tensor.data_type == onnx.TensorProto.FLOAT and tensor.dims:
            tensor.raw_data = bytes(len(tensor.raw_data))
    onnx.save(model, target / "model.onnx")


def copy_training_info(source, target, name):
    """Of the state after ten steps, tensors of at most 16 KiB are kept."""
    target.mkdir(exist_ok=True)
    shutil.copyfile(source / f"{name}.onnx", target / f"{name}.onnx")
    arrays = np.load(source / f"{name}.npz")
    np.savez_compressed(target / f"{name}.npz", **{
        key: arrays[key] for key in arrays.files if arrays[key].nbytes <= 16 * 1024})


def copy_joint(source, target):
    target.mkdir(parents=True, exist_ok=True)
    for file in ("joint.linalg.mlir", "args.json"):
        shutil.copyfile(source / file, target / file)


def copy_stablehlo(source, target):
    """arg.N are the arguments: state, of which that of the optimizer is zero, then the batch."""
    target.mkdir(parents=True, exist_ok=True)
    for file in ("step.generic.mlir", "args.json"):
        shutil.copyfile(source / file, target / file)
    arrays = np.load(source / "groundtruth.npz")
    np.savez_compressed(target / "groundtruth.npz", **{
        key: arrays[key] for key in arrays.files if key == "adamw_losses" or key.startswith("arg.")})


def main():
    source = pathlib.Path(sys.argv[1])
    here = pathlib.Path(__file__).resolve().parent
    (here / "whole-step").mkdir(exist_ok=True)
    for name in WHOLE_STEPS:
        shutil.copyfile(source.parent / "fullstep" / name / "train_step.onnx",
                        here / "whole-step" / f"{name}.onnx")
    for name in TRAINING_INFO:
        copy_training_info(source.parent / "training_info", here / "training-info", name)
    for name in TRAINING:
        (here / "ort" / name).mkdir(parents=True, exist_ok=True)
        for file in TRAINING_FILES:
            shutil.copyfile(source.parent / "ort" / name / file, here / "ort" / name / file)
    for name in JOINT:
        copy_joint(source.parent / "linalg" / name, here / "linalg" / name)
    for name in STABLEHLO:
        copy_stablehlo(source.parent / "stablehlo" / name, here / "stablehlo" / name)
    for name in TRAINED + IMPORTED:
        copy_graph(source / name, here / name, name in TRAINED)
    for name in TRAPS:
        copy_trap(source.parent / "traps" / name, here / name)


if __name__ == "__main__":
    main()
