"""States of the optimizer in 16, 8 and 4 bits: the losses of torchao's optimizers, bytes as counted,
and the same bits on every stage, tier, bucket and order of micro-batches.

usage: check_state_precision.py DATA WORK
"""

import re
import shutil
import sys
from pathlib import Path

import numpy as np

from zero_test import Checks, Graph, certificate, check_refused, read_safetensors, run_tool

# Largest difference from the losses of torchao 0.18's AdamW8bit and AdamW4bit on CPUs over 20 steps.
# Their order of sums differs, and a code is a step; the mlp amplifies differences most.
EIGHT_BITS = {"gpt2-tiny": 1e-3, "llama-tiny": 1e-3, "mlp": 5e-3}
FOUR_BITS = 3e-2
ADAMW = ["--optimizer=adamw", "--weight-decay=0.01"]


def losses_of(graph, *flags):
    return graph.run(graph.compile(0, 1, *ADAMW, *flags), 21, "--lr=1e-3").losses


def check_curves(checks, data, work):
    for name, most in EIGHT_BITS.items():
        graph, truth = Graph(data, name, work / name), np.load(data / "optim" / f"{name}.npz")
        error = np.abs(losses_of(graph, "--state-precision=8bit") - truth["adamw8bit_losses"]).max()
        print(f"{name}, 8 bits: {error:.1e} from torchao's losses")
        checks.that(error <= most, f"{name}: 8-bit losses off by {error:.1e}")
        got = losses_of(graph, "--state-precision=4bit")
        error = np.abs(got - truth["adamw4bit_losses"]).max()
        ours, theirs = (np.abs(losses - truth["adamw_losses"]).max()
                        for losses in (got, truth["adamw4bit_losses"]))
        print(f"{name}, 4 bits: {error:.1e} from torchao's losses; {ours:.1e} from those of f32, "
              f"torchao's {theirs:.1e}")
        checks.that(error <= FOUR_BITS or ours <= theirs, f"{name}: 4-bit losses off by {error:.1e}")


WAYS = [  # stage, ranks, flags
    (1, 2, []),
    (2, 2, ["--bucket-bytes=64KiB"]),
    (3, 2, []),
    (3, 2, ["--offload-optimizer=host"]),
    (3, 2, ["--offload-optimizer=nvme", "--offload-params=host"]),
    (1, 4, []),
    (3, 4, ["--bucket-bytes=16KiB"]),
]
# Of a rank along tensor, and of tiles along another dimension than the first or without whole blocks
# in a row, some states have no codes: losses are near.
OTHER_STATES = ((3, 2, ["--tile-params-over=32KiB"]), (1, 1, ["--mesh=data=1,tensor=2"]),
                (3, 2, ["--mesh=data=2,tensor=2"]))
ROUNDED = ["--precision=bf16", "--master-weights=none"]
TILES = ["--tile-params-over=1MiB"]  # of gpt2-mini, in rows of blocks


def check_bits(checks, graph, flags_of_state):
    """The same weights and states in every way of partitioning a step. Of 2 and 4 ranks each set has
    bits of its own: gradients are summed over ranks."""
    first = {}
    for stage, ranks, flags in WAYS:
        label = f"{flags_of_state}, stage {stage}, {ranks} ranks, {' '.join(flags)}"
        state, save = graph.work / "state", graph.work / "saved.safetensors"
        shutil.rmtree(state, ignore_errors=True)
        executable = graph.compile(stage, ranks, *ADAMW, *flags, *flags_of_state)
        disk = [f"--nvme-dir={graph.work}"] if "nvme" in " ".join(flags) else []
        run_tool("zero-run", executable, graph.data_flag, "--steps=3", "--quiet",
                 f"--save-state={state}", f"--save={save}", *disk)
        got = read_safetensors(save)
        first.setdefault(ranks, got)
        same = all(np.array_equal(got[k], value) for k, value in first[ranks].items())
        checks.that(same, f"{label}: other weights")


