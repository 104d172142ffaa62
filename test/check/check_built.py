"""zero-check judges the executables that other tests have left in a build folder: it proves them, or
refuses what it does not handle. Each one says what its reference is compiled from: its model, inputs
and settings.

usage: check_built.py BUILD [JOBS]
"""

import collections
import hashlib
import math
import re
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np

from executables import read_executable

UNSET = {"", "false", "0", "-1"}  # values of flags that are not given
PRECISIONS = {3: "fp16", 4: "bf16"}
WIDTHS = {3: 2, 4: 2}  # bytes of elements; of others 4
# Settings of optimizers whose flags have other names.
FLAGS = {"adjust-lr-fn": "muon-scale", "d": "clip-threshold"}
ROUNDED = "eps=1.19209e-07,0.001"  # Adafactor's own, of which not all digits are printed


# Refusals that docs/design/checker.md lists, and executables that do not say all of their flags.
KNOWN = ("not handled", "no reference: ", "with other code", "is missing", "is not in the reference",
         "another type, shape or initial value", "is damaged")

# Of all others, of which some have kernels that are fused in another way than those of the reference.
MOST_UNKNOWN = 0.08
LEAST_PROVEN = 0.6  # where no reference compiles, nothing is unknown


def optimizer_flags(text):
    """The flags of what an executable calls its optimizer: 'muon(momentum=0.9) and adamw(eps=1)'."""
    flags = []
    for prefix, (name, settings) in zip(("", "other-"), re.findall(r"(\w+)\(([^)]*)\)", text)):
        words = []
        for word in settings.replace(ROUNDED, "").split():
            key, _, value = word.partition("=")
            key = key.replace("_", "-")
            key = "eps-pair" if key == "eps" and "," in value else FLAGS.get(key, key)
            words.append(f"{key}={value}" if value else key)
        flags += ([f"--other-optimizer={':'.join([name, *words])}"] if prefix else
                  [f"--optimizer={name}", *(f"--{word}" for word in words)])
    return flags


def shape_flag(tables):
    """The sizes of the inputs of a rank, of all shapes that the executable has programs for."""
    forms = {}
    for program in (tables, *tables.shapes):
        for entry in program.inputs:
            if entry.kind == 0 and list(entry.shape) not in forms.setdefault(entry.name, []):
                forms[entry.name].append(list(entry.shape))
    texts = {}
    for name, shapes in forms.items():
        sizes = [sorted(set(sizes), key=sizes.index) for sizes in zip(*shapes)]
        texts[name] = "x".join(str(size[0]) if len(size) == 1 else
                               "{" + ",".join(map(str, size)) + "}" for size in sizes)
    if tables.model.endswith(b"config.json"):
        return f"--shape={next(iter(texts.values()))}"
    return "--shape=" + ",".join(f"{name}={text}" for name, text in texts.items())


