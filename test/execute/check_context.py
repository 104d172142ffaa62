"""What else works where ranks along `context` have different tokens of the same sequences.

usage: check_context.py DATA WORK

Precisions, micro-batches, clipping, optimizers, and dropout behind attention without a mask give the
losses of one rank, processes the bits of threads, and checkpoints load on other meshes. Volumes are those
of closed forms and what communicators counted. Ranks train a sequence within a budget for which one
rank has no plan.
"""

import json
import re
import shutil
import sys
from pathlib import Path

import numpy as np
from onnx import TensorProto, helper, numpy_helper, save

from check_groundtruth import ADAMW
from zero_test import Checks, Failed, Graph, check_received, run_tool

STEPS, LIMIT = 4, 1e-5
# Flags, and the limit of losses.
FEATURES = [(["--clip-norm=0.5", "--zero-stage=3"], LIMIT), (["--precision=bf16"], 1e-3),
            (["--micro-batches=2", "--zero-stage=2"], LIMIT),
            (["--micro-batches=2", "--micro-batch-order=vertical", "--zero-stage=3"], LIMIT),
            (["--optimizer=muon", "--lr=0.01"], LIMIT)]
# Of gpt2-tiny, and of a small Llama whose keys and values have fewer heads.
LAYERS, WIDTH, TOKENS = 2, 64, 2048
CONFIG = {"model_type": "llama", "architectures": ["LlamaForCausalLM"], "hidden_size": WIDTH,
          "intermediate_size": 176, "num_hidden_layers": LAYERS, "num_attention_heads": 4,
          "num_key_value_heads": 2, "vocab_size": 128, "max_position_embeddings": TOKENS,
          "rms_norm_eps": 1e-6, "rope_theta": 10000.0, "hidden_act": "silu",
          "tie_word_embeddings": False, "attention_bias": False, "torch_dtype": "float32"}


def run(graph, mesh, *flags, options=(), **keywords):
    path = graph.work / "context.zexe"
    has_optimizer = any("optimizer" in flag for flag in flags)
    graph.compile_to(path, f"--mesh=data={mesh[0]},context={mesh[1]}",
                     *([] if has_optimizer else ADAMW), *flags)
    return graph.run(path, STEPS, "--check-memory", *options, **keywords)


def check_losses(checks, label, losses, expected, limit=LIMIT):
    error = np.max(np.abs(losses - expected) / np.abs(expected))
    checks.that(error <= limit, f"{label}: losses off by {error:.2e}")


def check_features(checks, graph):
    for index, (flags, limit) in enumerate(FEATURES):
        mesh = ((2, 2), (1, 4))[index % 2]
        expected = run(graph, (1, 1), *flags).losses
        check_losses(checks, f"{mesh} {flags}", run(graph, mesh, *flags).losses, expected, limit)


def write_unmasked(path):
    """A model with attention of all tokens to all, in grouped heads, dropout, of which masks do not
    depend on the mesh, and a loss of some labels."""
    random = np.random.default_rng(0)
    weights = {"model.table": (32, 16), "model.keys": (16, 8), "model.values": (16, 8), "model.classes": (16, 32)}
    nodes = [helper.make_node("Gather", ["model.table", "ids"], ["x"]),
             helper.make_node("MatMul", ["x", "model.keys"], ["k"]),
             helper.make_node("MatMul", ["x", "model.values"], ["v"]),
             helper.make_node("Attention", ["x", "k", "v"], ["a"], q_num_heads=4, kv_num_heads=2),
             helper.make_node("Dropout", ["a", "ratio", "training"], ["d"]),
             helper.make_node("Add", ["x", "d"], ["y"]),
             helper.make_node("MatMul", ["y", "model.classes"], ["scores"]),
             helper.make_node("Transpose", ["scores"], ["by_class"], perm=[0, 2, 1]),
             helper.make_node("SoftmaxCrossEntropyLoss", ["by_class", "labels"], ["loss"],
                              ignore_index=-100)]
    graph = helper.make_graph(
        nodes, "unmasked",
        [helper.make_tensor_value_info(name, TensorProto.INT64, [2, 16])
         for name in ("ids", "labels")],
        [helper.make_tensor_value_info("loss", TensorProto.FLOAT, [])],
        [numpy_helper.from_array(np.array(0.3, np.float32), "ratio"),
         numpy_helper.from_array(np.array(True), "training"),
         *(numpy_helper.from_array(random.normal(0, 0.5, shape).astype(np.float32), name)
           for name, shape in weights.items())])
    save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 23)]), path)


