"""Frozen matrices in blocks of codes: the values of bitsandbytes, the same bits as a run on decoded
matrices and on every stage and tier, bytes as counted, and checkpoints in other precisions.

usage: check_frozen_blocks.py DATA WORK
"""

import fnmatch
import re
import shutil
import sys
from pathlib import Path

import numpy as np

from zero import blocks
from zero.adapters import digests_of, is_one_of
from zero_test import Checks, Graph, Plan, check_refused, read_safetensors, run_tool, to_bf16

TRAINED = {"gpt2-tiny": "--freeze-all-but=*.ln_*,*.bias", "llama-tiny": "--freeze-all-but=*norm*"}
ADAMW = ["--optimizer=adamw"]
STEPS = 6
# Largest error of a decoded element, relative to the largest magnitude of its block: half of the
# largest gap between numbers, and what the scale is off.
LARGEST_ERROR = {"nf4": 0.1519 + 0.01, "int8": 0.5 / 127 + 0.01, "fp8": 0.5 * 32 / 448 + 0.01}


def is_decoded(values, truth, name):
    """Whether `values` are what bitsandbytes decodes of a matrix. On a CPU it gives few scales the
    code of the next number instead of the nearest one."""
    second = np.repeat(truth[f"{name}.scale.scale"], 256)[:len(truth[f"{name}.scale"])]
    scales = truth["scale_numbers"][truth[f"{name}.scale"]] * second + truth[f"{name}.mean"]
    numbers = truth["numbers"][truth[f"{name}.codes"]].reshape(-1, 64)
    values = values.reshape(-1, 64)
    own = np.abs(values).max(axis=1)  # a block has a code of 1 or -1
    are_equal = np.isclose(own, scales, rtol=1e-6)
    return (np.allclose(values, numbers * own[:, None], rtol=1e-6) and are_equal.mean() > 0.97 and
            (np.abs(own - scales) <= second / 64).all())


def is_frozen(graph, name):
    patterns = TRAINED[graph.name].split("=")[1].split(",")
    return not any(fnmatch.fnmatch(name, pattern) for pattern in patterns)


def trained_of(graph, *flags, steps=STEPS, stage=0, ranks=1, run=()):
    flags = [*ADAMW, TRAINED[graph.name], *flags]
    return graph.run(graph.compile(stage, ranks, *flags), steps, "--lr=1e-3", *run)


def check_values(checks, graph, truth):
    """Decoded values are those of bitsandbytes, and train as matrices that have these values."""
    initial, plain = graph.initializers(), trained_of(graph)
    coded = trained_of(graph, "--frozen-precision=nf4")
    names = [name[:-len(".codes")] for name in truth if name.endswith(".codes")]
    for name in names:
        checks.that(is_decoded(coded.weights[name], truth, name),
                    f"{graph.name}: {name} is not what bitsandbytes stores")
    # Decoded matrices as f32 beside the rounded rest of the base.
    file = graph.work / "decoded.npz"
    np.savez(file, **{name: value if name in names else to_bf16(initial[name])
                      if is_frozen(graph, name) else initial[name]
                      for name, value in coded.weights.items()})
    wide = trained_of(graph, run=[f"--weights={file}"])
    error = np.abs(wide.losses - coded.losses).max()
    print(f"{graph.name}: {error:.1e} from the losses of decoded matrices in f32; a base of nf4 "
          f"changes them by {np.abs(plain.losses - coded.losses).max():.1e}")
    checks.that(error <= 1e-5, f"{graph.name}: losses off by {error:.1e}")
    return coded, names


def check_bits(checks, graph, precision, first):
    for stage, ranks, more in [(3, 1, []), (0, 2, []), (1, 2, []), (3, 2, []),
                               (3, 2, ["--bucket-bytes=16KiB"]),
                               (3, 2, ["--offload-params=host"]), (3, 2, ["--offload-params=nvme"]),
                               (2, 2, ["--checkpoint=layer"]), (3, 2, ["--micro-batches=2"]),
                               (3, 4, ["--persist-under=1KB"])]:
        run = [f"--nvme-dir={graph.work}"] if "--offload-params=nvme" in more else []
        result = trained_of(graph, f"--frozen-precision={precision}", *more, stage=stage,
                            ranks=ranks, run=run)
        key = (ranks, "micro" if "--micro-batches=2" in more else "")
        expected = first.setdefault(key, result)
        checks.that(result.same_bits(expected),
                    f"{graph.name}, {precision}: other bits at stage {stage} on {ranks} {more}")


