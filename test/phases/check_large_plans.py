"""Plans of a model of 175 billion parameters, made here, without its weights and in little memory.
How long they take tells bench/plans.py.

usage: check_large_plans.py WORK
"""

import resource
import subprocess
import sys
from pathlib import Path

from zero_test import Checks

MAKE = Path(__file__).parent.parent / "support" / "make_gpt2.py"
BYTES = 2 << 30
CASES = [  # flags, what the report says
    (["--zero-stage=3", "--ranks=1024"], "ZeRO stage 3 on 1024 ranks, 174604836864 parameters"),
    (["--zero-stage=3", "--ranks=1024", "--checkpoint=layer"], "96 layers"),
    (["--zero-stage=3", "--ranks=64", "--checkpoint=auto", "--memory-budget=80GiB"], "plan: stage 3"),
    (["--zero=auto", "--ranks=64", "--memory-budget=80GiB", "--machine=h100"], "plan: stage 3"),
    (["--zero=auto", "--ranks=64", "--memory-budget=60GiB", "--machine=h100"], "tiles of parameters above"),
]


def main():
    work = Path(sys.argv[1])
    work.mkdir(parents=True, exist_ok=True)
    model = work / "model.onnx"
    subprocess.run([sys.executable, MAKE, "--layers=96", "--width=12288", "--heads=96",
                    "--vocabulary=50304", "--sequence=2048", "--batch=1", "--sparse", model],
                   check=True)
    checks = Checks()
    for flags, words in CASES:
        done = subprocess.run(["zeroc", model, "--plan-only", *flags], capture_output=True,
                              text=True)
        checks.that(done.returncode == 0 and words in done.stdout + done.stderr,
                    f"{flags}: {done.stderr[-2000:]}")
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024
    print(f"at most {peak >> 20} MiB")
    checks.that(peak < BYTES, f"{peak} bytes")
    checks.finish()


if __name__ == "__main__":
    main()
