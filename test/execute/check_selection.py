"""A GPT-2 with adapters of PEFT, as PyTorch exports it. The trained parameters may be given by a
list, by what is frozen or by what is trainable; each gives the same plan and the same run. The base
may be stored in 16 bits. A tied weight can be selected by each of its names.

usage: check_selection.py DATA WORK
"""

import re
import sys
from pathlib import Path

import numpy as np

from zero_test import Checks, Failed, Graph, Plan, relative, run_tool, to_bf16

ADAMW = ["--optimizer=adamw", "--lr=1e-2", "--weight-decay=0.01"]
SGD = ["--optimizer=sgd", "--lr=0.05", "--momentum=0.9"]
GLOB = "*.lora_*"
PREFIX = "model.base_model.model."
TIED, ALIAS = PREFIX + "lm_head.weight", PREFIX + "transformer.wte.weight"


def rounded(value, precision):
    return to_bf16(value) if precision == "bf16" else value.astype(np.float16).astype(np.float32)


def ways(graph):
    """Flags that select the same parameters."""
    frozen = sorted(n for n in graph.initializers() if ".lora_" not in n)
    return {"list": [f"--trainable={graph.folder / 'trainable.txt'}"],
            "frozen": [f"--freeze={','.join(frozen)}"],
            "all but": [f"--freeze-all-but={GLOB}"]}


def certificate(text):
    """The printed plan without durations."""
    return text[text.index("ZeRO stage"):].split("\ncompiled in")[0]


def check_losses(checks, label, losses, expected):
    error = np.max(np.abs(losses / expected - 1))
    checks.that(error <= 1e-5, f"{label}: losses off by {error:.1e}: {losses}")


def check_ways(checks, graph):
    truth = graph.truth
    for stage in range(4):
        for ranks in (1, 2, 4):
            first = None
            for name, flags in ways(graph).items():
                label = f"{name}, stage {stage} on {ranks}"
                result = graph.run(graph.compile(stage, ranks, *ADAMW, *flags), 11)
                text = certificate(graph.report)
                first = first or (text, result)
                checks.that(text == first[0], f"{label}: another plan:\n{text}\n{first[0]}")
                checks.that(result.same_bits(first[1]), f"{label}: other bits")
                check_losses(checks, label, result.losses, truth["adamw_losses"])
                checks.that(sorted(result.gradients) == list(truth["parameters"]),
                            f"{label}: gradients of {sorted(result.gradients)}")
                for key, gradient in result.gradients.items():
                    error = relative(gradient, truth["grad." + key])
                    checks.that(error <= 1e-5, f"{label}: gradient of {key} off by {error:.1e}")
    result = graph.run(graph.compile(0, 1, *SGD, f"--freeze-all-but={GLOB}"), 11)
    check_losses(checks, "sgd", result.losses, truth["sgdm_losses"])
    sharded, whole = (Plan(graph, stage, 4, *ADAMW, *ways(graph)["list"]).certificate
                      for stage in (3, 0))
    checks.that(sharded["parameters"] < 0.3 * whole["parameters"],
                f"a listed model's base is not sharded: {sharded} {whole}")


def check_default(checks, graph):
    """Without flags all parameters are trained, and the warning names the flag."""
    result = graph.run(graph.compile(0, 1, *ADAMW), 11)
    check_losses(checks, "all", result.losses, graph.truth["adamw_losses_of_all"])
    checks.that("4 parameters look like adapters" in graph.report, f"no warning: {graph.report}")
    pasted = re.search(r"--freeze-all-but='([^']*)'", graph.report)
    checks.that(pasted and pasted.group(1) == GLOB, f"no flag to paste: {graph.report}")
    for flags in (*ways(graph).values(), ["--freeze-all-but=*"]):
        text = run_tool("zeroc", graph.folder / "model.onnx", "--plan-only", *flags)
        checks.that("warning" not in text, f"{flags}: a warning in {text}")


