"""Trains losses that JAX shards over a mesh of 2 x 2 devices (test/data/jax-tensor-parallel).

usage: check_jax_mesh.py FOLDER WORK

Without flags the ranks are those of the program, and parameters are sharded as it says. Losses of
ten updates are within 1e-5 of JAX's, and gradients within 1e-5 of the largest. On that mesh ZeRO
stages change no bit, and neither does the same plan from a file. On other meshes losses agree, too.
"""

import json
import re
import sys
from pathlib import Path

import numpy as np

from zero_test import Checks, Result, check_refused, read_safetensors, run_tool

STEPS = 11
LIMIT = 1e-5
ADAMW = ["--optimizer=adamw", "--lr=1e-3", "--weight-decay=0.01"]
PLANS = {
    "mlp": {"params.fc1": "colwise", "params.fc2": "rowwise"},
    "gpt": {"*.attention.[qkv]": "colwise", "*.attention.qkv": "packed_colwise",
            "*.attention.o": "rowwise", "*.up": "colwise", "*.down": "rowwise",
            "params.wte": "embedding_rowwise", "params.head": "colwise"},
}


class Program:
    def __init__(self, folder, name, work):
        self.name, self.path, self.work = name, folder / f"{name}.mlir", work
        self.base = folder / name
        self.truth = dict(np.load(f"{self.base}-truth.npz"))
        self.flags = [f"--roles={self.base}.json", *ADAMW]

    def compile(self, *flags):
        return run_tool("zeroc", self.path, *self.flags, *flags, "-o", self.work / "model.zexe")

    def train(self, *flags):
        """The report of zeroc, losses and final weights, and the gradients of the first step."""
        text = self.compile(*flags)
        files = {kind: self.work / f"{kind}.safetensors" for kind in ("weights", "gradients")}
        log = self.work / "log.jsonl"
        run_tool("zero-run", self.work / "model.zexe", f"--weights={self.base}-params.npz",
                 f"--data={self.base}-batch.npz", f"--steps={STEPS}", "--quiet", f"--log={log}",
                 f"--save={files['weights']}", f"--dump-gradients={files['gradients']}",
                 "--check-memory")
        losses = [json.loads(line)["loss"] for line in log.read_text().splitlines()]
        return Result(np.array(losses), read_safetensors(files["weights"]),
                      read_safetensors(files["gradients"]), text)

    def check(self, checks, label, result):
        truth = self.truth["losses"]
        error = np.max(np.abs(result.losses / truth - 1))
        checks.that(len(result.losses) == STEPS and error <= LIMIT,
                    f"{self.name}, {label}: losses are off those of JAX by {error:.2e}")
        expected = {name: value for name, value in self.truth.items() if name != "losses"}
        checks.that(expected.keys() == result.gradients.keys(),
                    f"{self.name}, {label}: gradients of {sorted(result.gradients)}")
        for name, value in expected.items():
            error = np.abs(result.gradients[name] - value).max() / np.abs(value).max()
            checks.that(error <= LIMIT or np.abs(value).max() < 1e-7,
                        f"{self.name}, {label}: gradient of {name} is off by {error:.2e}")


def check_own_mesh(checks, program):
    """Without flags: the mesh of the program, and its shards."""
    first = None
    for stage in range(4):
        result = program.train(f"--zero-stage={stage}")
        program.check(checks, f"stage {stage}", result)
        first = first or result
        checks.that(result.same_bits(first), f"{program.name}: bits of stage {stage} differ")
    for words in ("the mesh is the program's: data=2 (its 'batch'), tensor=2 (its 'model')",
                  "ZeRO stage 3 on 2 x 2 ranks (data x tensor)"):
        checks.that(words in result.report, f"{program.name}: no '{words}' in {result.report}")
    return first


def check_attention(checks, program):
    """Each rank has a part of the mask, which is one constant for all samples."""
    count = program.compile("--dump-after=recognise").count('"Attention"')
    checks.that(count == 2, f"{program.name}: {count} attentions, not 2")


def check_plan(checks, program, own):
    """The same plan from a file."""
    plan = program.work / "plan.yaml"
    plan.write_text("".join(f"{p}: {style}\n" for p, style in PLANS[program.name].items()))
    flags = ["--mesh=data=2,tensor=2", f"--tensor-plan={plan}"]
    checks.that(program.train(*flags).same_bits(own), f"{program.name}: a file changes bits")
    shards = [sorted(re.findall(r"zero\.parameter @\S+ : \S+ \{.*?#zero\.shard<[^>]*>",
                                program.compile("--dump-after=shard", *f))) for f in ([], flags)]
    marked = len(re.findall(r'sdy\.sharding = #sdy\.sharding<@mesh, \[[^\]]*"model"',
                            program.path.read_text()))
    checks.that(shards[0] == shards[1] and len(shards[0]) == marked,
                f"{program.name}: {marked} shardings, {shards[0]}, not {shards[1]}")


def check_other_meshes(checks, program):
    """Flags say the sizes of the axes, the program what they mean."""
    for flags in (["--ranks=1"], ["--ranks=4", "--zero-stage=3"], ["--mesh=tensor=4"],
                  ["--mesh=data=2,tensor=2", "--sequence-parallel"], ["--sequence-parallel"],
                  ["--micro-batches=2"]):
        program.check(checks, " ".join(flags), program.train(*flags))


def check_processes(checks, program, own):
    """Processes that compile the program for a mesh themselves."""
    log = program.work / "processes.jsonl"
    run_tool("zero-run", program.path, *program.flags, "--mesh=data=2,tensor=2", "--processes=2",
             f"--weights={program.base}-params.npz", f"--data={program.base}-batch.npz",
             "--steps=3", "--quiet", f"--log={log}")
    losses = [json.loads(line)["loss"] for line in log.read_text().splitlines()]
    checks.that(losses == list(own.losses[:3]), f"processes: {losses}, not {own.losses[:3]}")


def check_errors(checks, program):
    for words, *flags in (("expected a number of ranks that divides dimension", "--mesh=tensor=3"),
                          ("expected a batch that 3 ranks", "--ranks=3"),
                          ("the program's --mesh=data=2,tensor=2, which does not tile",
                           "--tile-params-over=1MB"),
                          ("a divisor of 4 ranks", "--ranks-per-node=3")):
        roles = [flag for flag in program.flags if "roles" in flag]
        check_refused(checks, flags[0], [words], "zeroc", program.path, *roles, *flags, "-o",
                      program.work / "refused.zexe")


def main():
    folder, work = map(Path, sys.argv[1:3])
    work.mkdir(parents=True, exist_ok=True)
    checks = Checks()
    for name in PLANS:
        program = Program(folder, name, work)
        own = check_own_mesh(checks, program)
        check_plan(checks, program, own)
        check_other_meshes(checks, program)
    check_attention(checks, program)
    check_processes(checks, program, own)
    check_errors(checks, program)
    checks.finish()


if __name__ == "__main__":
    main()
