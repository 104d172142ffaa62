"""zero-check judges the executables that other tests have left in a build folder: it proves them, or
refuses what it does not handle. Each one says what its reference is compiled from: its model, inputs
and settings.

usage: check_built.py BUILD [JOBS]
"""

import collections
import hashlib
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
# Settings of optimizers whose flags have other names.
FLAGS = {"adjust-lr-fn": "muon-scale", "d": "clip-threshold"}
ROUNDED = "eps=1.19209e-07,0.001"  # Adafactor's own, of which not all digits are printed


# Refusals that docs/design/checker.md lists, and executables that do not say all of their flags.
KNOWN = ("not handled", "no reference: ", "with other code", "is missing", "is not in the reference",
         "another type, shape or initial value", "is damaged")

# Of all others, of which some have kernels that are fused in another way than those of the reference.
MOST_UNKNOWN = 0.08


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


def reference_flags(tables):
    """The command that compiles the reference of an executable, without its output."""
    shapes = {entry.name: "x".join(map(str, entry.shape)) for entry in tables.inputs
              if entry.kind == 0}
    masters = [tensor.of for tensor in tables.tensors if tensor.master]
    stored = next((PRECISIONS[t.dtype] for t in tables.tensors if t.name in masters), None)
    frozen = sorted(t.name for t in tables.tensors if t.role == 1 and t.frozen)
    flags = [tables.model.decode(), *optimizer_flags(tables.optimizer),
             "--lr=" + str(np.float32(tables.learning_rate)),
             "--shape=" + ",".join(f"{name}={shape}" for name, shape in shapes.items()),
             *(f"--{setting.name}" + ("" if setting.value == "true" else f"={setting.value}")
               for setting in tables.settings if setting.value not in UNSET)]
    if stored:
        flags.append(f"--precision={stored}")
    if frozen and not any(flag.startswith("--lora=") for flag in flags):
        flags.append("--freeze=" + ",".join(frozen))
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


def judge(path, reference):
    """Why zero-check refuses the executable, or an empty text."""
    done = run("zero-check", reference, path)
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
                lambda entry: (entry[0], failed.get(entry[1]) or judge(entry[0], paths[entry[1]])),
                judged))
    report(reasons)
    unknown = [f"{path}: {reason}" for path, reason in reasons
               if reason and not any(word in reason for word in KNOWN)]
    proven = sum(not reason for _, reason in reasons)
    print(f"{proven} of {len(reasons)} executables are proven, {len(unknown)} refused for reasons "
          f"that are not known, in {time.monotonic() - begin:.0f} s")
    print("\n".join(unknown))
    sys.exit(proven == 0 or len(unknown) > MOST_UNKNOWN * len(reasons))


if __name__ == "__main__":
    main()
