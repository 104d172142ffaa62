"""zero-check proves what zeroc compiles, over models, stages, micro-batches, recomputation, buckets
and tiers, and refuses what differs from its reference or what it does not handle, with a reason.

usage: check_matrix.py DATA WORK
"""

import json
import math
import re
import subprocess
import sys
from pathlib import Path

from executables import read_executable, write_executable
from zero_test import Checks, run_tool

# Model, flags of both, flags of the program.
PROVEN = [
    ("mlp", "adamw", "--ranks=2"),
    ("mlp", "adamw", "--ranks=4 --zero-stage=1 --bucket-bytes=1"),
    ("mlp", "sgd", "--ranks=3 --zero-stage=2 --bucket-bytes=20KB --micro-batches=3"),
    ("mlp", "lion", "--ranks=5 --zero-stage=3 --bucket-bytes=1000"),
    ("mlp", "adamw", "--ranks=2 --zero-stage=3 --persist-under=1000 --offload-params=nvme"),
    ("mlp", "adamw", "--micro-batches=2"),
    ("gpt2-tiny", "adamw", "--checkpoint=layer --recompute=none"),
    ("gpt2-tiny", "adamw", "--ranks=2 --zero-stage=1 --micro-batches=2 --grad-reduce=each"),
    ("gpt2-tiny", "adamw", "--ranks=2 --zero-stage=1 --micro-batches=2 --grad-reduce=last"),
    ("gpt2-tiny", "adamw --weight-decay=0.1 --no-decay=*bias",
     "--ranks=2 --zero-stage=3 --checkpoint=sqrt"),
    ("gpt2-tiny", "adamw", "--ranks=3 --zero-stage=3 --micro-batches=3 "
                           "--micro-batch-order=vertical"),
    ("gpt2-tiny", "adamw", "--ranks=2 --zero-stage=2 --offload-optimizer=nvme "
                           "--offload-gradients=host"),
    ("gpt2-tiny", "adamw", "--zero-stage=0 --offload-optimizer=host --offload-activations=nvme"),
    ("gpt2-tiny", "adamw", "--ranks=4 --zero-stage=3 --ranks-per-node=2 --shard-params=node"),
    ("gpt2-tiny", "adamw --loss-mean=local", "--ranks=2 --zero-stage=2 --micro-batches=2"),
    ("llama-tiny", "adamw", "--ranks=2 --zero-stage=3 --checkpoint=layer --reshard-recomputed "
                            "--prefetch-bytes=100KB"),
    ("bert-tiny", "sgd --momentum=0.9", "--ranks=2 --zero-stage=2 --micro-batches=2"),
    ("lstm-tiny", "adamw", "--ranks=2 --zero-stage=3"),
    ("resnet-tiny", "adamw", "--checkpoint=layer --offload-optimizer=host"),
    ("mixtral", "adamw --init=normal:0.02 --shape=2x16",
     "--ranks=2 --zero-stage=3 --checkpoint=layer"),
    ("mixtral", "adamw --init=normal:0.02 --shape=2x16",
     "--ranks=4 --zero-stage=2 --micro-batches=2"),
    ("mlp", "adamw", "--mesh=data=3,tensor=2 --zero-stage=2 --micro-batches=2"),
    ("gpt2-tiny", "adamw", "--mesh=data=2,tensor=2 --zero-stage=3 --checkpoint=layer "
                           "--micro-batches=2 --offload-params=nvme"),
    ("llama-tiny", "adamw --clip-norm=1", "--mesh=data=2,tensor=2 --zero-stage=3"),
    ("gpt2-tiny", "muon", "--mesh=data=2,tensor=4 --zero-stage=2"),
    ("llama-tiny", "adamw", "--mesh=context=2 --zero-stage=3 --checkpoint=layer"),
    ("gpt2-tiny", "adamw --tile-params-over=20KB", "--ranks=2 --zero-stage=3 --micro-batches=2"),
    ("llama-tiny", "adamw --tile-params-over=20KB --clip-norm=1", "--ranks=3 --zero-stage=2"),
    ("mlp", "adamw --state-precision=8bit", "--ranks=2 --zero-stage=3 --offload-optimizer=host"),
    ("gpt2-tiny", "adamw --state-precision=4bit", "--ranks=4 --zero-stage=1"),
    ("llama-tiny", "adamw --lora=*_proj --frozen-precision=nf4", "--ranks=2 --zero-stage=3"),
    ("jax-guide", "adamw", "--ranks=4 --zero-stage=1 --micro-batches=2"),
    ("jax-guide", "sgd --clip-norm=1", "--ranks=2 --zero-stage=3"),
]

MIXTRAL = {"architectures": ["MixtralForCausalLM"], "model_type": "mixtral", "hidden_size": 64,
           "intermediate_size": 128, "num_hidden_layers": 2, "num_attention_heads": 4,
           "num_key_value_heads": 2, "vocab_size": 256, "max_position_embeddings": 128,
           "rms_norm_eps": 1e-5, "rope_theta": 10000.0, "hidden_act": "silu",
           "tie_word_embeddings": False, "num_local_experts": 4, "num_experts_per_tok": 2,
           "router_aux_loss_coef": 0.02, "output_router_logits": False, "sliding_window": None}

