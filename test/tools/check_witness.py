"""zeroc --witness: the way of each parameter and gradient, against the tables of the executable.

usage: check_witness.py DATA WORK
"""

import json
import sys
from pathlib import Path

from executables import read_executable
from zero_test import Checks, check_refused, run_tool


def check_way(checks, found, tensor):
    """A parameter's shard is gathered and read; its gradient is reduced once, and updates it."""
    home = found["buffers"][tensor["places"][0]["buffer"]]
    commands = [c for segment in found["segments"] for c in segment["commands"]]
    gathers = [c for c in commands if c["kind"] == "all_gather" and home["value"] in c["reads"]]
    full = {value for c in gathers for value in c["writes"]}
    checks.that(gathers and any(c["kind"] == "launch" and full.intersection(c["reads"])
                                for c in commands), f"{tensor['name']}: {gathers}")
    gradient, = (g["places"][0] for g in found["gradients"] if g["parameter"] == tensor["name"])
    reductions = [c for c in commands if c["kind"] == "reduce_scatter" and
                  gradient["value"] in c["writes"]]
    checks.that(len(reductions) == 1, f"{tensor['name']}: {reductions}")
    updates = [c for c in commands if c["kind"] == "launch" and
               {gradient["value"], home["value"]} <= set(c["reads"]) and c["writes"]]
    checks.that(len(updates) == 1, f"{tensor['name']}: {updates}")
    states = [other for other in found["tensors"] if other["of"] == tensor["name"]]
    checks.that(len(states) == 2 and all(state["role"] == "optimizer" for state in states),
                f"{tensor['name']}: {states}")


def check_tables(checks, found, tables):
    checks.that((found["format"], found["version"]) == ("zero-schedule", 1), "format")
    checks.that(found["ranks"] == tables.ranks and found["micro_batches"] == tables.micro_batches,
                "ranks")
    for mine, table in zip(found["tensors"], tables.tensors, strict=True):
        checks.that(mine["name"] == table.name and mine["shape"] == list(table.shape) and
                    mine["places"][0] == {"buffer": table.buffer, "start": table.start}, str(mine))
    for mine, table in zip(found["buffers"], tables.buffers, strict=True):
        checks.that((mine["name"], mine["offset"], mine["elements"], mine["shards"]) ==
                    (table.name, table.offset, table.elements, table.shards), str(mine))
    for mine, table in zip(found["segments"], tables.segments, strict=True):
        checks.that([c["waits"] for c in mine["commands"]] ==
                    [list(c.waits) for c in table.commands], mine["kind"])


def main():
    model, work = Path(sys.argv[1]) / "mlp/model.onnx", Path(sys.argv[2])
    work.mkdir(parents=True, exist_ok=True)
    checks, program, witness = Checks(), work / "program.zexe", work / "witness.json"
    run_tool("zeroc", model, "--optimizer=adamw", "--ranks=2", "--zero-stage=3",
             "--bucket-bytes=20KB", "-o", program, f"--witness={witness}")
    found = json.loads(witness.read_text(encoding="utf-8"))
    check_tables(checks, found, read_executable(program)[0])
    trained = [t for t in found["tensors"] if t["role"] == "parameter" and not t["frozen"]]
    checks.that(len(trained) == 6, f"{len(trained)} parameters")
    for tensor in trained:
        check_way(checks, found, tensor)
    for words, flags in [
            (["--witness: expected a name that ends in .json, got"], ["-o", program,
                                                                      "--witness=a.txt"]),
            (["--witness: expected -o FILE.zexe"], ["--plan-only", f"--witness={witness}"]),
            (["is written twice"], ["-o", program, f"--witness={witness}", f"--report={witness}"]),
            (["missing or not writable"], ["-o", program, "--witness=no/such/folder/a.json"])]:
        check_refused(checks, words[0], words, "zeroc", model, *flags)
    checks.finish()


if __name__ == "__main__":
    main()