def check_resumed(checks, graph, flags_of_state):
    """A run that goes on with another partition ends as one that was never interrupted."""
    flags = [*ADAMW, *flags_of_state]
    whole, state = graph.compile(0, 2, *flags), graph.work / "half"
    shutil.rmtree(state, ignore_errors=True)
    save = graph.work / "resumed.safetensors"
    run_tool("zero-run", whole, graph.data_flag, "--steps=4", "--quiet", f"--save={save}")
    expected = read_safetensors(save)
    run_tool("zero-run", whole, graph.data_flag, "--steps=2", "--quiet", f"--save-state={state}")
    for stage, more in ((3, []), (1, ["--offload-optimizer=host", "--bucket-bytes=16KiB"])):
        other = graph.compile(stage, 2, *flags, *more)
        run_tool("zero-run", other, graph.data_flag, "--steps=4", "--quiet", f"--resume={state}",
                 f"--save={save}")
        got = read_safetensors(save)
        checks.that(all(np.array_equal(got[k], expected[k]) for k in expected),
                    f"{flags_of_state}: resumed at stage {stage}, other weights")


def check_converted(checks, graph):
    """A checkpoint of any precision resumes in any other. A step from decoded states gives the
    weights of one from the codes. Decoded and encoded again, a block whose largest magnitude is
    negative has another scale, because no code stands for -1."""
    near = {"f32": 0, "bf16": 0, "8bit": 1e-4, "4bit": 2e-2}  # of the loss of the second step
    programs = {precision: (graph.work / f"{precision}.zexe", graph.work / f"{precision}-other.zexe")
                for precision in ("f32", "bf16", "8bit", "4bit")}
    for precision, paths in programs.items():
        for path, flags in zip(paths, (["--zero-stage=3"], ["--zero-stage=1", "--bucket-bytes=16KiB"])):
            graph.compile_to(path, "--ranks=2", *flags, *ADAMW, f"--state-precision={precision}")

    def go(executable, steps, *flags):
        save = graph.work / "converted.safetensors"
        run_tool("zero-run", executable, graph.data_flag, f"--steps={steps}", "--quiet",
                 f"--save={save}", *flags)
        return read_safetensors(save)

    for precision, (first, other) in programs.items():
        state, rounds = graph.work / f"{precision}-state", []
        shutil.rmtree(state, ignore_errors=True)
        go(first, 3, f"--save-state={state}")
        expected = go(other, 4, f"--resume={state}")
        got = go(programs["f32"][1], 4, f"--resume={state}")
        checks.that(all(np.array_equal(got[k], expected[k]) for k in expected),
                    f"{precision} to f32: other weights after a step")
        for step, target in enumerate((other, programs["f32"][0], first)):
            folder = graph.work / f"{precision}-{step}"
            shutil.rmtree(folder, ignore_errors=True)
            go(target, 3, f"--resume={rounds[-1] if rounds else state}", f"--save-state={folder}")
            rounds.append(folder)
        again, whole = (graph.run(first, 5, f"--resume={folder}", has_gradients=False).losses[-1]
                        for folder in (rounds[-1], state))
        error = abs(again / whole - 1)
        checks.that(error <= near[precision], f"{precision} to f32 and back: loss off by {error:.1e}")
        for name, (_, target) in programs.items():
            go(target, 4, f"--resume={state}")


