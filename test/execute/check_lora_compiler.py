"""Adapters that the compiler adds (--lora) beside exported models: the losses of PEFT's adapters, the
same bits at all stages, initial values, the saved folder, and errors.

usage: check_lora_compiler.py DATA WORK
"""

import json
import shutil
import sys
from pathlib import Path

import numpy as np

import lora_cases
from zero_test import Checks, Graph, check_refused, read_safetensors, run_tool

TRAIN = ["--optimizer=adamw", f"--lr={lora_cases.LR}", f"--weight-decay={lora_cases.DECAY}"]


def lora_flags(case):
    _, targets, rank, alpha, stabilized, _, precision, dora = lora_cases.CASES[case]
    return [f"--lora={','.join(targets)}", f"--lora-rank={rank}", f"--lora-alpha={alpha}",
            *(["--rslora"] if stabilized else []), *(["--dora"] if dora else []),
            *([f"--frozen-precision={precision}"] if precision else [])]


def names_of(tensors):
    return sorted(f"{name} {'x'.join(map(str, value.shape))}" for name, value in tensors.items())


def check_case(checks, case, graph, truth):
    """Losses of PEFT from the same initial values."""
    deviation = lora_cases.CASES[case][5]
    shapes = [line.split(" ") for line in truth[f"{case}.names"]]
    initial, folder = graph.work / f"{case}.npz", graph.work / f"{case}-adapter"
    np.savez(initial, **{name: lora_cases.initial(name, tuple(map(int, shape.split("x"))), deviation)
                         for name, shape in shapes if lora_cases.is_drawn(name)})
    plans = [(s, r) for s in range(4) for r in (1, 2)] if case in ("llama", "nf4") else [(0, 1),
                                                                                         (3, 2)]
    first = None
    for stage, ranks in plans:
        label = f"{case}, stage {stage} on {ranks}"
        executable = graph.compile(stage, ranks, *TRAIN, *lora_flags(case))
        result = graph.run(executable, lora_cases.STEPS, f"--weights={initial}",
                           "--weights-partial", f"--save={folder}/")
        error = np.max(np.abs(result.losses / truth[f"{case}.losses"] - 1))
        checks.that(error <= 1e-5, f"{label}: losses off by {error:.1e}: {result.losses}")
        first = first or result
        checks.that(result.same_bits(first), f"{label}: other bits")
        check_folder(checks, label, case, folder, result, truth)
    frozen = graph.initializers()
    for name, value in result.weights.items():
        if name in frozen and not lora_cases.CASES[case][6]:
            checks.that(np.array_equal(value, frozen[name]), f"{case}: {name} has changed")


def check_folder(checks, label, case, folder, result, truth):
    """The folder has PEFT's names and shapes, the trained values, and the settings."""
    _, targets, rank, alpha, stabilized, _, _, dora = lora_cases.CASES[case]
    saved = read_safetensors(folder / "adapter_model.safetensors")
    checks.that(names_of(saved) == list(truth[f"{case}.names"]), f"{label}: saves {names_of(saved)}")
    for name, value in saved.items():
        checks.that(np.array_equal(value, result.weights[name]), f"{label}: another {name}")
    config = json.loads((folder / "adapter_config.json").read_text())
    expected = {"peft_type": "LORA", "r": rank, "lora_alpha": alpha, "lora_dropout": 0,
                "target_modules": sorted(targets), "use_rslora": stabilized, "use_dora": dora,
                "bias": "none", "fan_in_fan_out": "gpt2" in case}
    for key, value in expected.items():
        checks.that(config[key] == value, f"{label}: {key} is {config[key]}")


def check_initial(checks, graph):
    """The distributions of A, another for another seed, and B of zeros."""
    flags = [*TRAIN, "--lora=*.q_proj,*.down_proj", "--lora-rank=64"]
    drawn = {}
    for label, more in {"kaiming": [], "seed": ["--seed=3"], "gaussian": ["--lora-init=gaussian"]}.items():
        result = graph.run(graph.compile(0, 1, *flags, *more), 1, "--lr=0", has_gradients=False)
        drawn[label] = {n: v for n, v in result.weights.items() if ".lora_" in n}
    for name, value in drawn["kaiming"].items():
        if ".lora_B." in name:
            checks.that(not value.any(), f"{name} is not 0")
            continue
        bound = 1 / np.sqrt(value.shape[1])
        checks.that(abs(np.abs(value).max() / bound - 1) < 1e-2 and
                    abs(value.std() / bound * np.sqrt(3) - 1) < 0.05, f"{name}: not within {bound}")
        checks.that(not np.array_equal(value, drawn["seed"][name]), f"{name}: the same for any seed")
        checks.that(abs(drawn["gaussian"][name].std() * 64 - 1) < 0.05, f"{name}: not 1/64 wide")
    distinct = {value.tobytes() for name, value in drawn["kaiming"].items() if ".lora_A." in name}
    checks.that(len(distinct) == 4, f"{len(distinct)} of 4 matrices differ")