def check_errors(checks, graph, names):
    """Decoded elements are near the original ones, and those of the Python package."""
    initial = graph.initializers()
    for precision, most in LARGEST_ERROR.items():
        coded = trained_of(graph, f"--frozen-precision={precision}", steps=1).weights
        for name in names:
            value, got = (w[name].reshape(-1, 64) for w in (initial, coded))
            error = (np.abs(got - value) / np.abs(value).max(axis=1, keepdims=True)).max()
            checks.that(error <= most, f"{precision}: {name} is off by {error:.3f} of its block")
            checks.that(np.array_equal(blocks.decode(value, precision, value.size), got.reshape(-1)),
                        f"{precision}: zero.blocks has other values of {name}")
            checks.that(is_one_of(coded[name], "float32", digests_of(initial[name], "float32")),
                        f"{precision}: {name} is not known as stored in blocks")


def check_bytes(checks, graph, names):
    """Half a byte for each element of a matrix, and 1/64 and 4/(64 x 256) of one for scales."""
    flags = [*ADAMW, TRAINED[graph.name]]
    for stage, ranks in ((0, 1), (3, 2)):
        coded, narrow = (Plan(graph, stage, ranks, *flags, f"--frozen-precision={p}").certificate
                         for p in ("nf4", "bf16"))
        elements = sum(graph.initializers()[name].size for name in names)
        saved = elements * (2 - 0.5 - 1 / 64)
        expected = narrow["parameters"] - saved / (ranks if stage == 3 else 1)
        text = run_tool("zeroc", graph.folder / "model.onnx", "--plan-only", *flags,
                        f"--zero-stage={stage}", f"--ranks={ranks}", "--frozen-precision=nf4")
        blocks_of_64 = re.search(r"parameters, 4-bit blocks of 64 +(\d+)", text)
        least = elements * (0.5 + 1 / 64) / (ranks if stage == 3 else 1)
        checks.that(blocks_of_64 and least <= int(blocks_of_64[1]) <= least * 1.1 + 512 * len(names)
                    and ", i8 " not in text, f"bytes in blocks in {text}")
        more = 4 * 64 * len(names) + 64 * 8 * ranks  # the second scales, and padding
        checks.that(abs(coded["parameters"] - expected) <= more,
                    f"parameters take {coded['parameters']} bytes, not {expected}")


def check_files(checks, graph, coded, names):
    """Weights of a file are encoded as those of the model, and checkpoints convert."""
    flags = [*ADAMW, TRAINED[graph.name], "--frozen-precision=nf4"]
    start = graph.work / "start.npz"
    original = {name: graph.initializers()[name] for name in coded.weights}
    np.savez(start, **original)
    executable = graph.compile(3, 2, *flags)
    first, second = (graph.run(executable, 1, "--lr=1e-3", *more)
                     for more in ([], [f"--weights={start}"]))
    checks.that(first.same_bits(second), "a file of weights is encoded otherwise")
    np.savez(start, **original, **{f"{names[0]}.quant_state.bitsandbytes__nf4": np.zeros(8, np.uint8)})
    check_refused(checks, "codes of bitsandbytes", [f"bitsandbytes has stored '{names[0]}' in blocks"],
                  "zero-run", executable, graph.data_flag, "--steps=1", f"--weights={start}")
    folder = graph.work / "checkpoints"
    shutil.rmtree(folder, ignore_errors=True)
    graph.run(executable, 3, "--lr=1e-3", f"--save-state={folder}")
    save = graph.work / "resumed.safetensors"
    for stage, ranks, precision in ((3, 2, "nf4"), (0, 1, "nf4"), (1, 2, "bf16"), (3, 2, "int8")):
        other = graph.compile(stage, ranks, *[f.replace("nf4", precision) for f in flags])
        text = run_tool("zero-run", other, graph.data_flag, "--steps=4", "--lr=1e-3",
                        f"--resume={folder}", f"--save={save}")
        weights, is_same = read_safetensors(save), precision == "nf4"
        most = 0 if is_same else 0.01
        checks.that(all(np.abs(weights[n] - first.weights[n]).max() <=
                        most * np.abs(first.weights[n]).max() for n in names),
                    f"resumed in {precision} at stage {stage}: another base")
        checks.that(("converted" in text) != is_same, f"{precision}: conversions in {text}")


def main():
    data, work = Path(sys.argv[1]), Path(sys.argv[2])
    shutil.rmtree(work, ignore_errors=True)
    checks = Checks()
    for name in TRAINED:
        graph, truth = Graph(data, name, work / name), np.load(data / "blocks" / f"{name}.npz")
        coded, names = check_values(checks, graph, truth)
        check_bits(checks, graph, "nf4", {(1, ""): coded})
        check_errors(checks, graph, names)
        check_bytes(checks, graph, names)
        check_files(checks, graph, coded, names)
    checks.finish()


if __name__ == "__main__":
    main()