# Programs whose references have the same ranks: batch statistics of all ranks, and meshes of JAX.
ALIKE = [
    (["resnet-tiny/model.onnx", "--sync-batchnorm", "--ranks=2"], "--zero-stage=3", "data"),
    (["jax-tensor-parallel/gpt.mlir", "--roles={}/jax-tensor-parallel/gpt.json"],
     "--zero-stage=3", "tensor"),
    (["gpt2-tiny/model.onnx", "--mesh=data=2,tensor=2"], "--zero-stage=2 --checkpoint=layer",
     "tensor"),
]

# Sums along context and data are one in the program, and one of the other in what is expected.
IN_ANY_ORDER = [
    ("gpt2-tiny", "adamw", "--mesh=data=2,context=2,tensor=2 --zero-stage=3 --micro-batches=2"),
    ("llama-tiny", "adamw --clip-norm=1", "--mesh=data=3,context=2 --zero-stage=2"),
]

# As above, with a reference of one rank, and what the reason has to say.
REFUSED = [
    ("mlp", "adamw", "--ranks=2 --zero-stage=3 --tile-params-over=100KB",
     "state 'fc1.weight' of the reference is missing"),
    ("gpt2-tiny", "adamw --precision=bf16", "--ranks=2 --micro-batches=2",
     "gradients of 16 bits in several micro-batches are not handled"),
    ("gpt2-tiny", "adamw", "--mesh=data=2,tensor=2", "expected a reference with 2 ranks along"),
    ("gpt2-tiny", "adamw", "--mesh=data=2,context=2", "with 2 ranks along 'context'"),
    ("mlp", "adamw", "--ranks=2 --lr=2e-3", "another learning rate"),
    ("mlp", "adamw", "--ranks=2 --weight-decay=0.1", "got bytes 0 to 401408 of argument 0 of update "
                                                     "with other code"),
    ("mlp", "adamw", "--ranks=2 --betas=0.8,0.99", "of update with other code"),
    ("gpt2-tiny", "adamw", "--init=normal:0.5", "another type, shape or initial value"),
    ("gpt2-tiny", "adamw", "--freeze=*wte*", "is missing"),
]


def judge(reference, program, *flags):
    return subprocess.run(["zero-check", reference, program, *flags], capture_output=True,
                          text=True)


def source_of(data, work, model):
    """The words that name a model: a graph of the data, a program of JAX, or a configuration."""
    if model == "mixtral":
        folder = Path(work) / model
        folder.mkdir(exist_ok=True)
        (folder / "config.json").write_text(json.dumps(MIXTRAL))
        return [folder]
    if model.startswith("jax-"):
        return [Path(data) / model / "loss.mlir", f"--roles={Path(data) / model / 'loss.json'}"]
    return [Path(data) / model / "model.onnx"]


def emptied(work):
    """The folder without the executables of earlier runs."""
    Path(work).mkdir(parents=True, exist_ok=True)
    for old in Path(work).glob("*.zexe"):
        old.unlink()
    return work


def compiled(data, work, model, optimizer, flags=""):
    """The executable with these flags, compiled once."""
    words = f"--optimizer={optimizer} {flags}".split()
    path = Path(work) / ("_".join([model, *words]).replace("*", "+").replace("/", "+") + ".zexe")
    if not path.exists():
        run_tool("zeroc", *source_of(data, work, model), *words, "-o", path)
    return path


def shared_axes(flags):
    """The flag of a reference for the axes of a program over which the batch is not cut."""
    axes = re.findall(r"(?:context|tensor)=\d+", flags)
    return "--mesh=" + ",".join(axes) if axes else ""


def check_proven(checks, data, work):
    for model, optimizer, flags in PROVEN:
        reference = compiled(data, work, model, optimizer, shared_axes(flags))
        program = compiled(data, work, model, optimizer, flags)
        done = judge(reference, program)
        label = f"{model} {optimizer} {flags}"
        checks.that(done.returncode == 0 and done.stdout.startswith("proven: "),
                    f"{label}: {done.stderr[:600]}")
        tables, _ = read_executable(program)
        checks.that(f"on {tables.ranks} rank" in done.stdout and
                    f"{tables.micro_batches} micro-batch" in done.stdout, f"{label}: {done.stdout}")
        ranks = math.prod(tables.mesh[axis].size for axis in tables.data_axes)
        several = ranks * tables.micro_batches > 1
        checks.that(("gradients are linear" in done.stdout) == several, f"{label}: {done.stdout}")


def check_refused(checks, data, work):
    for model, optimizer, flags, reason in REFUSED:
        done = judge(compiled(data, work, model, optimizer),
                     compiled(data, work, model, optimizer, flags))
        checks.that(done.returncode == 1 and "not proven: " in done.stderr and
                    reason in done.stderr and not done.stdout,
                    f"{model} {optimizer} {flags}: {done.returncode} {done.stderr[:600]}")


