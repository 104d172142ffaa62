"""The values that GPT-2 1.5B keeps from forward for backward, compared with the paper's formula.

usage: check_activations.py WORK PAGE [--write]

Plans the model with all values kept (the default) and with one checkpoint per layer. The table must
equal that of PAGE (docs/design/activations.md); --write updates it.
"""

import math
import re
import sys
from collections import Counter
from pathlib import Path
from types import SimpleNamespace

import make_gpt2
from zero_test import Checks, run_tool

LAYERS, WIDTH, HEADS, SEQUENCE, BATCH, VOCABULARY = 48, 1600, 25, 1024, 32, 50257
# The case in ZeRO, arXiv 1910.02054, section 3.2.
SIZE = SimpleNamespace(layers=LAYERS, width=WIDTH, heads=HEADS, vocabulary=VOCABULARY,
                       sequence=SEQUENCE, batch=BATCH, seed=0, sparse=True)
UNIT = 2 * BATCH * SEQUENCE * WIDTH  # bytes of one value of the model's width
MODES = {"everything": ["--recompute=none"], "default": [], "layer": ["--checkpoint=layer"]}
# Kernel, result and width relative to the model's: description.
NAMES = {("layernormalization", 0, 1): "both normalizations",
         ("gemm", 0, 3): "queries, keys and values", ("attention", 0, 1): "result of attention",
         ("attention", 1, 0): "a number for each row of scores, f32",
         ("gemm", 0, 1): "both sums with the residual", ("gemm", 0, 4): "MLP before GELU",
         ("gelu", 0, 4): "MLP after GELU"}
OTHER = "labels, embeddings, the last normalization"
WIDTHS = {"bf16": 2, "f32": 4, "i64": 8, "i1": 1}
LAUNCH = re.compile(r"\s+(%\w+)(:\d+)? = zero\.launch @k\d+_(\w+)\(.*\) -> \(?(.*?)\)?$")
VIEW = re.compile(r"\s+(%\w+) = (?:tensor\.\w+_shape|zero\.member) (%\w+(?:#\d+)?)")


def bytes_of(tensor):
    *shape, element = tensor[len("tensor<"):-1].split("x")
    return math.prod(map(int, shape)) * WIDTHS[element]


def saved_values(step):
    """Bytes of values that are computed before the first gradient and read later, by name."""
    made, alias, saved, backward = {}, {}, Counter(), False
    for line in step.splitlines():
        backward |= "crossentropygrad(" in line
        body = line.split(" = ", 1)[-1].split(" : ", 1)[0]
        if view := VIEW.match(line):
            alias[view[1]] = alias.get(view[2], view[2])
            continue
        for operand in set(re.findall(r"%\w+(?:#\d+)?", body)) if backward else ():
            if value := made.pop(alias.get(operand, operand), None):
                saved[value[0]] += value[1]
        launch = LAUNCH.match(line)
        if backward or not launch:
            continue
        for index, tensor in enumerate(re.findall(r"tensor<[^>]*>", launch[4])):
            name = f"{launch[1]}#{index}" if launch[2] else launch[1]
            size = bytes_of(tensor)
            key = (launch[3], index, round(size / UNIT))
            made[name] = NAMES.get(key, OTHER), size
    return saved


def plan(model, flags):
    """The saved values and, from the certificate, the activations and the working memory at the
    peak."""
    # The workspace of products differs between processors, unless it is planned for a named one.
    text = run_tool("zeroc", model, "--precision=bf16", "--plan-only", "--dump-after=place",
                    "--target-cpu=znver4", *flags)
    at_peak = [int(re.search(rf"^  {role} +\d+ +(\d+)", text, re.M)[1])
               for role in ("activations", "working")]
    return saved_values(text[text.index("func.func @step"):]), *at_peak


def table_of(plans):
    def row(name, *cells):
        return "| " + " | ".join([name, *cells]) + " |"

    def gigabytes(bytes):
        return f"{bytes / 1e9:.2f}" if bytes else "-"

    matrices = 2 * LAYERS * BATCH * HEADS * SEQUENCE**2
    logits = 2 * BATCH * SEQUENCE * VOCABULARY
    lines = [row("GB", "`--recompute=none`", "default", "`--checkpoint=layer`"),
             "|---|---|---|---|"]
    for name in [*NAMES.values(), OTHER]:
        lines.append(row(name, *(gigabytes(saved[name]) for saved, _, _ in plans)))
    lines += [row("**all**", *(f"**{sum(saved.values()) / 1e9:.2f}**" for saved, _, _ in plans)),
              row("activations at the peak, by the certificate",
                  *(gigabytes(activations) for _, activations, _ in plans)),
              row("computed with at the peak, what runs again included",
                  *(gigabytes(working) for _, _, working in plans)),
              row(f"attention matrices, {gigabytes(matrices)} a copy", *["-"] * 3),
              row(f"logits, {gigabytes(logits)}", *["-"] * 3),
              row("the paper: 12 · h · b · s · L values of 2 bytes",
                  *[gigabytes(12 * UNIT * LAYERS)] * 3)]
    return lines


def check(checks, plans):
    (_, all_kept, _), (_, default, _), (saved, layer, working) = plans
    checks.that(round(12 * UNIT * LAYERS / 1e9, 1) == 60.4, "the paper's formula")
    for saved_bytes, at_peak, _ in plans:
        # At the peak, embeddings that only the end of forward reads are no longer live.
        difference = sum(saved_bytes.values()) - at_peak
        checks.that(0 <= difference < 3 * UNIT, f"{difference} bytes are not at the peak")
    # Queries, keys, values, attention, two sums, four before GELU; four after and two norms.
    rows = 4 * BATCH * HEADS * SEQUENCE
    checks.that(0 <= default - LAYERS * (10 * UNIT + rows) < 3 * UNIT, f"default: {default}")
    checks.that(0 <= all_kept - LAYERS * (16 * UNIT + rows) < 3 * UNIT, f"all: {all_kept}")
    checks.that(0 <= layer - LAYERS * UNIT < UNIT, f"one checkpoint a layer: {layer}")
    checks.that(round(layer / 1e9, 2) == 5.03, f"checkpoints of {layer} bytes")
    checks.that(layer + working <= 10e9, f"{layer} and {working} exceed 10 GB")


def main():
    work, page = map(Path, sys.argv[1:3])
    work.mkdir(parents=True, exist_ok=True)
    model = work / "gpt2.onnx"
    make_gpt2.write(model, SIZE)
    plans = [plan(model, flags) for flags in MODES.values()]
    table = "\n".join(table_of(plans))
    print(table)
    text = page.read_text()
    if "--write" in sys.argv:
        page.write_text(re.sub(r"\| GB \|.*?\n\n", lambda _: table + "\n\n", text, flags=re.S))
    checks = Checks()
    checks.that("--write" in sys.argv or table in text, f"{page} has another table")
    check(checks, plans)
    checks.finish()


if __name__ == "__main__":
    main()
