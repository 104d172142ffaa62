"""A flag that has no effect with the others is an error, for each condition of each option.

usage: check_conditions.py MODEL
"""

import subprocess
import sys

FORWARD = "--forward-only, which trains nothing"
STAGE = "--zero-stage={}, which does not shard parameters"
CHOSEN = "--zero=auto, which chooses it"
UNTIMED = ("no --memory-budget, --activation-budget, --zero=auto, --offload-... or "
           "--prefetch-bytes")

# What is given, the flags that have no effect with it, and the reason.
CASES = [
    ("--forward-only", """--precision=bf16 --loss-scale=8 --micro-batches=2 --clip-norm=1
        --lr-schedule=cosine --warmup-steps=1 --total-steps=9 --min-lr-ratio=0.1 --no-decay=x
        --param-group=x:lr-scale=2 --grad-reduce=each --reduce-dtype=bf16
        --micro-batch-order=vertical --checkpoint=layer --checkpoint-slots=2
        --partition-activations=true --reshard-recomputed=true --activation-budget=1GB --zero=auto
        --offload-gradients=host --offload-optimizer=host --offload-activations=host""", FORWARD),
    ("--zero=auto --memory-budget=1GB", "--zero-stage=3 --persist-under=1KB --shard-params=all",
     CHOSEN),
    ("--zero-stage=1", "--persist-under=1KB --shard-params=all --reshard-recomputed=true",
     STAGE.format(1)),
    ("--micro-batches=1", "--micro-batch-order=vertical --grad-reduce=each", "--micro-batches=1"),
    ("--zero-stage=2 --micro-batches=2", "--grad-reduce=each",
     "--zero-stage=2, which reduces each micro-batch"),
    ("--zero-stage=3", "--reshard-recomputed=true", "no layer recomputed: expected --checkpoint"),
    ("--checkpoint-slots=2", "--checkpoint=layer", "--checkpoint-slots"),
    ("--precision=fp32", """--reduce-dtype=fp32 --loss-scale=8 --initial-loss-scale=8
        --min-loss-scale=8 --loss-scale-window=8 --loss-scale-hysteresis=8""", "--precision=fp32"),
    ("--precision=fp16 --loss-scale=8", """--initial-loss-scale=8 --min-loss-scale=8
        --loss-scale-window=8 --loss-scale-hysteresis=8""", "--loss-scale=8"),
    ("--precision=bf16 --freeze=fc1.*", "--frozen-precision=bf16",
     "--precision=bf16, which stores all parameters in 16 bits"),
    ("--ranks=2", "--frozen-precision=bf16",
     "nothing frozen: none of --freeze, --freeze-all-but, --trainable and --lora is given"),
    ("--trainable=list", "--freeze-all-but=fc1.*",
     "--trainable, which lists the trained parameters"),
    ("--mesh=data=2", "--ranks=2", "--mesh, whose axis data it is"),
    ("--device=cuda", "--threads-per-rank=2", "--device=cuda"),
    ("--device=cuda", "--target-cpu=x86-64-v3",
     "--device=cuda, unless something is offloaded to the host"),
    ("--ram-budget=1GB", "--memory-budget=1GB --host-budget=1GB",
     "--ram-budget, which limits the device and the host together"),
    ("--ranks=2", "--machine=cpu --profile=report.json", UNTIMED),
    ("--optimizer=sgd", "--betas=0.9,0.99", "--optimizer=sgd, which has --momentum, --dampening, "
     "--weight-decay and --nesterov"),
]


def main():
    model = sys.argv[1]
    for given, flags, reason in CASES:
        for flag in flags.split():
            words = [*given.split(), flag.removesuffix("=true")]
            done = subprocess.run(["zeroc", model, "--plan-only", *words], capture_output=True,
                                  text=True)
            expected = f"zeroc: error: {flag} has no effect with {reason}; see zeroc --help\n"
            if done.returncode != 1 or done.stderr != expected:
                sys.exit(f"{words}: expected {expected}got {done.stderr}{done.stdout}")


main()
