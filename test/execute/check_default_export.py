"""Models of torch.onnx.export with default flags are trained under the module's parameter names.
Parameters that were transposed, merged or dropped are restored with the values of the model's file.

usage: check_default_export.py DATA WORK
"""

import sys
from pathlib import Path

import numpy as np
import onnx
from onnx import numpy_helper

from zero_test import Checks, Failed, Graph, check_refused, read_safetensors, relative, run_tool

FLAGS = ["--optimizer=adamw", "--lr=1e-3", "--weight-decay=0.01"]
RESTORED = {"mixer-default": 13, "gpt2-default": 9, "bert-default": 17, "vit-default": 17,
            "bert-legacy": 10}
# Parameters of mixer-default by what the exporter did: changed name and layout, replaced by
# another's initializer, or removed.
TRANSPOSED = {"model.query.weight": "val_2", "model.key.weight": "val_4",
              "model.value.weight": "val_6"}
MERGED = {"model.norm1.weight": "model.gate", "model.norm2.weight": "model.gate",
          "model.norm1.bias": None, "model.norm2.bias": None, "model.query.bias": None}
DROPPED = ("model.conv.bias", "model.pool.bias")


def initializers(path):
    return {t.name: numpy_helper.to_array(t) for t in onnx.load(path).graph.initializer}


def start(graph, stage, ranks, *flags):
    """The weights that training starts from."""
    out = graph.work / "start.safetensors"
    run_tool("zero-run", graph.compile(stage, ranks, *FLAGS, graph.shape_flag(), *flags),
             graph.data_flag, "--steps=0", "--quiet", f"--save={out}")
    return read_safetensors(out)


def check_reports(checks, data, work):
    for name, count in RESTORED.items():
        graph = Graph(data, name, work / name)
        graph.compile(0, 1, *FLAGS, graph.shape_flag())
        checks.that(f"{count} parameters restored" in graph.report, f"{name}: {graph.report}")
        trained = sorted(start(graph, 0, 1))
        checks.that(trained == list(graph.truth["parameters"]), f"{name}: trained are {trained}")


def check_initial_values(checks, data, work):
    graph = Graph(data, "mixer-default", work / "values")
    model = initializers(graph.folder / "model.onnx")
    for stage, ranks, *flags in ((0, 1), (1, 2), (3, 4), (3, 3, "--precision=bf16")):
        label = f"values, stage {stage} on {ranks} {flags}"
        values = start(graph, stage, ranks, *flags)
        for name, source in TRANSPOSED.items():
            checks.that(np.array_equal(values[name], model[source].T), f"{label}: {name}")
        for name, source in MERGED.items():
            wanted = model[source] if source else np.zeros(16, np.float32)
            checks.that(np.array_equal(values[name], wanted), f"{label}: {name}")
        for name in DROPPED:
            checks.that(np.array_equal(values[name], np.zeros(16)), f"{label}: {name}")
    rows = np.arange(48 * 20, dtype=np.float32).reshape(48, 20)
    checks.that(not np.array_equal(rows, rows.T.reshape(48, 20)), "a transpose is no reshape")


def check_twin(checks, data, work):
    """The same model with and without optimization: with the same weights by the module's names,
    both train equally. The saved .onnx has them in the exporter's layout."""
    twin = Graph(data, "llama-tiny", work / "twin")
    graph = Graph(data, "llama-tiny", work / "default")
    graph.folder = Path(data) / "llama-tiny-default"
    weights = work / "llama.npz"
    names = twin.truth["parameters"]
    model = initializers(twin.folder / "model.onnx")
    np.savez(weights, **{name: model[name] for name in names})
    expected = twin.run(twin.compile(0, 1, *FLAGS), 6)
    result = None
    for stage, ranks in ((0, 1), (1, 1), (2, 1), (3, 1), (0, 4), (3, 4)):
        label = f"llama, stage {stage} on {ranks}"
        executable = graph.compile(stage, ranks, *FLAGS)
        last, result = result, graph.run(executable, 6, f"--weights={weights}")
        error = relative(result.losses, twin.truth["adamw_losses"][:6])
        checks.that(error <= 1e-3, f"{label}: losses are off by {error:.2e}")
        checks.that(relative(result.losses, expected.losses) <= 1e-5, f"{label}: not its twin's")
        if last and ranks == 1:
            checks.that(result.same_bits(last), f"{label}: bits differ from the first stage's")
    checks.that(result.same_bits(last), "llama on 4: bits differ from the first stage's")
    check_saved_model(checks, graph, executable, weights)


