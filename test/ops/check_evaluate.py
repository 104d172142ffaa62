#!/usr/bin/env python3
"""Checks the evaluation of constants: nodes have at compile time the results that kernels compute.

usage: check_evaluate.py [--bin FOLDER] [--only OP] [--most N]

The cases are those of check_ops.py, with the operands as constants in the step.
zero-test-evaluate-nodes replaces each node that its operator evaluates by its results, which have to
be bitwise identical to those of the kernels. Every operator that has an evaluation needs a case, but
those whose nodes import always evaluates: test/import/fold.test has theirs.
"""

import argparse
import collections
import json
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
from check_factors import BATCH, run_tool
from check_ops import load_cases
from harness import forward_part, run_group
from node_models import batches, combine, zero_run, zero_run_file
from zero_test import read_safetensors

NUMPY = {"f16": "float16", "f32": "float32", "f64": "float64", "i1": "bool"}


def attribute(value, kind):
    """`value` as an attribute of MLIR: tensor<2x3xKIND>."""
    name = NUMPY.get(kind) or kind.replace("ui", "uint").replace("i", "int", kind[0] == "i")
    value = np.asarray(value, dtype=name)
    text = json.dumps(value.tolist()) if kind == "i1" else f'"0x{value.tobytes().hex()}"'
    shape = "".join(f"{size}x" for size in value.shape)
    return f"dense<{text if value.size else ''}> : tensor<{shape}{kind}>"


def with_constants(text, feeds):
    """The step with constants for its arguments."""
    head, body = re.match(r"(.*?func\.func @step\(.*?\n)(.*)", text, re.S).groups()
    lines = []
    arguments = r'(%arg\d+): tensor<(?:\d+x)*(\w+)> \{zero\.binding = "([^"]+)"'
    for name, kind, binding in re.findall(arguments, head):
        lines.append(f"%of_{name[1:]} = arith.constant {attribute(feeds[binding], kind)}\n")
    return head + "".join(lines) + re.sub(r"%(arg\d+)\b", r"%of_\1", body)


def evaluate_nodes(tools, *arguments):
    """Runs zero-test-evaluate-nodes. Returns the remarks, as kinds and operators, and the error."""
    done = subprocess.run([tools / "zero-opt", "--pass-pipeline=builtin.module(func.func("
                           "zero-test-evaluate-nodes))", *arguments], capture_output=True, text=True)
    return re.findall(r"remark: ([\w ]+): (\w+) ?(.*)", done.stderr), (
        done.stderr[:600] or f"exit {done.returncode}" if done.returncode else None)


def write_evaluated(tools, folder, feeds, nodes):
    """Writes the step of model.onnx with evaluated nodes to evaluated.mlir. Adds the operators of
    its nodes, and the names of those that are evaluated, to `nodes`."""
    text, said = run_tool(tools / "zeroc", folder / "model.onnx", "--forward-only", "--plan-only",
                          "--dump-after=import")
    if said:
        return said
    known = folder / "known.mlir"
    known.write_text(with_constants(text[:text.index("\n}\n") + 3], feeds))  # the plan follows
    remarks, said = evaluate_nodes(tools, known, "-o", folder / "evaluated.mlir")
    nodes["left"].update(re.findall(r'onnx.node "(\w+)"', text))
    for kind, op, node in remarks:
        if kind == "evaluated":
            nodes["evaluated"].add(op)
            nodes["cases"].add(node.split("/")[0])
    return said


def forward(tools, nodes):
    def execute(group, folder):
        model, feeds = combine(group)
        run, flags = tools / "zero-run", ["--forward-only"]
        paths = [folder / "run.safetensors", folder / "evaluated.safetensors"]
        said = (zero_run(run, model, feeds, folder, f"--save-outputs={paths[0]}", *flags)
                or write_evaluated(tools, folder, feeds, nodes)
                or zero_run_file(run, folder / "evaluated.mlir", feeds, folder,
                                 f"--save-outputs={paths[1]}", *flags))
        return (None, said) if said else (tuple(map(read_safetensors, paths)), None)
    return execute


def differs(results, name):
    """Whether a result of case `name` has other bits; NaN is one value."""
    return any(
        value.dtype != results[1][key].dtype
        or not np.array_equal(results[1][key], value, equal_nan=value.dtype.kind == "f")
        for key, value in results[0].items() if key.startswith(f"{name}/"))


def operators(tools, folder):
    """The operators that have an evaluation."""
    path = folder / "empty.mlir"
    path.write_text("func.func @step() { return }")
    remarks, said = evaluate_nodes(tools, path, "-o", "/dev/null")
    if said:
        sys.exit(said)
    return {op for kind, op, _ in remarks if kind == "has evaluation"}


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--bin", default="", help="folder of the tools, if not on the path")
    parser.add_argument("--only", help="check one operator")
    parser.add_argument("--most", type=int, help="check at most N cases of each operator and kind of elements")
    options = parser.parse_args()
    tools = Path(options.bin or Path(shutil.which("zero-opt")).parent)
    with tempfile.TemporaryDirectory() as folder:
        known = operators(tools, Path(folder))
    seen, cases = collections.Counter(), {}
    for case in load_cases(options.only):
        if case.fails or case.name() not in known:
            continue
        kind = case.name(), np.asarray(case.inputs[0]).dtype.kind
        seen[kind] += 1
        if seen[kind] <= (options.most or seen[kind]):
            cases[f"case{len(cases)}"] = case
    failed, nodes = 0, {"left": set(), "evaluated": set(), "cases": set()}
    for group in batches([forward_part(case, name) for name, case in cases.items()], BATCH):
        for name, results in run_group(group, forward(tools, nodes)).items():
            if results is None or (name in nodes["cases"] and differs(results, name)):
                failed += 1
                print(f"FAIL {cases[name].label()}")
    # A Range of integers has a static shape only where import evaluates it; floats it leaves.
    folded = ({case.name() for case in cases.values()} - nodes["left"]) | {"Range"}
    for op in sorted(known - nodes["evaluated"] - folded if not options.only else ()):
        failed += 1
        print(f"FAIL no case of {op} is evaluated")
    print(f"{len(cases)} cases, {len(nodes['cases'])} evaluated, of {len(nodes['evaluated'])} "
          f"operators, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