def check_options(checks, graph):
    """Dropout, 16 bits and a trained part of the base."""
    flags = [*TRAIN, *lora_flags("all")]
    plain = graph.run(graph.compile(0, 1, *flags), 3)
    dropped = [graph.run(graph.compile(s, 2, *flags, "--lora-dropout=0.5"), 3) for s in (0, 3)]
    checks.that(dropped[0].same_bits(dropped[1]), "dropout: other bits at stage 3")
    checks.that(dropped[0].losses[0] == plain.losses[0] or
                abs(dropped[0].losses[0] / plain.losses[0] - 1) < 1e-6, "dropout: B is not 0")
    checks.that(not np.allclose(dropped[0].losses[1:], plain.losses[1:], rtol=1e-7),
                "dropout drops nothing")
    halves = graph.run(graph.compile(3, 2, *flags, "--precision=bf16"), 3)
    checks.that(np.max(np.abs(halves.losses / plain.losses - 1)) < 1e-2, f"bf16: {halves.losses}")
    more = graph.compile(3, 2, *flags, "--freeze-all-but=*norm*")
    result, frozen = graph.run(more, 3), graph.initializers()
    changed = {n for n in frozen if n in result.weights
               and not np.array_equal(frozen[n], result.weights[n])}
    checks.that(changed and all("norm" in n for n in changed), f"{changed} have changed")
    check_refused(checks, "a folder with norms", ["trains nothing else"], "zero-run", more,
                  graph.data_flag, "--steps=1", "--quiet", f"--save={graph.work}/norms/")


def check_norms(checks, label, weights, base, times=1):
    """Magnitudes are norms of the matrices of `base`."""
    suffix = ".lora_magnitude_vector"
    found = {n: v for n, v in weights.items() if n.endswith(suffix)}
    checks.that(found, f"{label}: no magnitudes")
    for name, value in found.items():
        matrix = base[name.removeprefix("base_model.model.").removesuffix(suffix) + ".weight"]
        expected = times * np.linalg.norm(matrix.astype(np.float64), axis=1)
        checks.that(np.allclose(value, expected, rtol=1e-6), f"{label}: another {name}")


def check_magnitudes(checks, graph):
    """How magnitudes begin, also with the weights of another base; tiers, 16 bits, dropout, resume."""
    flags, frozen = [*TRAIN, *lora_flags("dora")], graph.initializers()
    begun = graph.run(graph.compile(2, 2, *flags), 1, "--lr=0", has_gradients=False)
    check_norms(checks, "of the model", begun.weights, frozen)
    half = graph.run(graph.compile(3, 2, *flags, "--frozen-precision=bf16"), 1, "--lr=0",
                     has_gradients=False)
    check_norms(checks, "of 16 bits", half.weights, half.weights)
    executable = graph.compile(3, 2, *flags)
    base, state = graph.work / "doubled.npz", graph.work / "state"
    np.savez(base, **{n: 2 * v for n, v in begun.weights.items() if ".lora_" not in n})
    doubled = graph.run(executable, 1, "--lr=0", f"--weights={base}", has_gradients=False)
    check_norms(checks, "of --weights", doubled.weights, frozen, 2)
    plain = graph.run(executable, 4)
    checks.that(any(np.any(plain.weights[n] != begun.weights[n]) for n in begun.weights
                    if n.endswith("vector")), "magnitudes are not trained")
    for label, more in (("host", ["--offload-params=host", "--offload-optimizer=host"]),
                        ("nvme", ["--offload-params=nvme"]), ("buckets", ["--bucket-bytes=999"])):
        place = [f"--nvme-dir={graph.work}"] if label == "nvme" else []
        other = graph.run(graph.compile(3, 2, *flags, *more), 4, *place, has_gradients=False)
        checks.that(other.same_bits(plain), f"magnitudes on {label}: other bits")
    executable = graph.compile(3, 2, *flags)
    shutil.rmtree(state, ignore_errors=True)
    graph.run(executable, 2, f"--save-state={state}")
    resumed = graph.run(executable, 4, f"--resume={state}", has_gradients=False)
    checks.that(all(np.array_equal(v, plain.weights[n]) for n, v in resumed.weights.items()),
                "magnitudes: a resumed run differs")
    dropped = [graph.run(graph.compile(s, 2, *flags, "--lora-dropout=0.5"), 4) for s in (0, 3)]
    checks.that(dropped[0].same_bits(dropped[1]), "dropout of magnitudes: other bits at stage 3")
    checks.that(np.allclose(dropped[0].losses, plain.losses, rtol=0.02) and
                not np.allclose(dropped[0].losses[1:], plain.losses[1:], rtol=1e-7),
                f"dropout of magnitudes: {dropped[0].losses}, {plain.losses}")
    halves = graph.run(graph.compile(3, 2, *flags, "--precision=bf16"), 4)
    checks.that(np.max(np.abs(halves.losses / plain.losses - 1)) < 1e-2, f"bf16: {halves.losses}")