def check_unmasked(checks, work):
    work.mkdir(parents=True, exist_ok=True)
    model, data, path, log = (work / name for name in ("m.onnx", "d.npz", "m.zexe", "log.jsonl"))
    write_unmasked(model)
    ids = np.random.default_rng(1).integers(0, 32, (4, 16))
    # Ranks have different numbers of labels that count.
    np.savez(data, ids=ids, labels=np.where(np.arange(16) % 5 < ids % 7, ids, -100))
    losses = []
    for mesh in ("data=2", "data=2,context=2", "data=2,context=4"):
        run_tool("zeroc", model, f"--mesh={mesh}", *ADAMW, "-o", path)
        run_tool("zero-run", path, f"--data={data}", f"--steps={STEPS}", f"--log={log}")
        losses.append(np.array([json.loads(line)["loss"]
                                for line in log.read_text().splitlines()]))
        check_losses(checks, f"without a mask on {mesh}", losses[-1], losses[0])


def check_shards(checks, graph):
    """Shards of layers along a third axis."""
    expected = run(graph, (1, 1)).losses
    path = graph.work / "context.zexe"
    report = graph.compile_to(path, "--mesh=data=1,context=2,tensor=2", *ADAMW, "--zero-stage=3")
    checks.that("along tensor" in report and "stays whole" not in report, report)
    losses = graph.run(path, STEPS, "--check-memory", has_gradients=False).losses
    check_losses(checks, "data x context x tensor", losses, expected)


def check_checkpoints(checks, graph):
    state = graph.work / "state"
    shutil.rmtree(state, ignore_errors=True)
    path = graph.work / "context.zexe"
    expected = run(graph, (2, 2), "--zero-stage=3")
    again = graph.run(path, STEPS, "--processes=4", has_gradients=False)
    checks.that(again.same_bits(expected), "four processes: bits differ from threads")
    run_tool("zero-run", path, graph.data_flag, "--steps=2", f"--save-state={state}")
    for mesh in ((1, 1), (4, 1), (1, 4)):
        resumed = run(graph, mesh, "--zero-stage=1", options=[f"--resume={state}"],
                      has_gradients=False)
        check_losses(checks, f"resumed on {mesh}", resumed.losses[-2:], expected.losses[2:])


def check_volumes(checks, graph):
    """Keys and values of two layers, their gradients, and keys and values again in backward."""
    for flags, times in (([], 3), (["--checkpoint=layer"], 4)):
        result = run(graph, (2, 2), "--zero-stage=3", *flags)
        expected = times * 2 * graph.inputs["input_ids"].size * WIDTH * LAYERS // 2
        planned = result.report["planned_elements_along"]
        checks.that(planned["context"] == expected, f"{flags}: {planned}, expected {expected}")
        check_received(checks, flags, result.report, STEPS)


def check_budget(checks, work):
    """A budget between what one rank needs and what each of four needs."""
    folder = work / "llama"
    folder.mkdir(parents=True, exist_ok=True)
    config, data, log = (folder / name for name in ("config.json", "data.npz", "log.jsonl"))
    config.write_text(json.dumps(CONFIG))
    tokens = np.random.default_rng(0).integers(0, CONFIG["vocab_size"], (1, TOKENS))
    np.savez(data, input_ids=tokens, labels=tokens)
    common = [config, f"--shape=1x{TOKENS}", "--init=normal:0.02", "--optimizer=adamw"]
    alone, four = folder / "alone.zexe", folder / "four.zexe"
    run_tool("zeroc", *common, "-o", alone)
    budget = "--memory-budget=6MiB"
    try:
        run_tool("zeroc", *common, budget, "--plan-only")
        checks.that(False, f"one rank has a plan with {budget}")
    except Failed as failed:
        checks.that("no plan fits" in str(failed), str(failed))
    text = run_tool("zeroc", *common, "--mesh=context=4", "--zero-stage=2", budget, "-o", four)
    peak = int(re.search(r"^  arena +(\d+)", text, re.M)[1])
    checks.that(peak <= 6 << 20, f"{peak} bytes on each of four ranks")
    losses = []
    for path, flags in ((alone, []), (four, ["--processes=4"])):
        run_tool("zero-run", path, f"--data={data}", "--steps=2", f"--log={log}", *flags)
        losses.append([json.loads(text)["loss"] for text in log.read_text().splitlines()])
    check_losses(checks, "four processes", np.array(losses[1]), np.array(losses[0]))


def main():
    data, work = sys.argv[1], Path(sys.argv[2])
    graph = Graph(data, "gpt2-tiny", work / "gpt2")
    checks = Checks()
    check_features(checks, graph)
    check_unmasked(checks, work)
    check_shards(checks, graph)
    check_checkpoints(checks, graph)
    check_volumes(checks, graph)
    check_budget(checks, work)
    checks.finish()


if __name__ == "__main__":
    main()
