"""Names of a module's state_dict and files of adapters, without PyTorch: what zero-run saves of a
graph becomes what a module and PEFT load.

usage: check_state.py DATA WORK     (DATA: test/data)
"""

import json
import sys
from pathlib import Path

import numpy as np

import zero
from check_trees import check_raises
from zero.adapters import digests_of
from zero.state import State, rename
from zero.weights import read_safetensors, write_safetensors
from zero_test import Checks, run_tool
from zero_test import read_safetensors as read_reference

TIED = "model.base_model.model.transformer.wte.weight"
HEAD = "model.base_model.model.lm_head.weight"
PREFIX = "model.base_model.model."


def trained_file(data, work, *flags):
    """What zero-run saves of the GPT-2 of test/data with adapters."""
    folder, path = data / "gpt2-lora", work / "trained.safetensors"
    run_tool("zero-run", folder / "model.onnx", f"--trainable={folder / 'trainable.txt'}",
             f"--data={folder / 'groundtruth.npz'}", "--steps=2", "--lr=1e-2", f"--save={path}",
             "--quiet", *flags)
    return path


def write_state(program, saved):
    """The files that zero.export writes beside a graph: here the saved tensors, the second name of
    the tied table, and a buffer and a parameter that the graph lacks."""
    entries = {name: {"initializer": name, "shape": list(value.shape), "dtype": "float32",
                      "role": "trained" if ".lora_" in name else "frozen"}
               for name, value in saved.items()}
    entries[TIED] = entries[HEAD]
    rest = {"model.count": (np.array(7), "int64"),
            "model.unused": (np.array([0x3f80, 0xc000], np.uint16), "bfloat16")}
    for name, (array, dtype) in rest.items():
        entries[name] = {"initializer": None, "shape": list(array.shape), "dtype": dtype,
                         "role": "buffer" if array.ndim == 0 else "trained"}
    keys = {name.removeprefix("model.").replace(".default.", "."): name
            for name in saved if ".lora_" in name}
    state = State(entries, {"input_ids": ["batch", 8]}, ["model.mask"],
                  {"config": {"peft_type": "LORA", "r": 2}, "keys": keys})
    return state, state.write(program, rest)


def check_read(checks, path, saved, state, program):
    got = zero.read_weights(path, program, "numpy")
    checks.that(list(got) == list(state.tensors), f"names: {list(got)}")
    checks.that(all(np.array_equal(got[name], value) for name, value in saved.items()), "values")
    checks.that(np.array_equal(got[TIED], saved[HEAD]) and got["model.count"] == 7 and
                got["model.count"].dtype == np.int64, "tied and counted")
    checks.that(np.array_equal(got["model.unused"], np.float32([1, -2])), "bfloat16")
    checks.that(list(zero.read_weights(path, framework="numpy")) == list(saved), "the file alone")
    checks.that(State.read(program) == state, "the names file")


def check_trainable(checks, trainable, state):
    names = trainable.read_text().split()
    checks.that(names == sorted(names) and set(names) == {
        name for name, entry in state.tensors.items() if ".lora_" in name}, f"trained: {names}")
    everything = State({"w": {"initializer": "w", "shape": [2], "dtype": "float32",
                              "role": "trained"}})
    program = trainable.with_name("all.onnx")
    program.with_suffix(".trainable.txt").write_text("old")
    checks.that(everything.write(program, {}) is None and
                not program.with_suffix(".trainable.txt").exists(), "all are trained")


def check_adapter(checks, path, saved, program, work):
    folder = zero.save_adapter(work / "adapter", path, program)
    got = read_reference(folder / "adapter_model.safetensors")
    layers = [f"base_model.model.transformer.h.0.{layer}.lora_{which}.weight"
              for layer in ("attn.c_attn", "mlp.c_fc") for which in "AB"]
    checks.that(sorted(got) == sorted(layers), f"keys: {list(got)}")
    for key, value in got.items():
        name = "model." + key.replace(".weight", ".default.weight")
        checks.that(np.array_equal(value, saved[name]), f"adapter: {key}")
    config = json.loads((folder / "adapter_config.json").read_text())
    checks.that(config == {"peft_type": "LORA", "r": 2}, f"config: {config}")


def check_base(checks, data, work, program, saved):
    """An adapter is saved if the base is the one that was exported, or that rounded to 16 bits."""
    state = State.read(program)
    for entry in state.tensors.values():
        if entry["role"] == "frozen":
            entry["digests"] = digests_of(saved[entry["initializer"]], "float32")
    state.write(work / "base.onnx", {})
    for flags in ([], ["--frozen-precision=bf16"], ["--frozen-precision=fp16"]):
        path = trained_file(data, work, *flags)
        folder = zero.save_adapter(work / f"adapter-of-{len(flags)}", path, work / "base.onnx")
        checks.that((folder / "adapter_model.safetensors").exists(), f"{flags}: no adapter")
    changed = {name: (value, "float32") for name, value in saved.items()}
    changed[HEAD] = saved[HEAD] + np.float32(1e-3), "float32"
    write_safetensors(changed, work / "changed.safetensors")
    check_raises(checks, "base", ["the base in", f"'{HEAD}' was changed", "zero.compile(export)"],
                 zero.save_adapter, work / "y", work / "changed.safetensors", work / "base.onnx")
    del changed[HEAD]
    write_safetensors(changed, work / "changed.safetensors")
    check_raises(checks, "part", [f"'{HEAD}' is missing"],
                 zero.save_adapter, work / "y", work / "changed.safetensors", work / "base.onnx")
    checks.that(not (work / "y").exists(), "a folder was left")
    values = np.array([1 + 2**-8, 1 + 3 * 2**-8], np.float32)
    rounded = np.array([0x3f80, 0x3f82], np.uint16)
    checks.that(digests_of(values, "float32")[1] == digests_of(rounded, "bfloat16")[0] and
                len(digests_of(rounded, "bfloat16")) == 1, "digests of bfloat16")


