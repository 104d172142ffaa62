"""A budget is kept or rejected, and no plan is slower than one for a smaller budget.

usage: check_budget.py DATA WORK [BUDGETS]

BUDGETS: from ample to infeasible, of each model (10).
"""

import re
import sys

from zero_test import Checks, Failed, Graph, run_tool

ALIGNMENT = 256  # bytes: alignment of values in the arena
FLAGS = ["--optimizer=adamw", "--lr=1e-3", "--checkpoint=auto"]


class Planned:
    """What zeroc reports about the plan that it chose."""

    def __init__(self, text):
        found = re.search(r"plan: .*?: (\d+) bytes, ([\d.e+-]+) s a step", text)
        self.bytes, self.seconds = int(found.group(1)), float(found.group(2))
        self.tiles = "tiles of parameters above " in text
        self.arena = int(re.search(r"^  arena +(\d+)", text, re.MULTILINE).group(1))


def plan(graph, stage, ranks, *flags):
    """Returns the plan or the error message. Without a stage, the planner chooses it."""
    where = "--zero=auto" if stage is None else f"--zero-stage={stage}"
    try:
        return Planned(run_tool("zeroc", graph.folder / "model.onnx", "--plan-only", where,
                                f"--ranks={ranks}", *FLAGS, *flags)), ""
    except Failed as failed:
        return None, str(failed)


def smallest_budget(refusal):
    return int(re.search(r"the smallest budget with a plan is (\d+)", refusal).group(1))


def check_refusal(checks, label, refusal):
    for words in ("error: --memory-budget=", "the smallest plan has its peak at ", "the largest live values there:",
                  "every plan needs at least ", "options with a plan that fits:"):
        checks.that(words in refusal, f"{label}: '{words}' is not in {refusal}")
    bound = int(re.search(r"every plan needs at least (\d+) bytes", refusal).group(1))
    checks.that(bound <= smallest_budget(refusal), f"{label}: a bound of {bound} is none")


def check_smallest(checks, label, graph, stage, ranks, refusal):
    """The budget named as the smallest is feasible, and the next smaller one is not."""
    smallest = smallest_budget(refusal)
    found, _ = plan(graph, stage, ranks, f"--memory-budget={smallest}")
    checks.that(found and found.arena == smallest, f"{label}: {smallest} has no plan")
    found, again = plan(graph, stage, ranks, f"--memory-budget={smallest - ALIGNMENT}")
    checks.that(not found and smallest_budget(again) == smallest,
                f"{label}: {smallest - ALIGNMENT} has a plan")


def check_run(checks, label, graph, stage, ranks, budget, kept):
    """A run stays within the budget, and its numbers equal those of a run that keeps everything."""
    executable = graph.compile(stage, ranks, *FLAGS, f"--memory-budget={budget}")
    result = graph.run(executable, 3, "--check-memory")
    checks.that(result.same_bits(kept), f"{label}: recomputation changed the numbers")
    for rank, stats in enumerate(result.report["per_rank"]):
        checks.that(stats["arena_bytes"] <= budget and stats["measured_peak"] <= budget,
                    f"{label}: rank {rank} takes {stats['arena_bytes']}")


def sweep(checks, graph, stage, ranks, budgets):
    label = f"{graph.name} stage {stage} on {ranks}"
    kept = graph.run(graph.compile(stage, ranks, "--optimizer=adamw", "--lr=1e-3"), 3)
    _, refusal = plan(graph, stage, ranks, "--memory-budget=1KiB")
    check_refusal(checks, label, refusal)
    check_smallest(checks, label, graph, stage, ranks, refusal)
    ample, _ = plan(graph, stage, ranks, "--memory-budget=1TiB")
    low, high = smallest_budget(refusal) - 4096, ample.arena + 4096
    seconds, plans = 0, set()
    for turn in range(budgets):
        budget = high - (high - low) * turn // (budgets - 1)
        found, refusal = plan(graph, stage, ranks, f"--memory-budget={budget}")
        if not found:
            checks.that(budget < smallest_budget(refusal), f"{label}: {budget} is refused")
            continue
        checks.that(found.bytes == found.arena <= budget,
                    f"{label}: {found.bytes}, {found.arena} of {budget} bytes")
        checks.that(found.seconds >= seconds,
                    f"{label}: {found.seconds} s with {budget} bytes, {seconds} s with more")
        seconds = found.seconds
        if found.arena not in plans:
            plans.add(found.arena)
            check_run(checks, f"{label}, {budget} bytes", graph, stage, ranks, budget, kept)
    print(f"{label}: {smallest_budget(refusal)} to {ample.arena} bytes, {len(plans)} plans")
    checks.that(len(plans) >= 3, f"{label}: only {len(plans)} plans")