def check_frozen_precision(checks, graph, precision):
    values, flags = graph.initializers(), [*ADAMW, *ways(graph)["list"]]
    narrow = [*flags, f"--frozen-precision={precision}"]
    first = None
    for stage, ranks, more in [(s, r, []) for s in range(4) for r in (1, 2)] + [
            (3, 2, ["--offload-params=host"]), (3, 2, ["--offload-params=nvme"]),
            (2, 2, ["--checkpoint=layer"]), (1, 2, ["--recompute=none"])]:
        label = f"{precision} base, stage {stage} on {ranks} {more}"
        run_flags = [f"--nvme-dir={graph.work}"] if "nvme" in " ".join(more) else []
        result = graph.run(graph.compile(stage, ranks, *narrow, *more), 11, *run_flags)
        first = first or result
        checks.that(result.same_bits(first), f"{label}: other bits")
        check_losses(checks, label, result.losses, graph.truth[f"adamw_losses_{precision}_base"])
    for name, value in values.items():
        if ".lora_" not in name and name in first.weights:
            checks.that(np.array_equal(first.weights[name], rounded(value, precision)),
                        f"{precision}: {name} is not saved as it was computed with")
    trained = 4 * sum(values[n].size for n in values if ".lora_" in n)
    for stage, ranks in ((0, 1), (3, 2)):
        narrow_plan, wide = (Plan(graph, stage, ranks, *f).certificate for f in (narrow, flags))
        share = trained / (ranks if stage == 3 else 1)
        expected = share + (wide["parameters"] - share) / 2
        checks.that(abs(narrow_plan["parameters"] - expected) <= 4 * 64 * ranks * 8,
                    f"{precision}: parameters take {narrow_plan['parameters']}, not {expected}")
    moved = [re.search(r"copies (\d+) bytes per step from device to host and (\d+)", run_tool(
        "zeroc", graph.folder / "model.onnx", "--plan-only", "--zero-stage=3", "--ranks=2",
        "--offload-params=host", *f)) for f in (narrow, flags)]
    halves, wholes = (int(m.group(2)) for m in moved)
    checks.that(halves < 0.6 * wholes, f"{precision}: {halves} bytes to the device, of {wholes}")


def check_weights(checks, graph):
    """A file may use any name of a tied weight, and may initialize a base of 16 bits."""
    values = graph.initializers()
    flags = [*ADAMW, f"--freeze-all-but={GLOB}"]
    executable = graph.compile(3, 2, *flags, "--frozen-precision=bf16")
    expected = graph.run(executable, 3)
    names = [n for n in expected.weights]
    other = {ALIAS if n == TIED else n: values[n] for n in names}
    path = graph.work / "other.npz"
    np.savez(path, **other)
    checks.that(graph.run(executable, 3, f"--weights={path}").same_bits(expected),
                "weights under a tied name train otherwise")
    np.savez(path, **other, **{TIED: values[TIED]})
    checks.that(graph.run(executable, 3, f"--weights={path}").same_bits(expected),
                "weights under both names train otherwise")
    np.savez(path, **other, **{TIED: values[TIED] + 1})
    try:
        graph.run(executable, 1, f"--weights={path}")
        checks.that(False, "two values for one tied weight are taken")
    except Failed as error:
        checks.that("1 tied in the model, but not equal" in str(error), str(error))
    np.savez(path, x=np.zeros(3, np.float32))
    for more, words in (([], "--weights-partial loads the tensors that match by name; "
                              f"{len(names)} missing: "),
                        ([], f"and {len(names) - 5} more (-v lists all)"), (["-v"], names[-1])):
        try:
            graph.run(executable, 1, f"--weights={path}", *more)
            checks.that(False, "a file that fits nothing is taken")
        except Failed as error:
            checks.that(words in str(error), f"'{words}' is not in {error}")


def trained_names(graph, *flags):
    """The trained and the frozen parameters."""
    text = run_tool("zeroc", graph.folder / "model.onnx", "--plan-only", "-v", *flags)
    listed = re.findall(r"^  (model\.\S+): [\dx]+f\d+(, frozen)?$", text, re.MULTILINE)
    return {n for n, f in listed if not f}, {n for n, f in listed if f}


def check_tied(checks, graph):
    names = set().union(*trained_names(graph))
    checks.that(TIED in names and ALIAS not in names, f"parameters {names}")
    for flag in ("--freeze", "--freeze-all-but"):
        by_alias, by_name = (trained_names(graph, f"{flag}={n}") for n in (ALIAS, TIED))
        checks.that(by_alias == by_name and TIED in by_alias[0 if "but" in flag else 1],
                    f"{flag} by a tied name: {by_alias}")
    checks.that(trained_names(graph, "--freeze=*.wte.*")[1] == {TIED}, "a glob misses a tied name")
    listed = graph.work / "list.txt"
    listed.write_text(f"{ALIAS}\n")
    checks.that(trained_names(graph, f"--trainable={listed}")[0] == {TIED},
                "a list misses a tied name")
    runs = [graph.run(graph.compile(0, 1, "--optimizer=sgd", "--lr=0.1", "--weight-decay=0.5",
                                    "--freeze-all-but=*.lm_head.*", *f), 3)
            for f in ([], [f"--no-decay={ALIAS}"], [f"--no-decay={TIED}"])]
    checks.that(runs[1].same_bits(runs[2]) and not runs[1].same_bits(runs[0]),
                "--no-decay misses a tied name")


def main():
    data, work = sys.argv[1:]
    checks = Checks()
    graph = Graph(data, "gpt2-lora", Path(work))
    check_ways(checks, graph)
    check_default(checks, graph)
    for precision in ("bf16", "fp16"):
        check_frozen_precision(checks, graph, precision)
    check_weights(checks, graph)
    check_tied(checks, graph)
    checks.finish()


if __name__ == "__main__":
    main()
