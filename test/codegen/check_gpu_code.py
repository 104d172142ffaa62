"""Compiles models for CUDA in many settings and checks the code without a GPU.

usage: check_gpu_code.py DATA WORK [--all] [--ptxas FILE] [--nvdisasm FILE]

Every combination must compile, and the runtime must accept it: a session is made on the GPU that
the environment gives. Without --all a selection that covers every pair of values is compiled. A
GPT-2 of the usual proportions is compiled too, and its launches must have enough threads. In all
code:

- arguments of launches have the alignment that their entry assumes, on all ranks;
- no thread stores bytes in a loop, as an expanded memset does;
- with --ptxas, no entry has local memory or spills registers, and with --nvdisasm the same is seen
  in the machine code.
"""

import argparse
import os
import re
import sys
from pathlib import Path

from executables import read_executable
from pairwise import combinations, pairwise
from sass import assemble, check_machine_code, functions
from zero_test import Checks, Failed, run_tool

FACTORS = {"model": ("mlp", "gpt2-tiny", "bert-tiny", "llama-tiny", "resnet-tiny", "gru-tiny"),
           "precision": ("fp32", "bf16", "fp16"),
           "optimizer": ("adamw", "lamb", "sgd", "lion", "rmsprop", "adafactor"),
           "stage": (0, 1, 2, 3), "ranks": (1, 2, 3, 4), "tier": ("device", "host", "nvme")}
FLAGS = ["--device=cuda", "--gpu-arch=sm_80", "--clip-norm=1"]
# Bytes that a kernel reads and writes for each of its threads, at most. A launch of fewer threads
# leaves most of a GPU idle.
MOST_BYTES = 2048
# A block of PTX that branches to itself.
LOOP = re.compile(r"^(\$L__BB\d+_\d+):(?:(?!^\$L__BB).)*?bra[.a-z]*\s+\1;", re.MULTILINE | re.DOTALL)
ENTRY = re.compile(r"^\.visible \.entry (\w+)\(.*?^}", re.MULTILINE | re.DOTALL)
ALIGNED = re.compile(r"\.param \.u64 \.ptr \.align (\d+) \w+_param_(\d+)")
DECLARATION = re.compile(r"^\.(?:shared|global|const)[^\n]* (\w+?)(?:\[[^\n]*)?;", re.MULTILINE)


def compile_model(model, path, *flags):
    run_tool("zeroc", model, *FLAGS, *flags, "-o", path)
    return read_executable(path)


def threads_of(entry):
    """The threads of a launch, or of one element of its length."""
    return entry.threads / entry.per_block if entry.per_block else entry.threads * entry.blocks


def check_occupancy(checks, label, program):
    """Each kernel has a launch with a thread for at most MOST_BYTES bytes. Of a kernel over a length
    that one block runs, such as a norm, only the bytes of one element are known."""
    for kernel in program.kernels:
        if not kernel.HasField("gpu"):
            continue
        threads = max(map(threads_of, kernel.gpu.entries))
        checks.that(kernel.bytes <= MOST_BYTES * threads,
                    f"{label}: {kernel.name} has {threads:g} threads for {kernel.bytes} bytes")


def check_alignment(checks, label, program, entries):
    """Arguments are aligned as the first entry of their kernel says."""
    for command in (c for segment in program.segments for c in segment.commands):
        if not command.HasField("launch"):
            continue
        launch, kernel = command.launch, program.kernels[command.launch.kernel]
        text = entries[kernel.gpu.entries[0].symbol] if kernel.HasField("gpu") else ""
        for alignment, number in ALIGNED.findall(text):
            address = launch.args[int(number)]
            checks.that(all(each % int(alignment) == 0
                            for each in [address.offset, *address.rank_strides]),
                        f"{label}: argument {number} of {kernel.name} is at {address.offset} + "
                        f"strides {list(address.rank_strides)}, not aligned to {alignment}")


