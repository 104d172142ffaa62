"""--merge-lora writes base + scale B A, rounded once: compared with NumPy's sum of the base and of
the adapters that another run saves. The merged model has the losses of the one with adapters.

usage: check_lora_merge.py TRUTH WORK DATA
"""

import json
import shutil
import sys
from pathlib import Path

import numpy as np
from huggingface_cases import BATCH, CASES, data
from huggingface_folders import read_folder, write_folder
from zero_test import Checks, Graph, check_refused, read_safetensors, run_tool, to_bf16

PREFIX = "base_model.model."
TRAIN = ["--optimizer=sgd", "--lora-alpha=6", "--lora-rank=3"]
# Of each model: the type of its weights, targets, other flags, and whether [inputs, outputs] is
# how its matrices are stored. Without shapes that tell, attn.c_proj is square.
FOLDERS = {
    "llama": ("f32", "q_proj,v_proj,down_proj", [], False),
    "llama-rope3": ("bf16", "*_proj.weight", ["--zero-stage=3", "--shape=1x12", "--ranks=2"],
                    False),
    "granite": ("f16", "*.layers.*_proj.weight", ["--rslora"], False),
    "gpt2": ("f32", "attn.c_proj", [], True),
    "gpt2-untied": ("f32", "c_attn,c_fc,c_proj", ["--zero-stage=3", "--offload-params=host"], True),
    "phi3": ("f32", "qkv_proj,gate_up_proj", ["--freeze-all-but=*norm*"], False),
    "mistral": ("f32", "q_proj", ["--frozen-precision=nf4"], False),
    "qwen2": ("f32", "q_proj", ["--frozen-precision=bf16"], False),
    "qwen3": ("bf16", "q_proj,down_proj", ["--dora", "--zero-stage=3", "--shape=1x12", "--ranks=2"],
              False),
    "llama-tied": ("f32", "*_proj.weight", ["--dora", "--frozen-precision=nf4"], False),
}

LR = {"granite": 40}  # whose logits are small


def merged(weights, scale, is_inputs_first):
    """`weights` with their adapters added."""
    made = {name: value.copy() for name, value in weights.items() if ".lora_" not in name}
    for name in weights:
        if not name.endswith(".lora_A.weight"):
            continue
        module = name.removeprefix(PREFIX).removesuffix(".lora_A.weight")
        change = scale * (weights[name.replace("_A.", "_B.")] @ weights[name])
        whole = made[f"{module}.weight"] + (change.T if is_inputs_first else change)
        magnitude = weights.get(name.replace(".lora_A.weight", ".lora_magnitude_vector"))
        if magnitude is not None:
            norms = np.linalg.norm(whole.astype(np.float64), axis=0 if is_inputs_first else 1)
            ratio = (magnitude / norms).astype(np.float32)
            whole = whole * (ratio if is_inputs_first else ratio[:, None])
        made[f"{module}.weight"] = whole
    return made


def as_stored(values, stored):
    return {"f16": lambda: values.astype(np.float16), "bf16": lambda: to_bf16(values),
            "f32": lambda: values}[stored]()


def check_near(checks, label, found, expected, stored):
    """Equal but for the order of sums: an element in a hundred of 16 bits by one step."""
    checks.that(found.keys() == expected.keys(), f"{label}: has {sorted(found)}")
    for name, values in found.items():
        wanted = as_stored(expected[name], stored).astype(np.float32)
        step = {"f32": 3e-6, "f16": 1e-3, "bf16": 8e-3}[stored]
        error = np.abs(values.astype(np.float32) - wanted) / (np.abs(wanted) + 0.01)
        checks.that(error.max() <= step and (stored == "f32" or (error > 0).mean() < 0.01),
                    f"{label}: {name} is off by {error.max()}")


