"""--save=DIR/ writes a folder with the names, types and files of the one that was trained. After no
step it has the same bytes, for all families; after some, the trained values, rounded once.

usage: check_huggingface_save.py TRUTH WORK DATA
"""

import json
import resource
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
from huggingface_cases import BATCH, CASES, COLUMNS, ROWS, STORED, data
from huggingface_folders import BESIDE, encode, read_folder, read_header, write_folder
from zero_test import Checks, check_refused, read_safetensors, run_tool, to_bf16

TYPES = {"f16": ("F16", "float16"), "bf16": ("BF16", "bfloat16")}


class Folders:
    """Makes folders of the cases and runs programs on them."""

    def __init__(self, truth, work):
        self.truth, self.work = truth, work
        shutil.rmtree(work, ignore_errors=True)

    def make(self, case, stored=None, name=None):
        folder = self.work / (name or case)
        write_folder(folder, case, CASES[case], self.truth[case]["shapes"], stored)
        for file, text in BESIDE.items():
            (folder / file).write_text(text)
        for name, values in zip(("input_ids", "labels"), data(case), strict=True):
            np.save(folder / f"{name}.npy", values.astype(np.int64))
        return folder

    @staticmethod
    def data_flag(folder):
        return f"--data=input_ids={folder}/input_ids.npy,labels={folder}/labels.npy"

    def run(self, folder, steps, *flags, shape=BATCH):
        """Trains; returns the losses."""
        log = self.work / "log.jsonl"
        run_tool("zero-run", folder, f"--shape={shape}", "--optimizer=sgd", "--lr=0.1",
                 self.data_flag(folder), f"--steps={steps}", "--quiet", f"--log={log}", *flags)
        return [json.loads(line)["loss"] for line in log.read_text().splitlines()] if steps else []


def check_beside(checks, label, source, out, dtype):
    """The configuration but for its type, and copies of the other files."""
    config = json.loads((out / "config.json").read_text())
    expected = json.loads((source / "config.json").read_text())
    expected["torch_dtype" if "torch_dtype" in expected else "dtype"] = dtype
    checks.that(config == expected, f"{label}: the configuration is {config}")
    for name, text in BESIDE.items():
        checks.that((out / name).read_text() == text, f"{label}: another {name}")


def check_trips(checks, folders):
    """No step changes no bit, and the folder that was written is one to start from."""
    plans = [(BATCH, []), (f"{ROWS // 2}x{COLUMNS}", ["--zero-stage=3", "--ranks=2"]),
             (BATCH, ["--zero-stage=3", "--offload-params=host", "--offload-optimizer=host"]),
             (BATCH, ["--zero-stage=3", "--offload-params=nvme", f"--nvme-dir={folders.work}"])]
    for number, case in enumerate(CASES):
        stored = (None, "bf16", "f16")[number % 3] if case not in STORED else STORED[case]
        source = folders.make(case, stored)
        shape, flags = plans[number % len(plans)]
        out, again = folders.work / f"{case}-out", folders.work / f"{case}-again"
        folders.run(source, 0, *flags, f"--save={out}/", shape=shape)
        label = f"{case} in {stored}, {' '.join(flags)}"
        first = read_folder(out)
        checks.that(first == read_folder(source), f"{label}: other tensors")
        _, dtype = TYPES.get(stored, ("F32", "float32"))
        check_beside(checks, label, source, out, dtype)
        header, _ = read_header(out / "model.safetensors")
        checks.that(header["__metadata__"] == {"format": "pt"}, f"{label}: the header is {header}")
        if number % 5 == 0:
            shutil.copy(source / "input_ids.npy", out)
            shutil.copy(source / "labels.npy", out)
            folders.run(out, 0, f"--save={again}/")
            checks.that(read_folder(again) == first, f"{label}: other tensors the second time")


def check_trained(checks, folders):
    """The masters, rounded once to the type of the folder or of --save-precision."""
    for stored, flag in ((None, None), ("bf16", None), ("f16", "fp32"), (None, "bf16"),
                         ("bf16", "fp16")):
        kind = {"fp32": None, "bf16": "bf16", "fp16": "f16"}[flag] if flag else stored
        source = folders.make("qwen3", stored or "f32", f"trained-{stored}-{flag}")
        out, whole = source / "out", source / "whole.safetensors"
        losses = folders.run(source, 3, f"--save={out}/", *(
            [f"--save-precision={flag}"] if flag else [f"--save={whole}"]))
        label = f"trained in {stored} and saved in {flag}"
        if not flag:
            masters = read_safetensors(whole)
            for name, (dtype, shape, content) in read_folder(out).items():
                values = masters[name] if kind != "bf16" else to_bf16(masters[name])
                checks.that((dtype, content) == encode(values, kind), f"{label}: another {name}")
        found = {dtype for dtype, _, _ in read_folder(out).values()}
        expected, dtype = TYPES.get(kind, ("F32", "float32"))
        checks.that(found == {expected}, f"{label}: types are {found}")
        check_beside(checks, label, source, out, dtype)
        for name in ("input_ids", "labels"):
            shutil.copy(source / f"{name}.npy", out)
        loss = folders.run(out, 1)[0]
        checks.that(loss < losses[2] and loss > 0.5 * losses[2], f"{label}: {losses}, then {loss}")


