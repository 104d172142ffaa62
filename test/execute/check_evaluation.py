"""Evaluation on held-out data: it uses the current weights and does not change training.

usage: check_evaluation.py DATA WORK
"""

import json
import sys

import numpy as np
import onnx
from onnx.reference import ReferenceEvaluator

from zero_test import Checks, Graph, check_refused, read_safetensors, run_tool

STEPS, EVERY = 7, 3
ROWS = 20  # held out: two global batches of 8, and 4 rows


def held_out(graph, rows):
    """Samples that are not in the training data."""
    random = np.random.default_rng(4)
    made = {}
    for name, value in graph.inputs.items():
        made[name] = random.permuted(np.resize(value, (rows, *value.shape[1:])).reshape(-1))
        made[name] = made[name].reshape(rows, *value.shape[1:])
        np.save(graph.work / f"held-{name}.npy", made[name])
    return made


def train(graph, executable, *flags, steps=STEPS):
    """Losses by step, evaluations by step, weights, report."""
    log, weights, report = (graph.work / f"run.{kind}" for kind in ("jsonl", "safetensors", "json"))
    run_tool("zero-run", executable, graph.data_flag, f"--steps={steps}", "--quiet",
             f"--log={log}", f"--save={weights}", f"--report-json={report}", *flags)
    lines = [json.loads(line) for line in log.read_text().splitlines()]
    return ([line["loss"] for line in lines if "loss" in line],
            {line["step"]: line["eval_loss"] for line in lines if "eval_loss" in line},
            weights, json.loads(report.read_text()))


def inference(model):
    """The model in evaluation mode: running statistics, no dropout."""
    for node in model.graph.node:
        if node.op_type == "BatchNormalization":
            del node.output[1:]
            for attribute in node.attribute:
                attribute.i = 0 if attribute.name == "training_mode" else attribute.i
        elif node.op_type == "Dropout":
            del node.input[1:]
    return model


def loss_of(graph, weights, batch):
    """The loss of ONNX's reference for the trained weights."""
    model = inference(onnx.load(graph.folder / "model.onnx"))
    tensors = read_safetensors(weights)
    for initializer in model.graph.initializer:
        if initializer.name in tensors:
            initializer.CopyFrom(onnx.numpy_helper.from_array(
                np.ascontiguousarray(tensors[initializer.name]), initializer.name))
    return ReferenceEvaluator(model).run(None, batch)[0]


def mean_loss(graph, weights, rows, batch):
    """The mean over all rows, each of which has as many labels."""
    count = len(next(iter(rows.values())))
    parts = [{name: value[at:at + batch] for name, value in rows.items()}
             for at in range(0, count, batch)]
    sizes = [len(next(iter(part.values()))) for part in parts]
    return np.dot([loss_of(graph, weights, part) for part in parts], sizes) / count


def check_stage(checks, graph, stage, ranks, rows, batch):
    label = f"{graph.name}, stage {stage}, {ranks} ranks"
    executable = graph.compile(stage, ranks, "--optimizer=adamw", "--lr=1e-2",
                               graph.shape_flag(ranks))
    held = ",".join(f"{name}={graph.work}/held-{name}.npy" for name in graph.inputs)
    losses, none, weights, _ = train(graph, executable)
    plain = weights.read_bytes()
    checks.that(not none, f"{label}: evaluates without being asked")
    got, evaluations, weights, report = train(
        graph, executable, f"--eval-data={held}", f"--eval-every={EVERY}", "--check-memory")
    checks.that(got == losses and weights.read_bytes() == plain, f"{label}: changes training")
    checks.that(list(evaluations) == [3, 6, 7], f"{label}: evaluates after {list(evaluations)}")
    checks.that([e["eval_loss"] for e in report["evaluations"]] == list(evaluations.values())
                and all(e["samples"] == len(next(iter(rows.values())))
                        for e in report["evaluations"]),
                f"{label}: report {report['evaluations']}")
    for steps, loss in evaluations.items():
        _, _, weights, _ = train(graph, executable, steps=steps)
        expected = mean_loss(graph, weights, rows, batch)
        checks.that(abs(loss - expected) <= 1e-5 * expected,
                    f"{label}: after {steps} steps {loss}, expected {expected}")
    return evaluations


def check_flags(checks, graph):
    executable = graph.work / "s0r2.zexe"
    held = ",".join(f"{name}={graph.work}/held-{name}.npy" for name in graph.inputs)
    text = run_tool("zero-run", executable, "--steps=0", f"--eval-data={held}", "--eval-steps=1")
    checks.that("evaluation after 0 steps: loss" in text, f"no evaluation alone: {text}")
    for flags, words in ((["--eval-every=2"], ["need --eval-data"]),
                         ([f"--eval-data={held}", "--eval-steps=0"], ["at least 1"]),
                         (["--eval-data=x=none.npy"], ["--eval-data", "none.npy"]),
                         ([f"--eval-data={held.split(',')[0]}"], ["--eval-data", "no data for"])):
        check_refused(checks, f"{flags}", words, "zero-run", executable, graph.data_flag, *flags)


def main():
    data, work = sys.argv[1:]
    checks = Checks()
    graph = Graph(data, "mlp-dynbatch", f"{work}/mlp")
    for name in graph.inputs:
        graph.inputs[name] = graph.inputs[name][:8]
    graph.write_inputs()
    rows = held_out(graph, ROWS)
    by_stage = [check_stage(checks, graph, stage, ranks, rows, 8)
                for stage, ranks in ((0, 2), (1, 2), (2, 2), (3, 2), (0, 1), (3, 4))]
    checks.that(all(each == by_stage[0] for each in by_stage[:4]), "the stages differ")
    check_flags(checks, graph)
    gpt2 = Graph(data, "gpt2-tiny-dyn", f"{work}/gpt2")
    for name in gpt2.inputs:
        gpt2.inputs[name] = gpt2.inputs[name][:2, :16]
    gpt2.write_inputs()
    check_stage(checks, gpt2, 3, 2, held_out(gpt2, 5), 2)
    # The evaluation uses running statistics and no dropout.
    resnet = Graph(data, "resnet-tiny", f"{work}/resnet")
    batch = len(next(iter(resnet.inputs.values())))
    check_stage(checks, resnet, 0, 1, held_out(resnet, 2 * batch), batch)
    dropout = Graph(data, "mlp", f"{work}/dropout")
    dropout.folder = dropout.folder.parent / "mlp-dropout"
    check_stage(checks, dropout, 3, 1, held_out(dropout, 32), 32)
    checks.finish()


if __name__ == "__main__":
    main()
