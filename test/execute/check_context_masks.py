"""Masks along `context`: windows, documents, padding; held-out data; gathers beside attention.

usage: check_context_masks.py DATA WORK

Losses are those of one rank, with windows that are shorter and longer than the chunks of a rank, on
one side and on both, in some layers or all, with documents in rows and with padding in front of
them, and so are losses of held-out data. On one mesh no bit changes. With --prefetch-bytes, kernels
wait less.
"""

import json
import re
import sys
from pathlib import Path

import numpy as np
from huggingface_cases import CASES
from onnx import TensorProto, helper, numpy_helper, save

from zero_test import Checks, Graph, run_tool

STEPS, LIMIT = 3, 1e-5
ROWS, COLUMNS = 2, 32
# Meshes with a global batch of two times that of a rank.
MESHES = (("--mesh=data=1", "--micro-batches=2"), ("--mesh=data=2,context=2",),
          ("--mesh=context=4", "--micro-batches=2"))
DOCUMENTS = [[5, 20, 7], [32], [1, 1, 11, 19], [16, 16]]
# Cases of configurations, what they change, and whether rows have documents.
FOLDERS = [("llama", {}, True), ("mistral", {}, False), ("mistral", {"sliding_window": 13}, True),
           ("mistral", {"sliding_window": 27}, False), ("qwen2", {}, False), ("gemma3", {}, True)]
# Windows: keys behind a query, and keys in front of it, which it sees.
WINDOWS = [(1, 1), (5, 5), (2, 9), (20, 2), (3, COLUMNS)]
# Prefixes in one chunk and in several, at their borders, up to that of the last key; and windows.
PREFIXES = [(3, COLUMNS), (13, COLUMNS), (29, COLUMNS), (18, 9)]


def losses_of(path, data, log, *flags):
    run_tool("zero-run", path, f"--data={data}", f"--steps={STEPS}", f"--log={log}", *flags)
    lines = map(json.loads, log.read_text().splitlines())
    return np.array([line["loss"] for line in lines if "loss" in line])


def check_equal(checks, label, found):
    """Compares what meshes found with what the first found."""
    errors = [np.max(np.abs(losses - found[0]) / np.abs(found[0])) for losses in found]
    checks.that(max(errors) <= LIMIT, f"{label}: losses off by {errors} on meshes")


def check_meshes(checks, label, work, model, data, *flags, volume=None):
    """Compares losses on meshes. A step takes all samples.

    volume: the elements that ranks along context exchange for a micro-batch.
    """
    path, found = work / "m.zexe", []
    for mesh in MESHES:
        text = run_tool("zeroc", model, *mesh, "--optimizer=adamw", "--lr=1e-3", "-v", "-o", path,
                        *flags)
        checks.that("reads the mask" not in text, f"{label}: a mask is data:\n{text}")
        if volume and "context" in mesh[0]:
            exchanged = int(re.search(r"along context, .* of (\d+):", text)[1])
            times = 2 if "--micro-batches=2" in mesh else 1
            checks.that(exchanged == times * volume, f"{label} on {mesh}: {exchanged}")
        found.append(losses_of(path, data, work / "log.jsonl"))
    check_equal(checks, label, found)


def width_of_keys(config):
    width = config.get("head_dim", config["hidden_size"] // config["num_attention_heads"])
    return config["num_key_value_heads"] * width


def check_folders(checks, work):
    rng = np.random.default_rng(2)
    for case, changes, has_documents in FOLDERS:
        config = {**CASES[case], **changes}
        (work / "config.json").write_text(json.dumps(config))
        ids = rng.integers(4, config["vocab_size"], (len(DOCUMENTS), COLUMNS))
        arrays = {"input_ids": ids, "labels": np.where(rng.random(ids.shape) < 0.8, ids, -100)}
        if has_documents:
            arrays["position_ids"] = np.array(
                [np.concatenate([np.arange(length) for length in row]) for row in DOCUMENTS])
        np.savez(work / "d.npz", **arrays)
        flags = ["--documents"] if has_documents else []
        check_meshes(checks, f"{case} {changes} {flags}", work, work / "config.json",
                     work / "d.npz", f"--shape={ROWS}x{COLUMNS}", "--init=normal:0.2", *flags,
                     volume=6 * ids.size // 2 * width_of_keys(config) * config["num_hidden_layers"])


def check_bits(checks, work):
    """On one mesh neither stages, recomputation and overlap nor processes change a bit."""
    config = {**CASES["mistral"], "sliding_window": 13}
    (work / "config.json").write_text(json.dumps(config))
    ids = np.random.default_rng(4).integers(4, config["vocab_size"], (ROWS, COLUMNS))
    positions = [np.concatenate([np.arange(length) for length in row]) for row in DOCUMENTS[::2]]
    np.savez(work / "d.npz", input_ids=ids, labels=ids, position_ids=np.array(positions))
    path, saved, found = work / "m.zexe", work / "m.safetensors", []
    for flags, options in (([], []), (["--zero-stage=3", "--checkpoint=layer"], ["--processes=4"]),
                           (["--zero-stage=2", "--prefetch-bytes=16MiB"], [])):
        run_tool("zeroc", work / "config.json", f"--shape={ROWS}x{COLUMNS}", "--documents",
                 "--init=normal:0.2", "--optimizer=adamw", "--mesh=context=4", "-o", path, *flags)
        run_tool("zero-run", path, f"--data={work}/d.npz", f"--steps={STEPS}", f"--save={saved}",
                 *options)
        found.append(saved.read_bytes())
        checks.that(found[-1] == found[0], f"{flags} {options}: other bits")


def write_masked(path, near):
    """A model in which queries see the keys that `near`, a matrix, shows."""
    random = np.random.default_rng(0)
    weights = {"model.table": (32, 16), "model.keys": (16, 8), "model.values": (16, 8),
               "model.classes": (16, 32)}
    nodes = [helper.make_node("Gather", ["model.table", "ids"], ["x"]),
             helper.make_node("MatMul", ["x", "model.keys"], ["k"]),
             helper.make_node("MatMul", ["x", "model.values"], ["v"]),
             helper.make_node("Attention", ["x", "k", "v", "near"], ["a"], q_num_heads=4,
                              kv_num_heads=2),
             helper.make_node("Add", ["x", "a"], ["y"]),
             helper.make_node("MatMul", ["y", "model.classes"], ["scores"]),
             helper.make_node("Transpose", ["scores"], ["by_class"], perm=[0, 2, 1]),
             helper.make_node("SoftmaxCrossEntropyLoss", ["by_class", "labels"], ["loss"])]
    graph = helper.make_graph(
        nodes, "windowed",
        [helper.make_tensor_value_info(name, TensorProto.INT64, [ROWS, COLUMNS])
         for name in ("ids", "labels")],
        [helper.make_tensor_value_info("loss", TensorProto.FLOAT, [])],
        [numpy_helper.from_array(near, "near"),
         *(numpy_helper.from_array(random.normal(0, 0.5, shape).astype(np.float32), name)
           for name, shape in weights.items())])
    save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 23)]), path)