def check_half(checks, data, work, program):
    """Frozen parameters that are stored in 16 bits are saved so."""
    path = trained_file(data, work, "--frozen-precision=bf16", "--zero-stage=3", "--ranks=2")
    stored = read_safetensors(path)
    checks.that(stored[HEAD][1] == "bfloat16" and
                all(dtype == "float32" for name, (_, dtype) in stored.items() if "lora" in name),
                f"types: { {name: dtype for name, (_, dtype) in stored.items()} }")
    got = zero.read_weights(path, program, "numpy")
    checks.that(got[TIED].dtype == np.float32 and
                np.array_equal(got[TIED], read_reference(path)[HEAD]), "widened")
    write_safetensors(stored, work / "copy.safetensors", {"format": "pt"})
    checks.that(all(np.array_equal(value, got[name]) for name, value
                    in read_reference(work / "copy.safetensors").items()), "written again")


def check_transposed(checks, data, work):
    """A graph of the exporter's default options, which transposes weights: the file that zero-run
    saves has the module's names and shapes."""
    path = work / "default.safetensors"
    run_tool("zero-run", data / "mixer-default" / "model.onnx", "--steps=1", "--lr=0", "--quiet",
             f"--data={data / 'mixer-default' / 'groundtruth.npz'}", f"--save={path}")
    got = zero.read_weights(path, framework="numpy")
    truth = np.load(data / "mixer-default" / "groundtruth.npz")
    checks.that(set(truth["parameters"]) <= set(got), f"names: {list(got)}")
    shapes = {name: truth[f"grad.{name}"].shape for name in truth["parameters"]
              if f"grad.{name}" in truth}
    checks.that(shapes and all(got[name].shape == shape for name, shape in shapes.items()),
                f"shapes: {shapes}")


def check_errors(checks, path, saved, program, work):
    state = State.read(program)
    tensors = dict(saved)
    del tensors[HEAD]
    check_raises(checks, "missing", ["trained.bin does not fit", f"'{HEAD}' is missing",
                                     f"'{TIED}' is missing"],
                 rename, tensors, state, {}, "trained.bin")
    tensors = {**saved, "other": np.zeros(3), HEAD: saved[HEAD].T}
    check_raises(checks, "other", ["'other' is not a tensor of the module",
                                   f"'{HEAD}': expected the shape [64, 16], got [16, 64]"],
                 rename, tensors, state)
    many = {f"x{index}": np.zeros(1) for index in range(30)}
    check_raises(checks, "many", ["and 22 more"], rename, many,
                 State({"w": {"initializer": "w", "shape": [1], "dtype": "float32",
                              "role": "trained"}, "v": {"initializer": "v", "shape": [1],
                                                        "dtype": "float32", "role": "trained"}}))
    check_raises(checks, "no names", ["which zero.export writes beside"], zero.read_weights, path,
                 work / "none.onnx", "numpy")
    check_raises(checks, "framework", ["expected torch or numpy, got 'jax'"], zero.read_weights,
                 path, None, "jax")
    (work / "bad.safetensors").write_bytes(b"\x10\0\0\0\0\0\0\0{}")
    check_raises(checks, "damaged", ["expected a .safetensors file"], zero.read_weights,
                 work / "bad.safetensors", None, "numpy")
    write_safetensors({}, work / "empty.safetensors")
    check_raises(checks, "empty", ["does not fit the adapter", "lora_A", "got none"],
                 zero.save_adapter, work / "x", work / "empty.safetensors", program)
    checks.that(not (work / "x").exists(), "a folder was left")
    state.adapter = None
    state.write(work / "plain.onnx", {})
    check_raises(checks, "no adapter", ["has no adapter"], zero.save_adapter, work / "x", path,
                 work / "plain.onnx")


def main():
    data, work = map(Path, sys.argv[1:])
    work.mkdir(parents=True, exist_ok=True)
    checks = Checks()
    path = trained_file(data, work)
    saved = read_reference(path)
    program = work / "model.onnx"
    state, trainable = write_state(program, saved)
    check_read(checks, path, saved, state, program)
    check_trainable(checks, trainable, state)
    check_adapter(checks, path, saved, program, work)
    check_errors(checks, path, saved, program, work)
    check_base(checks, data, work, program, saved)
    check_half(checks, data, work, program)
    check_transposed(checks, data, work)
    checks.that(not {"jax", "torch", "onnx"} & set(sys.modules), "a framework was imported")
    checks.finish()


if __name__ == "__main__":
    main()