def check_saved_model(checks, graph, executable, weights):
    saved = graph.work / "model.onnx"
    run_tool("zero-run", executable, graph.data_flag, "--steps=3", "--quiet",
             f"--weights={weights}", f"--save={saved}", f"--save={graph.work / 'out.safetensors'}")
    trained = read_safetensors(graph.work / "out.safetensors")
    before, after = initializers(graph.folder / "model.onnx"), initializers(saved)
    checks.that(before.keys() == after.keys(), "saved: other initializers")
    left = dict(trained)
    for name, array in after.items():
        if name in left:
            checks.that(np.array_equal(array, left.pop(name)), f"saved: {name}")
        elif not np.array_equal(array, before[name]):
            found = [n for n, v in left.items() if np.array_equal(array, v.T)]
            checks.that(len(found) == 1, f"saved: {name} is {found}")
            left.pop(found[0])
    checks.that(not left, f"saved: without {list(left)}")
    graph.folder = graph.work
    again = graph.run(graph.compile(0, 1, *FLAGS), 1).weights
    losses = Graph.run(graph, graph.compile(0, 1, *FLAGS), 1).losses
    checks.that(again.keys() == trained.keys() and np.isfinite(losses).all(),
                "saved: compiled again, other parameters")


def check_selection(checks, data, work):
    """Lists and patterns use the module's names."""
    graph = Graph(data, "mixer-default", work / "select")
    graph.compile(0, 1, *FLAGS, "--freeze=*.query.weight,*.norm?.bias", "-v")
    for name in ("model.query.weight: 16x16xf32, frozen", "model.norm2.bias: 16xf32, frozen"):
        checks.that(name in graph.report, f"freeze: no '{name}' in {graph.report}")
    names = ["model.query.weight", "model.norm2.weight", "model.conv.bias"]
    (graph.work / "list").write_text("\n".join(names))
    graph.compile(0, 1, *FLAGS, f"--trainable={graph.work / 'list'}", "-v")
    checks.that("trained parameters (3):" in graph.report, f"trainable: {graph.report}")


def check_refusals(checks, data, work):
    graph = Graph(data, "mixer-default", work / "refused")
    executable = graph.compile(0, 1, *FLAGS)
    check_refused(checks, "merged", ["save as .safetensors", "have no initializer of their own"],
                  "zero-run", executable, graph.data_flag, f"--save={work / 'no.onnx'}")
    checks.that(not list(work.glob("no.onnx*")), "a refused run left a file")
    for name, words in (
            ("gptneox-default", ("'model.gpt_neox.layers.0.post_attention_layernorm.weight' is "
                                 "missing: ", "'layer_norm_1'")),
            ("vit-fixed-default", ("'model.vit.embeddings.cls_token' was folded into 'expand'",)),
            ("gpt2-tiny-default", ("'model.transformer.wpe.weight' was folded into 'embedding_1'",)),
            ("resnet-tiny-default", ("embedder.normalization.weight' is gone, read by Conv node",))):
        try:
            run_tool("zeroc", Path(data) / name / "model.onnx", "--plan-only")
            checks.that(False, f"{name}: it compiles")
        except Failed as failure:
            for word in words:
                checks.that(word in str(failure), f"{name}: '{word}' is not in {failure}")


def main():
    data, work = sys.argv[1], Path(sys.argv[2])
    work.mkdir(parents=True, exist_ok=True)
    checks = Checks()
    check_reports(checks, data, work)
    check_initial_values(checks, data, work)
    check_twin(checks, data, work)
    check_selection(checks, data, work)
    check_refusals(checks, data, work)
    checks.finish()


if __name__ == "__main__":
    main()
