"""--save=DIR/ over a folder of older weights: a run that is killed at any renaming or removal leaves
the older weights, the new ones, or a folder without its configuration; the next run writes it.

usage: check_save_kills.py TRUTH WORK LIBRARY
"""

import json
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
from huggingface_cases import BATCH, CASES, data
from huggingface_folders import write_folder
from zero_test import Checks, read_safetensors, run_tool

# Bytes of a file of the older weights and of the new ones, and flags of the new ones.
WAYS = {"shards over shards": (6000, 6000, []), "fewer shards": (6000, 12000, []),
        "one file over shards": (6000, 10**9, []), "shards over one file": (10**9, 6000, []),
        "one file over one": (10**9, 10**9, []),
        "another type": (6000, 6000, ["--save-precision=bf16"])}
ADAPTER = ["--lora=q_proj", "--lora-rank=2"]


class Source:
    """A folder with weights, and programs of it: the model, and two with adapters."""

    def __init__(self, truth, folder):
        self.folder = folder
        write_folder(folder, "llama", CASES["llama"], truth["llama"]["shapes"], "f32")
        for name, values in zip(("input_ids", "labels"), data("llama"), strict=True):
            np.save(folder / f"{name}.npy", values.astype(np.int64))
        self.programs = {}

    def compile(self, *flags):
        if flags not in self.programs:
            path = self.folder.parent / f"{len(self.programs)}.zexe"
            run_tool("zeroc", self.folder, f"--shape={BATCH}", "--optimizer=sgd", *flags, "-o", path)
            self.programs[flags] = path
        return self.programs[flags]

    def run(self, program, out, *flags, library=None, fault="", counts=""):
        """Trains a step and saves; returns the exit status."""
        environment = {**os.environ, "ZERO_FAULT": fault, "ZERO_FAULT_COUNTS": str(counts)}
        if library:
            environment["LD_PRELOAD"] = str(library)
        inputs = ",".join(f"{name}={self.folder / name}.npy" for name in ("input_ids", "labels"))
        return subprocess.run(
            ["zero-run", program, f"--data={inputs}", "--steps=1", "--quiet", f"--save={out}/",
             *flags], capture_output=True, text=True, env=environment, timeout=300).returncode


def loaded(folder):
    """Returns the tensors that transformers loads and their names; None without a configuration."""
    if not (folder / "config.json").exists():
        return None
    if (folder / "model.safetensors").exists():
        return read_safetensors(folder / "model.safetensors")
    index = json.loads((folder / "model.safetensors.index.json").read_text())["weight_map"]
    files = {name: read_safetensors(folder / name) for name in set(index.values())}
    return {name: files[file][name] for name, file in index.items()}


def loaded_adapter(folder):
    if not (folder / "adapter_config.json").exists():
        return None
    scale = json.loads((folder / "adapter_config.json").read_text())["lora_alpha"]
    return {**read_safetensors(folder / "adapter_model.safetensors"), "scale": np.float32(scale)}


def same(found, expected):
    return found.keys() == expected.keys() and all(
        np.array_equal(found[name], expected[name]) for name in expected)


def check_way(checks, label, source, work, library, older, newer, load):
    """Kills a run that writes with the program and flags `newer` over what one with `older` has
    written; returns what was left."""
    begun, out, counts = work / "older", work / "out", work / "counts"
    for path in (begun, out):
        shutil.rmtree(path, ignore_errors=True)
    checks.that(source.run(older[0], begun, *older[1]) == 0, f"{label}: the older run fails")
    old = load(begun)
    shutil.copytree(begun, out)
    checks.that(source.run(newer[0], out, *newer[1], library=library, counts=counts) == 0,
                f"{label}: fails")
    new, files = load(out), sorted(path.name for path in out.iterdir())
    checks.that(not same(old, new), f"{label}: older and new weights are the same")
    calls = {kind: int(count) for kind, count in map(str.split, counts.read_text().splitlines())}
    seen = set()
    for kind in ("rename", "unlink"):
        for number in range(1, calls[kind] + 1):
            shutil.rmtree(out)
            shutil.copytree(begun, out)
            code = source.run(newer[0], out, *newer[1], library=library,
                              fault=f"{kind}:{number}:kill")
            found, at = load(out), f"{label}, {kind} {number}"
            checks.that(code == -signal.SIGKILL, f"{at}: exits with {code}")
            seen.add("none" if found is None else "old" if same(found, old) else
                     "new" if same(found, new) else f"mixed at {at}")
            if number in (1, calls[kind]):
                checks.that(source.run(newer[0], out, *newer[1]) == 0 and same(load(out), new),
                            f"{at}: the next run does not write its weights")
                again = sorted(path.name for path in out.iterdir())
                checks.that(len(again) == len(files), f"{at}: {again} instead of {files}")
    return seen


def main():
    truth, work, library = json.loads(Path(sys.argv[1]).read_text()), *map(Path, sys.argv[2:])
    shutil.rmtree(work, ignore_errors=True)
    checks, source = Checks(), Source(truth, work / "llama")
    model = source.compile()
    for label, (older, newer, flags) in WAYS.items():
        seen = check_way(checks, label, source, work, library,
                         (model, [f"--shard-bytes={older}", "--lr=0"]),
                         (model, [f"--shard-bytes={newer}", "--lr=0.5", *flags]), loaded)
        checks.that(seen == ({"old", "none"} if flags else {"old", "new"}) or
                    seen == {"old", "none", "new"} and flags, f"{label}: {seen}")
    adapters = [(source.compile(*ADAPTER, f"--lora-alpha={alpha}"), []) for alpha in (3, 4)]
    seen = check_way(checks, "an adapter", source, work, library, *adapters, loaded_adapter)
    checks.that(seen == {"old", "none"}, f"an adapter: {seen}")
    checks.finish()


if __name__ == "__main__":
    main()
