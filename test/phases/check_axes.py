"""What a block of GPT-2 keeps for backward on ranks along an axis, and what they exchange.

usage: check_axes.py WORK

One value of the model's width for b sequences of s tokens has b s h elements. A block keeps for
backward (Korthikanti et al., arXiv 2205.05198, section 4, counts the same in bytes of 16 bits):

  in front of each product by columns, the normalized tokens: 2 bsh. Every rank needs all tokens;
      with sequence parallelism it keeps its own, and gathers again. Recomputed by default.
  queries, keys and values 3 bsh, attention 1 bsh, the MLP before GELU 4 bsh and after it 4 bsh,
      divided by heads and columns. After GELU: recomputed by default.
  the two sums with the residual, 2 bsh: each rank has all tokens, or its own.

So 16 bsh on one rank, (4 + 12/t) bsh on t ranks, 16/t bsh with sequence parallelism; the paper's 34
bytes are 16 of 2 bytes and two masks of dropout, which are recomputed here. Of scores (the paper's
5as/h) attention keeps one f32 for each row and head: 4 bsa/t bytes.

On n ranks along `context`, each has 1/n of all that, and what is exchanged are keys and values, 2 bsh,
and their gradients.

All is measured as the difference of models of 4 and 2 blocks, so that their ends do not count.
"""

import re
import sys
from pathlib import Path
from types import SimpleNamespace

import make_gpt2
from zero_test import Checks, read_trace, run_tool

WIDTH, HEADS, SEQUENCE, BATCH = 256, 8, 128, 4
BSH = BATCH * SEQUENCE * WIDTH
ROWS = 4 * BATCH * SEQUENCE * HEADS  # bytes
FEW, MANY = 2, 4  # blocks


def make(work, layers):
    model = work / f"{layers}.onnx"
    make_gpt2.write(model, SimpleNamespace(layers=layers, width=WIDTH, heads=HEADS, vocabulary=512,
                                           sequence=SEQUENCE, batch=BATCH, seed=0, sparse=True))
    return model


def plan(model, axis, flags):
    """Bytes that forward keeps, and elements that ranks along `axis` exchange, by part."""
    text = run_tool("zeroc", model, "--plan-only", "--optimizer=adamw", *flags)
    kept = int(re.search(r"^  activations +(\d+)", text, re.M)[1])
    line = re.search(rf"^along {axis}, .* of \d+: (.*)$", text, re.M)
    parts = [part.rsplit(" ", 1) for part in line[1].split(", ")] if line else []
    return kept, {name: int(count) for name, count in parts}


def of_block(models, axis, flags):
    """The share of one block."""
    (few, few_parts), (many, many_parts) = (plan(models[layers], axis, flags)
                                            for layers in (FEW, MANY))
    blocks = MANY - FEW
    return (many - few) / blocks, {name: (count - few_parts[name]) / blocks
                                   for name, count in many_parts.items()}


def context_cases():
    """Ranks, flags, elements kept, in bsh, and elements exchanged of a block."""
    exchanged = {"forward": 2 * BSH, "backward": 4 * BSH}
    for ranks in (2, 4):
        yield ranks, [], 10 / ranks, exchanged
        yield ranks, ["--recompute=none"], 16 / ranks, exchanged
        yield ranks, ["--checkpoint=layer"], 1 / ranks, {**exchanged, "recomputed layers": 2 * BSH}


def tensor_cases():
    """As `context_cases`."""
    yield 1, [], 10, {}
    yield 1, ["--recompute=none"], 16, {}
    for ranks in (2, 4):
        sums = {"forward": 4 * BSH, "backward": 4 * BSH}
        yield ranks, [], 2 + 8 / ranks, sums
        yield ranks, ["--recompute=none"], 4 + 12 / ranks, sums
        layer = {**sums, "recomputed layers": 2 * BSH}
        yield ranks, ["--checkpoint=layer"], 1, layer
        # Divided copies of what all ranks hold: both sums, or the one that is the block's input.
        yield (ranks, ["--partition-activations"], 10 / ranks,
               {**sums, "saved activations": 2 * BSH})
        yield (ranks, ["--partition-activations", "--checkpoint=layer"], 1 / ranks,
               {**layer, "saved activations": BSH})
        # The gradients of norms and of biases behind sums are sums over tokens of all ranks.
        tokens = {"forward": 4 * BSH, "backward": 4 * BSH + 2 * 6 * WIDTH}
        again = {**tokens, "gathered again": 2 * BSH}
        yield ranks, ["--sequence-parallel"], 10 / ranks, again
        yield ranks, ["--sequence-parallel", "--recompute=none"], 16 / ranks, again
        yield (ranks, ["--sequence-parallel", "--checkpoint=layer"], 1 / ranks,
               {**tokens, "recomputed layers": 3 * BSH})


def check_overlap(checks, work, model):
    """On a machine whose lanes overlap, both exchanges of the gradient of a product by columns run
    beside kernels: the tokens are gathered again while the gradient that leaves is computed, and
    this one is summed while that of the weights is."""
    executable, trace = work / "overlap.zexe", work / "overlap.json"
    run_tool("zeroc", model, "--mesh=data=2,tensor=2", "--sequence-parallel", "--optimizer=adamw",
             "--machine=h100", "--prefetch-bytes=25MB", "-o", executable)
    run_tool("zero-sim", executable, "--machine=h100", f"--trace={trace}")
    slices = [event for rank, _, event in read_trace(trace) if rank == 0]
    kernels = [event for event in slices if event["args"].get("flops", 0) > 0]

    def hidden(event):
        """The part of the time of `event` in which a kernel runs."""
        ends = [(max(kernel["ts"], event["ts"]),
                 min(kernel["ts"] + kernel["dur"], event["ts"] + event["dur"])) for kernel in kernels]
        return sum(max(end - begin, 0) for begin, end in ends) / event["dur"]

    exchanges = [event for event in slices if event["args"].get("axis") == "tensor"]
    again = [event for event in exchanges if event["args"].get("recomputed")][1:]  # the head's first
    behind = {event["name"]: event for event in exchanges
              if event["args"]["kernel"] == "reduce-scatter" and event["ts"] > again[0]["ts"]}
    checks.that(len(again) == 2 * FEW, f"{len(again)} gathers")
    for event in again:
        checks.that(hidden(event) > 0.95 and hidden(behind[event["name"]]) > 0.95,
                    f"{event['name']}: {hidden(event):.2f} and {hidden(behind[event['name']]):.2f} "
                    "of the exchanges run beside kernels")


def main():
    work = Path(sys.argv[1])
    work.mkdir(parents=True, exist_ok=True)
    models = {layers: make(work, layers) for layers in (FEW, MANY)}
    checks = Checks()
    for precision, size in (("fp32", 4), ("bf16", 2)):
        for axis, (ranks, flags, elements, exchanged) in [
                *(("tensor", case) for case in tensor_cases()),
                *(("context", case) for case in context_cases())]:
            rows = 0 if "--checkpoint=layer" in flags else ROWS // ranks
            kept, parts = of_block(models, axis, [f"--mesh=data=1,{axis}={ranks}", *flags,
                                                  f"--precision={precision}"])
            label = f"{precision}, {ranks} ranks along {axis} {' '.join(flags)}"
            checks.that(kept == elements * BSH * size + rows,
                        f"{label}: {(kept - rows) / BSH / size} bsh are kept, expected {elements}")
            checks.that(parts == exchanged, f"{label}: {parts} exchanged, expected {exchanged}")
    check_overlap(checks, work, models[FEW])
    checks.finish()


if __name__ == "__main__":
    main()