def stored_flags(tables):
    """How states and frozen parameters are stored, in which tiles parameters are, and what they begin
    with."""
    flags, states, sizes = [], {}, {True: [0], False: [0]}
    for tensor in tables.tensors:
        numbers, bits = list(tensor.blocks.numbers), tensor.blocks.bits
        if numbers and tensor.role == 1 and not tensor.of:  # those of others are scales
            steps = np.diff(numbers)
            kind = "nf4" if bits == 4 else "int8" if np.allclose(steps, steps[1]) else "fp8"
            flags = [f"--frozen-precision={kind}"]
        elif numbers and tensor.role == 3:
            states[tensor.name.rpartition(".")[2]] = f"{bits}bit"
        if tensor.role == 1:
            extent = max((tile.extent for tile in tensor.tiles), default=0)
            rows = tensor.shape[tensor.tile_axis] if tensor.tiles else 1
            sizes[bool(tensor.tiles)].append(
                WIDTHS.get(tensor.dtype, 4) * math.prod(tensor.shape) * (extent or 1) // rows)
        if tensor.name == "loss_scale":
            flags.append(f"--initial-loss-scale={tensor.init.splat!r}")
    drawn = [t.init.random.second for t in tables.tensors
             if t.role == 1 and t.init.HasField("random") and t.init.random.normal]
    if drawn and tables.model.endswith(b"config.json"):
        flags.append(f"--init=normal:{drawn[0]!r}")
    if states:
        flags.append("--state-precision=" + ",".join(f"{k}={v}" for k, v in states.items()))
    if len(sizes[True]) > 1:
        flags.append(f"--tile-params-over={max(sizes[True] + sizes[False])}")
    return flags


def reference_flags(tables):
    """The command that compiles the reference of an executable, without its output."""
    masters = [tensor.of for tensor in tables.tensors if tensor.master]
    stored = next((PRECISIONS[t.dtype] for t in tables.tensors if t.name in masters), None)
    frozen = sorted(t.name for t in tables.tensors if t.role == 1 and t.frozen and not t.of)
    flags = [tables.model.decode(), *optimizer_flags(tables.optimizer),
             "--lr=" + str(np.float32(tables.learning_rate)), shape_flag(tables),
             *stored_flags(tables),
             *(f"--{setting.name}" + ("" if setting.value == "true" else f"={setting.value}")
               for setting in tables.settings if setting.value not in UNSET)]
    if stored:
        flags.append(f"--precision={stored}")
    if frozen and not any(flag.startswith("--lora=") for flag in flags):
        flags.append("--freeze=" + ",".join(frozen))
    shared = any(s.name == "sync-batchnorm" and s.value == "true" for s in tables.settings)
    axes = [f"{axis.name}={axis.size}" for number, axis in enumerate(tables.mesh)
            if (shared or number not in tables.data_axes) and axis.size > 1]
    if axes:
        flags.append("--mesh=" + ",".join(axes))
    return tuple(flags)


def executables(build):
    """The distinct executables of tests on CPUs, with their tables."""
    found = {}
    for path in sorted(Path(build).rglob("*.zexe")):
        if "check" in path.relative_to(build).parts:  # damaged on purpose
            continue
        try:
            tables, _ = read_executable(path)
        except Exception:  # noqa: BLE001  damaged on purpose, too
            continue
        if tables.target == 0 and tables.model and Path(tables.model.decode()).exists():
            found.setdefault(hashlib.sha256(path.read_bytes()).digest(), (path, tables))
    return list(found.values())


def run(*words):
    return subprocess.run([str(word) for word in words], capture_output=True, text=True,
                          errors="replace")


def compile_references(commands, work, jobs):
    """The path of the reference of each command, and why some commands failed."""
    paths = {words: work / f"{index}.zexe" for index, words in enumerate(sorted(commands))}

    def compile_one(words):
        done = run("zeroc", *words, "-o", paths[words])
        return words, done.returncode and f"no reference: {done.stderr.strip().splitlines()[0]}"

    with ThreadPoolExecutor(jobs) as pool:
        return paths, {words: error for words, error in pool.map(compile_one, paths) if error}


def judge(path, reference, words):
    """Why zero-check refuses the executable, or an empty text."""
    in_any_order = ["--up-to-order"] if "context=" in words[-1] else []
    done = run("zero-check", reference, path, *in_any_order)
    return done.stderr.strip().splitlines()[0] if done.returncode else ""


def report(reasons):
    """Prints how many were refused for which reason, without names and numbers."""
    kinds = collections.defaultdict(list)
    for path, reason in reasons:
        kinds[re.sub(r"'[^']*'|\d+", "#", reason)[:100]].append((path, reason))
    for found in sorted(kinds.values(), key=len, reverse=True):
        path, reason = found[0]
        print(f"{len(found):5d} {reason[:300] or 'proven'}\n      such as {path}")


def main():
    build, jobs = Path(sys.argv[1]), int(sys.argv[2]) if sys.argv[2:] else 2
    begin = time.monotonic()
    judged = [(path, reference_flags(tables)) for path, tables in executables(build)]
    with tempfile.TemporaryDirectory() as work:
        paths, failed = compile_references({words for _, words in judged}, Path(work), jobs)
        with ThreadPoolExecutor(jobs) as pool:
            reasons = list(pool.map(
                lambda entry: (entry[0], failed.get(entry[1]) or judge(entry[0], paths[entry[1]], entry[1])),
                judged))
    report(reasons)
    unknown = [f"{path}: {reason}" for path, reason in reasons
               if reason and not any(word in reason for word in KNOWN)]
    proven = sum(not reason for _, reason in reasons)
    print(f"{proven} of {len(reasons)} executables are proven, {len(unknown)} refused for reasons "
          f"that are not known, in {time.monotonic() - begin:.0f} s")
    print("\n".join(unknown))
    sys.exit(proven < LEAST_PROVEN * len(reasons) or not reasons or
             len(unknown) > MOST_UNKNOWN * len(reasons))


if __name__ == "__main__":
    main()