def check_shards(checks, folders):
    """Files of at most so many bytes, but for larger tensors, and no older ones beside them."""
    source, out = folders.make("llama"), folders.work / "shards"
    expected = read_folder(source)
    out.mkdir()
    (out / "README.md").write_text("of the user\n")
    for limit, count in ((2000, None), (None, 1), ("6kB", None), (10**9, 1)):
        folders.run(source, 0, f"--save={out}/", *([f"--shard-bytes={limit}"] if limit else []))
        label = f"shards of {limit}"
        checks.that(read_folder(out) == expected, f"{label}: other tensors")
        files = sorted(path.name for path in out.glob("model*.safetensors"))
        index = out / "model.safetensors.index.json"
        checks.that((out / "README.md").exists(), f"{label}: a file of the user is gone")
        if count == 1:
            checks.that(files == ["model.safetensors"] and not index.exists(), f"{label}: {files}")
            continue
        limit = 6000 if limit == "6kB" else limit
        names = [f"model-{i + 1:05}-of-{len(files):05}.safetensors" for i in range(len(files))]
        checks.that(files == names and len(files) > 2, f"{label}: {files}")
        for file in files:
            header, body = read_header(out / file)
            checks.that(len(body) <= limit or len(header) == 2, f"{label}: {file} of {len(body)}")
        content = json.loads(index.read_text())
        sizes = [len(values) for _, _, values in expected.values()]
        checks.that(content["metadata"] == {"total_parameters": sum(sizes) // 4,
                                            "total_size": sum(sizes)}, f"{label}: {content}")
        checks.that(list(content["weight_map"]) == sorted(expected), f"{label}: {content}")


def check_names(checks, folders):
    """Files of the module inside, as the released GPT-2 has them, and values that no file has."""
    source = folders.make("gpt2", name="stemless")
    header, body = read_header(source / "model.safetensors")
    text = json.dumps({name.removeprefix("transformer."): entry
                       for name, entry in header.items()}).encode()
    (source / "model.safetensors").write_bytes(len(text).to_bytes(8, "little") + text + body)
    folders.run(source, 0, f"--save={source}/out/")
    expected = read_folder(source)
    checks.that(read_folder(source / "out") == expected and "wte.weight" in expected,
                "without the stem: other tensors")
    for keys, kind in (({"dtype": "bfloat16"}, "BF16"), ({"torch_dtype": "float16"}, "F16"),
                       ({}, "F32")):
        drawn = folders.make("mistral", name=f"drawn-{kind}")
        (drawn / "model.safetensors").unlink()
        (drawn / "config.json").write_text(json.dumps(CASES["mistral"] | keys))
        folders.run(drawn, 0, "--init=normal:0.02", f"--save={drawn}/out/")
        tensors = read_folder(drawn / "out")
        shapes = {name: shape for name, (_, shape, _) in tensors.items()}
        checks.that(shapes == folders.truth["mistral"]["shapes"], f"drawn in {kind}: {shapes}")
        checks.that({dtype for dtype, _, _ in tensors.values()} == {kind}, f"drawn in {kind}")


def check_failures(checks, folders, data):
    """Errors come before the first step and leave what was there."""
    source = folders.make("llama", name="refused")
    run = ["zero-run", source, f"--shape={BATCH}", folders.data_flag(source), "--quiet"]
    out = folders.work / "kept"
    folders.run(source, 0, f"--save={out}/")
    before = {path.name: path.read_bytes() for path in out.iterdir()}
    for label, words, *flags in [
            ("over the model", ["refused/", "an input of this run"], f"--save={source}/"),
            ("over its own start", ["kept/model.safetensors", "reads"], f"--save={out}/",
             f"--weights={out}/model.safetensors"),
            ("a graph", ["not made from a .onnx file"], f"--save={out}/model.onnx"),
            ("no size", ["--shard-bytes", "got '0'"], f"--save={out}/", "--shard-bytes=0"),
            ("no folder", ["--shard-bytes has no effect", "--save=DIR/"],
             f"--save={out}.safetensors", "--shard-bytes=6kB"),
            ("no type", ["--save-precision", "fp32", "fp16"], f"--save={out}/",
             "--save-precision=int8"),
            ("nothing to merge", ["--merge-lora", "--lora"], f"--save={out}/", "--merge-lora")]:
        check_refused(checks, label, words, *run, *flags)
    adapter = folders.work / "adapter"
    adapter.mkdir()
    (adapter / "adapter_config.json").write_text("{}")
    check_refused(checks, "beside an adapter", ["adapter_config.json"], *run, f"--save={adapter}/")
    mlp = data / "mlp"
    check_refused(checks, "of a graph", ["config.json", "--lora"], "zero-run", mlp / "model.onnx",
                  f"--data={mlp}/groundtruth.npz", f"--save={out}/")
    # No file may be larger than the executable, whose code is one in memory.
    executable = folders.work / "large.zexe"
    (source / "config.json").write_text(json.dumps(CASES["llama"] | {"vocab_size": 50000}))
    run_tool("zeroc", source, f"--shape={BATCH}", "--init=normal:0.02", "-o", executable)
    limit = executable.stat().st_size
    assert limit < 50000 * 16 * 4
    done = subprocess.run(["zero-run", executable, folders.data_flag(source), "--steps=1",
                           f"--save={out}/"], capture_output=True, text=True, restore_signals=False,
                          preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE,
                                                                (limit, limit)))
    checks.that(done.returncode == 1 and "cannot write" in done.stderr, f"full: {done.stderr}")
    after = {path.name: path.read_bytes() for path in out.iterdir()}
    checks.that(before == after, f"a failed run left {sorted(after)}, not {sorted(before)}")
    (source / "config.json").write_text("[]")
    check_refused(checks, "no configuration", ["is it the configuration that was compiled"],
                  "zero-run", executable, folders.data_flag(source), f"--save={out}/")


def main():
    folders = Folders(json.loads(Path(sys.argv[1]).read_text()), Path(sys.argv[2]))
    checks = Checks()
    check_trips(checks, folders)
    check_trained(checks, folders)
    check_shards(checks, folders)
    check_names(checks, folders)
    check_failures(checks, folders, Path(sys.argv[3]))
    checks.finish()


if __name__ == "__main__":
    main()
