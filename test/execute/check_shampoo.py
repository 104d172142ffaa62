"""Shampoo on hidden matrices and AdamW on the rest: the losses of its formulas in fp64, the same bits
at every stage, tier and bucket, owners of statistics, and errors.

usage: check_shampoo.py DATA WORK
"""

import json
import sys
from pathlib import Path

import numpy as np

from check_muon import (ALL, check_other_ranks, check_resumed, check_skipped, check_stages,
                        plan_products, updated)
from shampoo_cases import CASES, MODELS
from zero_test import Checks, Graph, certificate, check_refused, run_tool

INPUTS = Path(__file__).resolve().parent / "Inputs"
SHAMPOO = ["--optimizer=shampoo", "--weight-decay=0.1", "--other-optimizer=adamw", "--other-lr=1e-3",
           "--other-weight-decay=0.01"]
# Largest difference of 21 losses from the formulas in fp64, whose roots are by eigenvalues.
LOSSES = 1e-4
PRODUCTS = 2 * 4 * 19 + 4  # of two roots, two statistics and the step of a matrix


def check_curves(checks, data, work):
    expected = json.loads((INPUTS / "shampoo.json").read_text())
    for name in MODELS:
        graph = Graph(data, name, work / name)
        for flags in CASES:
            executable = graph.compile(0, 1, *SHAMPOO, *ALL.get(name, []), *flags.split())
            error = np.abs(graph.run(executable, 21).losses - expected[name][flags]).max()
            print(f"{name}, {flags}: {error:.1e} from the formulas in fp64")
            checks.that(error <= LOSSES, f"{name}, {flags}: losses off by {error:.1e}")


def check_owners(checks, data, work):
    """The statistics of a matrix are its owner's, which computes its step and its roots alone. The
    exchange is AdamW's."""
    graph = Graph(data, "gpt2-tiny", work)
    every, _, memory = plan_products(graph, 0, 1, *SHAMPOO)
    whole = memory["optimizer state"]
    checks.that(every == [8 * PRODUCTS], f"without owners: {every} products")
    for stage in (1, 2, 3):
        # On three ranks one owns two of the four largest matrices.
        for ranks, most in ((2, 1.02), (3, 1.1)):
            products, received, memory = plan_products(graph, stage, ranks, *SHAMPOO)
            state = memory["optimizer state"]
            _, adamw, _ = plan_products(graph, stage, ranks, "--optimizer=adamw")
            label = f"stage {stage}, {ranks} ranks"
            # Where ranks own matrices of one shape, the program has the launches of one.
            counts = {2: [4, 4], 3: [2, 3, 3]}[ranks]
            checks.that(sorted(products) == [PRODUCTS * count for count in counts],
                        f"{label}: {products} products")
            checks.that(received <= 1.1 * adamw, f"{label}: receives {received}, AdamW {adamw}")
            print(f"{label}: {state * ranks / whole:.3f} x the even share, products {products}")
            checks.that(state <= most * whole / ranks, f"{label}: {state} of {whole} bytes of states")
    # In parts on all ranks, each step is computed once.
    for stage, ranks, flags in ((3, 2, ["--bucket-bytes=20000"]), (1, 8, [])):
        products, _, memory = plan_products(graph, stage, ranks, *SHAMPOO, *flags)
        checks.that(sum(products) == 8 * PRODUCTS, f"{ranks} ranks, {flags}: {products}")
        share = memory["optimizer state"] * ranks / whole
        print(f"{ranks} ranks, {flags}: {share:.3f} x the even share")


def check_shares(checks, work):
    """Memory of a rank: at most the largest matrix more than 1.1 x the even share of states, and as
    the guide says."""
    work.mkdir(parents=True, exist_ok=True)
    model = work / "gpt.onnx"
    flags = [model, "--plan-only", "--no-cache", "--init=normal:0.02", *SHAMPOO]
    largest = 4 * (64 * 64 + 256 * 256 + 64 * 256)
    for layers, most in ((2, {3: 1.1, 5: 1.45, 7: 1.27}), (4, {3: 1.03, 5: 1.15, 7: 1.27, 8: 1.18}),
                         (8, {3: 1.03, 4: 1.01, 5: 1.09, 7: 1.17, 8: 1.01})):
        run_tool("zero-translate", f"--make-gpt=layers={layers},width=64,heads=4,vocabulary=128,"
                 "sequence=16,batch=1", "-o", model)
        whole = certificate(run_tool("zeroc", *flags))["device"]["optimizer state"]
        for ranks in range(2, 9):
            text = run_tool("zeroc", *flags, "--zero-stage=1", f"--ranks={ranks}")
            state = certificate(text)["device"]["optimizer state"]
            share, label = state * ranks / whole, f"{layers} layers on {ranks} ranks"
            print(f"{label}: {share:.3f} x the even share")
            checks.that(state <= 1.1 * whole / ranks + largest, f"{label}: {state} of {whole} bytes")
            checks.that(share <= most.get(ranks, share), f"{label}: {share:.3f} x the even share")


def check_largest_side(checks, data, work):
    """Another optimizer updates larger matrices."""
    graph = Graph(data, "gpt2-tiny", work)
    text = run_tool("zeroc", graph.folder / "model.onnx", "--plan-only", "-v", *SHAMPOO,
                    "--largest-side=200")
    names = updated(text, "shampoo")
    checks.that(len(names) == 4 and all(".attn." in name for name in names), f"{names}")
    checks.that(text.count("x256xf32, too large") == 2, text)


def check_errors(checks, data):
    model = data / "mlp" / "model.onnx"
    for flags, words in (
            (["--graft=adam"], ["expected none, sgd or rmsprop, got 'adam'"]),
            (["--root-steps=51"], ["expected at most 50, got 51"]),
            (["--eps=0"], ["expected", "0"]),
            (["--state-precision=8bit"], ["updates each element by itself, got shampoo"])):
        check_refused(checks, " ".join(flags), words, "zeroc", model, "--plan-only",
                      "--optimizer=shampoo", *flags)


def main():
    data, work = map(Path, sys.argv[1:])
    checks = Checks()
    settings = (*SHAMPOO, "--lr=0.001", "--graft=rmsprop")
    check_curves(checks, data, work)
    check_owners(checks, data, work / "owners")
    check_shares(checks, work / "shares")
    check_largest_side(checks, data, work / "side")
    check_stages(checks, data, work / "stages", settings)
    check_resumed(checks, data, work / "resumed", settings)
    check_other_ranks(checks, data, work / "ranks", settings, 2, [(3, 3), (0, 1), (1, 4)])
    for ranks in (2, 3):  # on 3, launches have the conditions of owners as well
        check_skipped(checks, data, work / "skipped", settings, ranks)
    check_errors(checks, data)
    checks.finish()


if __name__ == "__main__":
    main()