def check_programs(checks, data, work):
    """A program of JAX that returns its loss, one that returns gradients as well, and one of
    torch-mlir. The losses begin as those of the model without adapters."""
    jax, torch = data / "jax-guide", data / "torch-guide"
    losses = {}
    for label, folder, name, targets, weights in [
            ("loss", jax, "loss", "fc1,fc2", "params"), ("joint", jax, "joint", "fc1,fc2", "params"),
            ("torch", torch, "joint", "0,3", "init")]:
        log, saved = work / f"{label}.jsonl", work / label
        run_tool("zero-run", folder / f"{name}.mlir", f"--roles={folder / name}.json",
                 f"--lora={targets}", "--lora-rank=2", "--optimizer=adamw", "--lr=1e-2",
                 f"--weights={folder / weights}.npz", f"--data={folder / 'batch.npz'}",
                 "--zero-stage=3", "--ranks=2", "--steps=4", "--quiet", f"--log={log}",
                 f"--save={saved}/")
        losses[label] = [json.loads(line)["loss"] for line in log.read_text().splitlines()]
        first = np.load(folder / "losses.npz")
        first = first[first.files[0]][0]
        checks.that(abs(losses[label][0] / first - 1) < 1e-5, f"{label}: {losses[label]}, not {first}")
        checks.that(losses[label][-1] < 0.98 * losses[label][0], f"{label}: {losses[label]}")
        tensors = read_safetensors(saved / "adapter_model.safetensors")
        modules = {n.removeprefix("base_model.model.").rsplit(".", 2)[0] for n in tensors}
        checks.that(len(tensors) == 4 and all(m.split(".")[-1] in targets for m in modules),
                    f"{label}: saves {sorted(tensors)}")
    checks.that(losses["loss"] == losses["joint"], f"gradients change losses: {losses}")


def check_weights(checks, graph):
    """A file of the base alone gives adapters no values; one of all continues."""
    executable = graph.compile(3, 2, *TRAIN, *lora_flags("llama"))
    started = graph.run(executable, 4)
    base = graph.work / "base.npz"
    np.savez(base, **{n: v for n, v in started.weights.items() if ".lora_" not in n})
    checks.that(graph.run(executable, 4, f"--weights={base}").same_bits(started),
                "weights of the base change adapters")
    part = {n: v for n, v in started.weights.items() if "layers.0" not in n or ".lora_" not in n}
    np.savez(base, **part)
    check_refused(checks, "a part of the adapters", ["2 missing", "layers.0.self_attn.q_proj.lora_A"],
                  "zero-run", executable, graph.data_flag, "--steps=1", "--quiet",
                  f"--weights={base}")


def check_errors(checks, graph):
    model = graph.folder / "model.onnx"
    for label, words, *flags in [
            ("a wrong name", ["lora pattern 'q_prj'", "nearest names are q_proj"], "--lora=q_prj"),
            ("an embedding", ["embed_tokens.weight', an embedding"], "--lora=embed_tokens"),
            ("a norm", ["matches no parameter that is the matrix"], "--lora=input_layernorm"),
            ("no adapter", ["--lora-rank", "expected --lora"], "--lora-rank=4"),
            ("magnitudes of no adapter", ["--dora", "expected --lora"], "--dora"),
            ("a rank of 0", ["at least 1"], "--lora=q_proj", "--lora-rank=0"),
            ("a dropout of 1", ["from 0 to below 1"], "--lora=q_proj", "--lora-dropout=1"),
            ("a wrong word", ["kaiming-uniform", "gaussian"], "--lora=q_proj", "--lora-init=zero"),
            ("a frozen base", ["freezes the whole model"], "--lora=q_proj", "--freeze=*norm*"),
            ("inference", ["trains nothing"], "--lora=q_proj", "--forward-only")]:
        check_refused(checks, label, words, "zeroc", model, "--plan-only", *flags, notes=True)
    check_refused(checks, "a folder", ["config.json", "a program of --lora"], "zero-run",
                  graph.compile(0, 1, *TRAIN), graph.data_flag, "--steps=1", "--quiet",
                  f"--save={graph.work}/none/")
    adapted = graph.folder.parent / "gpt2-lora"
    check_refused(checks, "adapters", ["already has an adapter of", "c_attn"], "zeroc",
                  adapted / "model.onnx", "--plan-only", "--lora=c_attn")


def main():
    data, work = Path(sys.argv[1]), Path(sys.argv[2])
    checks = Checks()
    truth = np.load(data / "lora-peft" / "truth.npz")
    graphs = {name: Graph(data, name, work / name) for name in ("llama-tiny", "gpt2-tiny")}
    for case in lora_cases.CASES:
        check_case(checks, case, graphs[lora_cases.CASES[case][0]], truth)
    check_initial(checks, graphs["llama-tiny"])
    check_options(checks, graphs["llama-tiny"])
    check_weights(checks, graphs["llama-tiny"])
    check_magnitudes(checks, graphs["llama-tiny"])
    check_programs(checks, data, work)
    check_errors(checks, graphs["llama-tiny"])
    checks.finish()


if __name__ == "__main__":
    main()