def check_windows(checks, work):
    """Windows, and prefixes of keys that all queries see, without and with a window."""
    ids = np.random.default_rng(1).integers(0, 32, (2 * ROWS, COLUMNS))
    np.savez(work / "d.npz", ids=ids, labels=np.roll(ids, 3, 1))
    distance = np.arange(COLUMNS)[:, None] - np.arange(COLUMNS)
    cases = {f"{before} keys before and {after} after": (distance <= before) & (-distance <= after)
             for before, after in WINDOWS}
    for prefix, window in PREFIXES:
        seen = (distance >= 0) | (np.arange(COLUMNS) < prefix)
        cases[f"a prefix of {prefix} in a window of {window}"] = seen & (distance < window)
    for label, near in cases.items():
        write_masked(work / "m.onnx", near)
        check_meshes(checks, label, work, work / "m.onnx", work / "d.npz")


def check_padding(checks, graph):
    """Padding in front: its rows see no key. What the last one predicts is ignored."""
    shown = np.arange(graph.inputs["labels"].shape[1]) >= 3 + 2 * np.arange(4)[:, None]
    np.savez(graph.work / "d.npz", input_ids=graph.inputs["input_ids"],
             attention_mask=shown.astype(np.int64),
             labels=np.where(np.roll(shown, 1, 1) & shown, graph.inputs["labels"], -100))
    path, found = graph.work / "m.zexe", []
    for mesh in ("data=1", "context=2", "context=4"):
        run_tool("zeroc", graph.folder / "model.onnx", f"--mesh={mesh}", "--optimizer=adamw",
                 "-o", path)
        found.append(losses_of(path, graph.work / "d.npz", graph.work / "log.jsonl"))
    check_equal(checks, "padding", found)


def check_held_out(checks, graph):
    path, log, found = graph.work / "m.zexe", graph.work / "log.jsonl", []
    held_out = graph.data_flag.replace("--data=", "--eval-data=")
    for mesh in ("data=1", "context=2", "context=4"):
        run_tool("zeroc", graph.folder / "model.onnx", f"--mesh={mesh}", "--optimizer=adamw",
                 "-o", path)
        losses_of(path, graph.data_flag.removeprefix("--data="), log, held_out, "--eval-every=1")
        lines = map(json.loads, log.read_text().splitlines())
        found.append(np.array([line["eval_loss"] for line in lines if "eval_loss" in line]))
        checks.that(len(found[-1]) == STEPS, f"{len(found[-1])} evaluations on {mesh}")
    check_equal(checks, "held-out data", found)


def check_overlap(checks, work):
    """Gathers of keys run beside the attention in front of them."""
    config = {**CASES["llama"], "hidden_size": 256, "num_key_value_heads": 4,
              "intermediate_size": 512, "max_position_embeddings": 8192}
    (work / "config.json").write_text(json.dumps(config))
    path, stalled = work / "m.zexe", []
    for prefetch in ("0", "16MiB"):
        run_tool("zeroc", work / "config.json", "--shape=1x8192", "--init=normal:0.2",
                 "--optimizer=adamw", "--mesh=context=4", "--machine=h100",
                 f"--prefetch-bytes={prefetch}", "-o", path)
        report = json.loads(run_tool("zero-sim", path, "--machine=h100", "--json"))
        stalled.append(report["stalled"])
    checks.that(stalled[1] < 0.5 * stalled[0], f"kernels wait {stalled} seconds")


def main():
    data, work = sys.argv[1], Path(sys.argv[2])
    work.mkdir(parents=True, exist_ok=True)
    checks = Checks()
    check_folders(checks, work)
    check_bits(checks, work)
    check_windows(checks, work)
    check_padding(checks, Graph(data, "gpt2-tiny-mask", work / "mask"))
    check_held_out(checks, Graph(data, "gpt2-tiny", work / "gpt2"))
    check_overlap(checks, work)
    checks.finish()


if __name__ == "__main__":
    main()