def check_auto(checks, graph, ranks, parts):
    """The stage is chosen with everything else: never slower than with a fixed stage."""
    label = f"{graph.name} --zero=auto on {ranks}"
    ample, _ = plan(graph, 0, ranks, "--memory-budget=1TiB")
    for part in parts:
        budget = int(ample.arena * part)
        found, refusal = plan(graph, None, ranks, f"--memory-budget={budget}")
        for stage in range(4):
            alone, _ = plan(graph, stage, ranks, f"--memory-budget={budget}")
            checks.that(not alone or (found and found.seconds <= alone.seconds),
                        f"{label}: {budget} bytes: stage {stage} alone is faster; {refusal}")


def sweep_auto(checks, graph, ranks, budgets):
    """The plans include tiles. The planned time never falls as the budget shrinks, the budget that
    is named as the smallest is feasible, and runs with tiles keep the budget."""
    label = f"{graph.name} --zero=auto on {ranks}"
    _, refusal = plan(graph, None, ranks, "--memory-budget=1KiB")
    check_refusal(checks, label, refusal)
    check_smallest(checks, label, graph, None, ranks, refusal)
    low, high = smallest_budget(refusal), plan(graph, 0, ranks, "--memory-budget=1TiB")[0].arena
    seconds, tiled = 0, []
    for turn in range(budgets):
        budget = high - (high - low) * turn // (budgets - 1)
        found, refusal = plan(graph, None, ranks, f"--memory-budget={budget}")
        checks.that(found and found.arena <= budget, f"{label}: {budget}: {refusal}")
        checks.that(found and found.seconds >= seconds, f"{label}: {budget} bytes are faster")
        seconds = found.seconds if found else seconds
        if found and found.tiles:
            tiled.append(budget)
    print(f"{label}: {low} to {high} bytes, tiles for {len(tiled)} budgets")
    checks.that(tiled, f"{label}: no budget makes tiles")
    path = graph.work / "auto.zexe"
    run_tool("zeroc", graph.folder / "model.onnx", "--zero=auto", f"--ranks={ranks}", *FLAGS,
             f"--memory-budget={tiled[-1]}", "-o", path)
    for stats in graph.run(path, 2, "--check-memory").report["per_rank"]:
        checks.that(stats["measured_peak"] <= tiled[-1], f"{label}: {stats['measured_peak']}")


def main():
    data, work, *budgets = sys.argv[1:]
    budgets = int(budgets[0]) if budgets else 10
    checks = Checks()
    gpt2 = Graph(data, "gpt2-tiny", f"{work}/gpt2")
    llama = Graph(data, "llama-tiny", f"{work}/llama")
    sweep(checks, gpt2, 0, 1, budgets)
    sweep(checks, gpt2, 3, 2, budgets)
    sweep(checks, llama, 2, 2, budgets)
    sweep(checks, llama, 3, 4, budgets)
    check_auto(checks, gpt2, 4, (1.0, 0.8, 0.6, 0.5) if budgets >= 10 else (0.8, 0.5))
    sweep_auto(checks, gpt2, 4, budgets // 2)
    sweep_auto(checks, llama, 2, budgets // 2)
    checks.finish()


if __name__ == "__main__":
    main()