def check_folder(checks, truth, work, case):
    stored, targets, flags, is_inputs_first = FOLDERS[case]
    source = work / case
    write_folder(source, case, CASES[case], truth[case]["shapes"], stored)
    for name, values in zip(("input_ids", "labels"), data(case), strict=True):
        np.save(source / f"{name}.npy", values.astype(np.int64))
    log, whole, out = source / "log.jsonl", source / "whole.safetensors", source / "out"
    batch = f"--data=input_ids={source}/input_ids.npy,labels={source}/labels.npy"
    shape = [] if any(flag.startswith("--shape") for flag in flags) else [f"--shape={BATCH}"]
    run = ["zero-run", source, batch, *shape, *TRAIN, f"--lr={LR.get(case, 4)}",
           f"--lora={targets}", "--quiet", *flags]
    run_tool(*run, "--steps=3", f"--save={whole}")
    run_tool(*run, "--steps=3", "--merge-lora", f"--save={out}/",
             f"--save={source}/merged.safetensors")
    run_tool(*run, "--steps=4", f"--log={log}")
    weights = read_safetensors(whole)
    changed = [n for n, v in weights.items() if n.endswith(".lora_B.weight") and np.any(v)]
    checks.that(changed, f"{case}: no adapter was trained")
    expected = merged(weights, 6 / np.sqrt(3) if "--rslora" in flags else 2, is_inputs_first)
    check_near(checks, case, read_safetensors(out / "model.safetensors"), expected, stored)
    types = {name: dtype for name, (dtype, _, _) in read_folder(out).items()}
    wanted = {name: dtype for name, (dtype, _, _) in read_folder(source).items()}
    checks.that(types == wanted, f"{case}: types are {types}")
    file = read_safetensors(source / "merged.safetensors")
    check_near(checks, f"{case} as a file", file, expected,
               "bf16" if any("--frozen-precision" in flag for flag in flags) else "f32")
    losses = [json.loads(line)["loss"] for line in log.read_text().splitlines()]
    again = source / "again.jsonl"
    run_tool("zero-run", out, batch, *(shape or [f for f in flags if "shape" in f or "rank" in f]),
             "--optimizer=sgd", "--quiet", f"--log={again}")
    loss = json.loads(again.read_text())["loss"]
    tolerance = {"f32": 2e-5, "f16": 1e-3, "bf16": 5e-3}[stored]
    checks.that(abs(loss / losses[3] - 1) < tolerance, f"{case}: a loss of {loss} after {losses}")
    checks.that(abs(losses[3] / losses[0] - 1) > 5 * tolerance,
                f"{case}: adapters change nothing: {losses}")
    if case == "phi3":
        check_refused(checks, "adapters and norms", ["--merge-lora"], *run, f"--save={source}/no/")


def check_graph(checks, data, work, name, targets, is_inputs_first, *flags):
    """The .onnx file of a graph, which has no place for adapters."""
    graph = Graph(data, name, work / name)
    executable = graph.compile(3, 2, *TRAIN, "--lr=0.5", f"--lora={targets}", *flags)
    trained = graph.run(executable, 4)
    plain = graph.run(executable, 3)
    out = graph.work / "merged"
    shutil.rmtree(out, ignore_errors=True)
    out.mkdir()
    run_tool("zero-run", executable, graph.data_flag, "--steps=3", "--quiet", "--merge-lora",
             f"--save={out}/model.onnx", f"--save={out}/model.safetensors")
    expected = merged(plain.weights, 2, is_inputs_first)
    check_near(checks, name, read_safetensors(out / "model.safetensors"), expected, "f32")
    graph.folder = out
    loss = graph.run(graph.compile(0, 1, "--optimizer=sgd"), 1).losses[0]
    checks.that(abs(loss / trained.losses[3] - 1) < 1e-5, f"{name}: {loss}, not {trained.losses}")
    check_refused(checks, f"{name} as a folder", ["config.json"], "zero-run", executable,
                  graph.data_flag, "--quiet", "--merge-lora", f"--save={out}/folder/")


def main():
    truth, work, graphs = json.loads(Path(sys.argv[1]).read_text()), Path(sys.argv[2]), sys.argv[3]
    shutil.rmtree(work, ignore_errors=True)
    checks = Checks()
    for case in FOLDERS:
        check_folder(checks, truth, work, case)
    check_graph(checks, graphs, work, "llama-tiny", "q_proj,gate_proj", False)
    check_graph(checks, graphs, work, "gpt2-tiny", "c_attn,c_proj", True)
    check_graph(checks, graphs, work, "gpt2-tiny", "c_attn,c_proj", True, "--dora")
    checks.finish()


if __name__ == "__main__":
    main()
