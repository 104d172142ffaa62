"""Rows of an odd number of classes are read and written 16 bytes at a time on a GPU, with the numbers of
the CPU.

usage: check_odd_rows.py WORK
"""

import re
import sys
from pathlib import Path

import numpy as np
from executables import read_executable
from zero_test import Checks, run_tool

VOCABULARY, SHAPE = 1021, (8, 32)


def losses(work, model, name, *flags):
    executable = work / f"{name}.zexe"
    run_tool("zeroc", model, "--init=normal:0.02", "--optimizer=sgd", "--lr=1", *flags, "-o", executable)
    text = run_tool("zero-run", executable, f"--data=input_ids={work / 't.npy'},labels={work / 't.npy'}",
                    "--steps=3")
    return np.array(re.findall(r"^step \d+: loss ([0-9.]+)", text, re.M), float)


def main():
    work, checks = Path(sys.argv[1]), Checks()
    work.mkdir(parents=True, exist_ok=True)
    model = work / "gpt.onnx"
    run_tool("zero-translate", f"--make-gpt=layers=1,width=32,heads=2,vocabulary={VOCABULARY},"
             f"sequence={SHAPE[1]},batch={SHAPE[0]}", "-o", model)
    np.save(work / "t.npy", np.random.default_rng(0).integers(0, VOCABULARY, SHAPE))
    for precision in ("fp32", "bf16"):
        cpu, gpu = (losses(work, model, name, f"--precision={precision}", *flags)
                    for name, flags in (("cpu", []), ("gpu", ["--device=cuda"])))
        within = 1e-6 if precision == "fp32" else 1e-4
        checks.that(np.allclose(cpu, gpu, rtol=within), f"{precision}: {cpu}, {gpu}")
        program, code = read_executable(work / "gpu.zexe")
        (kernel,) = [each for each in program.kernels if each.name.endswith("crossentropygrad")]
        elements = 16 // (4 if precision == "fp32" else 2)
        threads = [entry.blocks * entry.threads for entry in kernel.gpu.entries]
        checks.that(max(threads) < 1.1 * np.prod(SHAPE) * VOCABULARY / elements, f"{precision}: {threads}")
        text = code.decode(errors="replace")
        entry = re.search(rf"\.entry {kernel.gpu.entries[-1].symbol}\(.*?^}}", text, re.M | re.S)[0]
        for access in ("ld.global.v4.b32", "st.global.v4.b32"):
            checks.that(access in entry, f"{precision}: no {access}")
    checks.finish()


if __name__ == "__main__":
    main()
