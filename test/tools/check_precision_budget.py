"""Precisions and budgets: a refusal names the precision that would fit, and --allow-precision takes
the first of those allowed that fits, and says so.

usage: check_precision_budget.py DATA
"""

import re
import subprocess
import sys

from zero_test import Checks, certificate

KB = 1000


def zeroc(model, *flags):
    done = subprocess.run(["zeroc", model, "--plan-only", *flags], capture_output=True, text=True)
    return done.returncode, done.stdout + done.stderr


def smallest(model, *flags):
    """The smallest budget with a plan, in bytes."""
    _, text = zeroc(model, *flags, "--memory-budget=1KiB")
    return int(re.search(r"the smallest budget with a plan is (\d+) bytes", text)[1])


def advice(text):
    found = re.search(r"note: (--.*) would fit; it changes numbers$", text, re.M)
    return found and found[1]


def chosen(text):
    found = re.search(r"^precision: (.*?), (?:the first that fits|since a plan fits), of \S+; (\d+) tried$",
                      text, re.M)
    return found and found[1]


# Flags, KB less than the smallest budget, and what is left out of it. Of gpt2-tiny AdamW's states
# take 1079 KB, in bf16 540, in blocks of 8 bits 320, of 4 bits 192; the masters of bf16 and the f32
# sums of gradients take 540.
ADVICE = [
    ([], 400, "--state-precision=bf16"),
    ([], 650, "--state-precision=8bit"),
    ([], 800, "--state-precision=4bit"),
    (["--state-precision=bf16"], 100, "--state-precision=8bit"),
    (["--state-precision=8bit"], 60, "--state-precision=4bit"),
    (["--micro-batches=2"], 100, "--grad-precision=bf16"),
    (["--precision=bf16"], 800, "--state-precision=8bit --master-weights=none"),
    # A 16-bit parameter of fp16 needs its master, and LAMB f32 states.
    (["--precision=fp16"], 800, "--state-precision=4bit"),
    (["--optimizer=lamb", "--micro-batches=2"], 100, "--grad-precision=bf16"),
    ([], 1500, None),
]
FROZEN = [(["--freeze-all-but=*.lora_*"], 5, "--frozen-precision=bf16")]
ALLOWED = [
    ([], "state:8bit,state:4bit", 400, "--state-precision=8bit"),
    ([], "state:4bit,state:8bit", 400, "--state-precision=8bit"),
    ([], "state:4bit", 400, "--state-precision=4bit"),
    ([], "state:8bit", 0, "as given"),
    ([], "state:8bit,state:4bit", 800, "--state-precision=4bit"),
    # Blocks of 8 bits do not suffice, masters alone do.
    (["--precision=bf16", "--optimizer=sgd", "--momentum=0.9"], "state:8bit,masters:none", 450,
     "--master-weights=none"),
]


def check_advice(checks, model, cases):
    for flags, less, expected in cases:
        budget = smallest(model, *flags) - less * KB
        code, text = zeroc(model, *flags, f"--memory-budget={budget}")
        label = f"{flags}, {less} KB less"
        checks.that(code == 1 and advice(text) == expected, f"{label}: advice {advice(text)}\n{text}")
        if expected:
            flags = [flag for flag in flags if not flag.startswith("--state-precision")]
            code, text = zeroc(model, *flags, *expected.split(), f"--memory-budget={budget}")
            checks.that(code == 0, f"{label}: {expected} does not fit: {text}")


def check_allowed(checks, model):
    for flags, allowed, less, expected in ALLOWED:
        budget = f"--memory-budget={smallest(model, *flags) - less * KB}"
        code, text = zeroc(model, *flags, budget, f"--allow-precision={allowed}")
        label = f"{flags}, {allowed}, {less} KB less"
        checks.that(code == 0 and chosen(text) == expected, f"{label}: chose {chosen(text)}\n{text}")
        precisions = [] if expected == "as given" else [expected]
        _, same = zeroc(model, *flags, budget, *precisions)
        checks.that(re.sub(r"^precision: .*\n", "", text, flags=re.M) == same,
                    f"{label}: another plan than with {precisions}:\n{text}\n{same}")
        checks.that(code == 0 and certificate(text)["device"]["arena"] <= int(budget[16:]), label)


def check_refused(checks, model):
    budget = f"--memory-budget={smallest(model) - 400 * KB}"
    for flags, words in (
            # What is not allowed is not taken; the advice names it.
            ([budget, "--allow-precision=grads:bf16"], "would fit; it changes numbers"),
            ([budget, "--allow-precision=grads:bf16"],
             "note: no plan fits with --allow-precision=grads:bf16 either"),
            ([budget], "no plan fits"),
            (["--allow-precision=state:8bit"], "--allow-precision=state:8bit has no effect with no budget"),
            ([budget, "--allow-precision=state:7bit"], "expected one of frozen:bf16, grads:bf16, "
             "state:bf16, frozen:int8, state:8bit, masters:none, state:4bit, frozen:nf4, "
             "got 'state:7bit'"),
            ([budget, "--forward-only", "--allow-precision=state:8bit"], "--forward-only")):
        code, text = zeroc(model, *flags)
        checks.that(code == 1 and words in text, f"{flags}: exit {code}: {text}")
        checks.that(chosen(text) is None, f"{flags}: chose {chosen(text)}")


def check_auto(checks, model):
    """The planner chooses the stage beside it; what the step needs is in the budget."""
    flags = ["--zero=auto", "--ranks=2", "--micro-batches=2"]
    budget = smallest(model, *flags) - 50 * KB
    code, text = zeroc(model, *flags, f"--memory-budget={budget}", "--allow-precision=grads:bf16,state:8bit")
    checks.that(code == 0 and chosen(text) in ("--grad-precision=bf16", "--state-precision=8bit"), text)
    checks.that("plan: stage " in text, text)


def main():
    checks = Checks()
    model, adapters = (f"{sys.argv[1]}/{name}/model.onnx" for name in ("gpt2-tiny", "gpt2-lora"))
    check_advice(checks, model, ADVICE)
    check_advice(checks, adapters, FROZEN)
    check_allowed(checks, model)
    check_refused(checks, model)
    check_auto(checks, model)
    checks.finish()


main()