def check_usage(checks, data, work):
    reference = compiled(data, work, "mlp", "adamw")
    program = compiled(data, work, "mlp", "adamw", "--ranks=2")
    done = judge(program, reference)
    checks.that("expected a reference of one rank" in done.stderr, f"reference: {done.stderr}")
    done = judge(reference, __file__)
    checks.that(done.returncode == 1 and "not a Zero executable" in done.stderr, done.stderr)
    done = judge(reference, Path(work) / "missing")
    checks.that(done.returncode == 1 and "cannot be opened" in done.stderr, done.stderr)
    (Path(work) / "damaged.zexe").write_bytes(program.read_bytes()[:-1])
    done = judge(reference, Path(work) / "damaged.zexe")
    checks.that(done.returncode == 1 and "damaged" in done.stderr, done.stderr)
    done = judge(reference, program, "--unknown")
    checks.that(done.returncode == 2 and "usage" in done.stderr, done.stderr)


def check_order(checks, data, work):
    """Micro-batches in another order are proven up to the order of sums, and not otherwise."""
    reference = compiled(data, work, "gpt2-tiny", "adamw")
    program = compiled(data, work, "gpt2-tiny", "adamw",
                       "--ranks=2 --zero-stage=2 --micro-batches=3 --micro-batch-order=vertical")
    tables, _ = read_executable(program)
    for entry in tables.inputs:
        if entry.kind == 0:
            entry.micro_batch = 2 - entry.micro_batch
    swapped = Path(work) / "swapped.zexe"
    write_executable(swapped, program, tables)
    checks.that(judge(reference, program).returncode == 0, "vertical order: not proven")
    done = judge(reference, swapped)
    checks.that(done.returncode == 1 and "not proven: " in done.stderr, f"swapped: {done}")
    done = judge(reference, swapped, "--up-to-order")
    checks.that(done.returncode == 0 and "sums in any order" in done.stdout, f"swapped: {done}")


def check_axes(checks, data, work):
    """Programs are divided as their references are, and the proof says so."""
    for model, optimizer, flags in IN_ANY_ORDER:
        reference = compiled(data, work, model, optimizer, shared_axes(flags))
        program = compiled(data, work, model, optimizer, flags)
        done = judge(reference, program, "--up-to-order")
        checks.that(done.returncode == 0 and "ranks along 'context' divide" in done.stdout,
                    f"{model} {flags}: {done}")
        checks.that(("ranks along 'tensor' divide" in done.stdout) == ("tensor" in flags),
                    f"{model} {flags}: {done.stdout}")
        done = judge(reference, program)
        checks.that(done.returncode == 1 and "not proven: " in done.stderr, f"{flags}: {done}")
    for words, flags, axis in ALIKE:
        paths = [Path(work) / f"alike-{axis}{name}.zexe" for name in ("", "-program")]
        for path, more in zip(paths, ("--zero-stage=0", flags)):
            run_tool("zeroc", Path(data) / words[0], *(word.format(data) for word in words[1:]),
                     "--optimizer=adamw", *more.split(), "-o", path)
        done = judge(*paths)
        checks.that(done.returncode == 0 and f"ranks along '{axis}' divide" in done.stdout,
                    f"{words} {flags}: {done}")
        tables, _ = read_executable(paths[1])
        number = next(i for i, entry in enumerate(tables.mesh) if entry.name == axis)
        next(c.collective for c in tables.segments[0].commands if c.collective.kind in (1, 2) and
             number in (c.collective.axes or range(len(tables.mesh)))).mean ^= True
        write_executable(paths[1], paths[1], tables)
        done = judge(*paths)
        checks.that(done.returncode == 1, f"{words} {flags}, mean: {done.stdout}")
    flags = "--mesh=data=2,tensor=2"
    done = judge(compiled(data, work, "gpt2-tiny", "adamw", "--mesh=tensor=4"),
                 compiled(data, work, "gpt2-tiny", "adamw", flags))
    checks.that("expected a reference with 2 ranks along" in done.stderr, f"{flags}: {done}")
    done = judge(compiled(data, work, "gpt2-tiny", "adamw", "--mesh=tensor=2"),
                 compiled(data, work, "gpt2-tiny", "adamw", "--ranks=2"))
    checks.that("expected a reference of one rank" in done.stderr, f"one rank: {done}")


def check_races(checks, data, work):
    """A wait that is missing is an error that names both commands, the rank and the bytes."""
    reference = compiled(data, work, "mlp", "adamw")
    program = compiled(data, work, "mlp", "adamw", "--ranks=2 --zero-stage=3")
    tables, _ = read_executable(program)
    waiting = next(c for c in tables.segments[0].commands if c.waits)
    del waiting.waits[:]
    path = Path(work) / "race.zexe"
    write_executable(path, program, tables)
    done = judge(reference, path)
    checks.that(done.returncode == 1 and "run beside each other" in done.stderr and
                done.stderr.count("command ") == 2 and "bytes " in done.stderr, f"race: {done}")


def main():
    data, work = sys.argv[1], emptied(sys.argv[2])
    checks = Checks()
    for check in (check_proven, check_refused, check_usage, check_order, check_axes, check_races):
        check(checks, data, work)
    checks.finish()


if __name__ == "__main__":
    main()