def check_parts(checks, data, work):
    """Parts of parameters, on ranks along tensor and in tiles, and resumed from them."""
    flags = [*ADAMW, "--state-precision=8bit"]

    def follow(graph, label, expected, first, then, most):
        state = graph.work / "parts"
        shutil.rmtree(state, ignore_errors=True)
        graph.run(first, 2, f"--save-state={state}", has_gradients=False)
        losses = graph.run(then, 4, f"--resume={state}", has_gradients=False).losses
        error = np.abs(losses / expected - 1).max()
        checks.that(error < most, f"{label}: losses off by {error:.1e}")

    graph = Graph(data, "gpt2-tiny", work / "parts")
    expected = graph.run(graph.compile(0, 2, *flags), 4, has_gradients=False).losses
    for stage, ranks, more in OTHER_STATES:
        executable = graph.work / "other.zexe"
        mesh = [] if "--mesh" in more[0] else [f"--ranks={ranks}"]
        graph.compile_to(executable, f"--zero-stage={stage}", *mesh, *flags, *more)
        follow(graph, " ".join(more), expected, executable, executable, 1e-4)
    graph = Graph(data, "gpt2-mini", work / "mini")
    tiled, whole = graph.compile(3, 2, *flags, *TILES), graph.compile(1, 2, *flags)
    expected = graph.run(whole, 4, has_gradients=False).losses
    follow(graph, "tiles, then whole", expected, tiled, whole, 1e-5)
    follow(graph, "whole, then tiles", expected, whole, tiled, 1e-5)


def check_bytes(checks, work):
    """Bytes of parameters and of optimizer state for each element of a model of matrices."""
    model = work / "gpt.onnx"
    run_tool("zero-translate", "--make-gpt=layers=4,width=256,heads=4,vocabulary=4096,sequence=64,"
             "batch=1", "-o", model)
    eight, four = 2 + 2 * 4 / 256, 1 + 2 * 4 / 128
    for flags, weight, state in (
            (["--state-precision=f32"], 4, 8), (["--state-precision=bf16"], 4, 4),
            (["--state-precision=8bit"], 4, eight), (["--state-precision=4bit"], 4, four),
            (["--precision=bf16"], 2, 12), (["--precision=bf16", "--state-precision=8bit"], 2, 4 + eight),
            (ROUNDED, 2, 8), ([*ROUNDED, "--state-precision=8bit"], 2, eight)):
        for ranks in (1, 4):
            text = run_tool("zeroc", model, "--plan-only", "--init=normal:0.02", *ADAMW, *flags,
                            f"--ranks={ranks}", "--zero-stage=3")
            elements = int(re.search(r"ranks?, (\d+) parameters", text)[1])
            own = certificate(text)["device"]["optimizer state"] * ranks / elements
            print(f"{' '.join(flags)}, {ranks} ranks: {weight + own:.3f} bytes for each parameter, "
                  f"{own:.3f} of them state")
            # Norms and biases keep f32; slices are padded.
            checks.that(state * 0.99 <= own <= state * 1.06, f"{flags}, {ranks}: {own}")


def check_errors(checks, data):
    model = data / "mlp" / "model.onnx"
    for flags, words in (
            (["--state-precision=6bit"], "expected f32, bf16, 8bit or 4bit"),
            (["--state-precision=momentum=8bit"], "expected a state of adamw, which has exp_avg, exp_avg_sq"),
            (["--state-precision=8bit", "--optimizer=lamb"], "updates each element by itself, got lamb"),
            (["--precision=fp16", "--master-weights=none"], "expected --precision=bf16, got 'f16'"),
            (["--master-weights=none"], "--master-weights=none has no effect"),
            ([*ROUNDED, "--optimizer=lamb"], "updates each element by itself, got lamb")):
        check_refused(checks, " ".join(flags), [words], "zeroc", model, "--plan-only", *flags)


def main():
    data, work = map(Path, sys.argv[1:])
    work.mkdir(parents=True, exist_ok=True)
    checks = Checks()
    check_curves(checks, data, work)
    graph = Graph(data, "gpt2-tiny", work / "bits")
    for flags in (["--state-precision=bf16"], ["--state-precision=8bit"],
                  ["--state-precision=4bit"], ["--state-precision=exp_avg=8bit,exp_avg_sq=4bit"],
                  ROUNDED, [*ROUNDED, "--state-precision=8bit"]):
        check_bits(checks, graph, flags)
        check_resumed(checks, graph, flags)
    check_converted(checks, Graph(data, "gpt2-tiny", work / "converted"))
    check_parts(checks, data, work)
    check_bytes(checks, work)
    check_errors(checks, data)
    checks.finish()


if __name__ == "__main__":
    main()