class Code:
    """The distinct entries of all programs. Equal kernels have equal names."""

    def __init__(self):
        self.entries, self.declarations, self.header = {}, {}, ""

    def add(self, code):
        text = code.split(b"\0")[0].decode()
        self.header = text[:text.index(".address_size 64")] + ".address_size 64\n"
        self.entries.update((match[1], match[0]) for match in ENTRY.finditer(text))
        between = ENTRY.sub("", text)
        self.declarations.update((match[1], match[0]) for match in DECLARATION.finditer(between))

    def check_stores(self, checks):
        for name, text in self.entries.items():
            for loop in LOOP.finditer(text):
                checks.that("st.global.b8" not in loop[0], f"{name} stores bytes in a loop")

    def check_registers(self, checks, ptxas, nvdisasm, work):
        source, cubin = work / "all.ptx", work / "all.cubin"
        source.write_text(self.header + "\n".join([*self.declarations.values(),
                                                   *self.entries.values()]))
        done, text = assemble(ptxas, source, "sm_80", cubin)
        checks.that(done, text)
        report = re.findall(r"Function properties for (\w+)\s+(\d+) bytes stack frame, (\d+) bytes "
                            r"spill stores, (\d+) bytes spill loads", text)
        checks.that(len(report) == len(self.entries), f"{len(report)} of {len(self.entries)} entries")
        for name, *sizes in report:
            checks.that(not any(map(int, sizes)), f"{name}: {sizes} bytes of stack and spills")
        if nvdisasm and done:
            found = check_machine_code(checks, functions(nvdisasm, cubin), "machine code")
            checks.that(found == len(self.entries), f"{found} functions of {len(self.entries)}")


def offload_flags(tier, stage, ranks, optimizer, **_):
    """All that can be offloaded. Parameters are only sharded, and so offloaded, in stage 3. Adafactor
    reads gradients of single tensors, which have no blocks of a disk unless they are in slices."""
    kinds = ["optimizer", "gradients", "activations"] + (["params"] if stage == 3 else [])
    if optimizer == "adafactor" and tier == "nvme" and (stage < 2 or ranks == 1):
        kinds.remove("gradients")
    return [f"--offload-{kind}={tier}" for kind in kinds] if tier != "device" else []


def check_matrix(checks, data, work, code, selection):
    for combination in selection:
        label = " ".join(map(str, combination.values()))
        flags = [f"--precision={combination['precision']}", f"--optimizer={combination['optimizer']}",
                 f"--zero-stage={combination['stage']}", f"--ranks={combination['ranks']}",
                 *offload_flags(**combination)]
        executable = work / "model.zexe"
        try:
            graph = data / combination["model"]
            program, text = compile_model(graph / "model.onnx", executable, *flags)
            disk = [f"--nvme-dir={work}"] if combination["tier"] == "nvme" else []
            run_tool("zero-run", executable, f"--data={graph / 'groundtruth.npz'}", "--steps=0",
                     "--quiet", *disk)
        except Failed as failure:
            checks.that(False, f"{label}: {failure}")
            continue
        code.add(text)
        check_alignment(checks, label, program, code.entries)


def is_of_all(combination):
    """With --all other tiers are combined with everything but stages and ranks."""
    return combination["tier"] == "device" or (combination["stage"], combination["ranks"]) == (3, 2)


def check_gpt2(checks, work, code):
    """GPT-2 of two layers with its full vocabulary, whose weights take no space."""
    model = work / "gpt2.onnx"
    maker = Path(__file__).resolve().parents[1] / "support/make_gpt2.py"
    run_tool(sys.executable, maker, model, "--sparse", "--layers=2", "--width=768",
             "--vocabulary=50257", "--sequence=1024", "--batch=8")
    for precision in ("fp32", "bf16"):
        program, text = compile_model(model, work / "gpt2.zexe", f"--precision={precision}",
                                      "--zero-stage=3", "--ranks=4")
        code.add(text)
        check_occupancy(checks, f"gpt2 in {precision}", program)
        check_alignment(checks, f"gpt2 in {precision}", program, code.entries)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("data", type=Path)
    parser.add_argument("work", type=Path)
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--ptxas")
    parser.add_argument("--nvdisasm")
    args = parser.parse_args()
    args.work.mkdir(parents=True, exist_ok=True)
    os.environ["CUDA_HOME"] = "/nonexistent"  # code stays text
    checks, code = Checks(), Code()
    candidates = combinations(FACTORS)
    check_matrix(checks, args.data, args.work, code,
                 list(filter(is_of_all, candidates)) if args.all else pairwise(candidates))
    check_gpt2(checks, args.work, code)
    code.check_stores(checks)
    if args.ptxas:
        code.check_registers(checks, args.ptxas, args.nvdisasm, args.work)
    checks.finish()


if __name__ == "__main__":
    main()
