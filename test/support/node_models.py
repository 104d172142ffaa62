"""Many independent small graphs in one model, which need only one compilation."""

import collections
import subprocess
from dataclasses import dataclass, field

import numpy as np
import onnx
from onnx import helper, numpy_helper

TIMEOUT = 300  # seconds of one compilation and run


@dataclass
class Part:
    """A graph, its inputs at run time, and inputs that become initializers, by name."""

    name: str
    graph: onnx.GraphProto
    opsets: tuple  # of (domain, version)
    feeds: dict = field(default_factory=dict)
    constants: dict = field(default_factory=dict)
    functions: list = field(default_factory=list)


def rename_node(node, mapping, outputs=True):
    node.input[:] = [mapping.get(n, n) for n in node.input]
    if outputs:
        node.output[:] = [mapping.get(n, n) for n in node.output]
    for attribute in node.attribute:
        if node.op_type == "Gradient":  # its attributes name values
            attribute.strings[:] = [mapping[n.decode()].encode() for n in attribute.strings]
            if attribute.s:
                attribute.s = mapping[attribute.s.decode()].encode()
        if attribute.HasField("g"):
            for inner in attribute.g.node:  # reads values of the outer graph by name
                rename_node(inner, mapping, outputs=False)


def add_part(combined, part):
    """Appends a part to a graph, with 'PART/' before its names; returns its inputs."""
    graph = onnx.GraphProto()
    graph.CopyFrom(part.graph)
    names = {n for node in graph.node for n in [*node.input, *node.output] if n}
    names |= {v.name for v in [*graph.input, *graph.output, *graph.initializer]}
    mapping = {n: f"{part.name}/{n}" for n in names}
    for name, array in part.constants.items():
        combined.initializer.append(numpy_helper.from_array(array, mapping[name]))
    for value in [*graph.input, *graph.output, *graph.value_info, *graph.initializer]:
        short, value.name = value.name, mapping.get(value.name, value.name)
        if short in part.feeds and value.name not in {v.name for v in graph.output}:
            combined.input.append(value)
    for number, node in enumerate(graph.node):
        rename_node(node, mapping)
        node.name = f"{part.name}/{number}"
    combined.output.extend(graph.output)
    combined.initializer.extend(graph.initializer)
    combined.node.extend(graph.node)
    return {mapping[name]: array for name, array in part.feeds.items()}


def combine(parts):
    """One model of all `parts`, which must have the same opsets, and its inputs."""
    combined = onnx.GraphProto(name="parts")
    feeds = {}
    for part in parts:
        feeds.update(add_part(combined, part))
    model = helper.make_model(combined, ir_version=13, opset_imports=[
        helper.make_opsetid(domain, version) for domain, version in parts[0].opsets])
    model.functions.extend(parts[0].functions)
    return model, feeds


def batches(parts, size):
    """Groups of at most `size` parts with the same opsets. A part with functions is alone."""
    groups = collections.defaultdict(list)
    for part in parts:
        groups[part.opsets, part.name if part.functions else ""].append(part)
    return [group[i:i + size] for _, group in sorted(groups.items(), key=lambda g: g[0])
            for i in range(0, len(group), size)]


def zero_run(tool, model, feeds, folder, *flags):
    """Compiles and runs `model` once. Returns None or the error message of the tools."""
    path = folder / "model.onnx"
    path.write_bytes(model.SerializeToString())
    return zero_run_file(tool, path, feeds, folder, *flags)


def zero_run_file(tool, path, feeds, folder, *flags):
    """The same for a model in a file."""
    command = [str(tool), str(path), "--allow-nan", "--steps=1", *map(str, flags)]
    if feeds:
        np.savez(folder / "inputs.npz", **feeds)
        command.append(f"--data={folder / 'inputs.npz'}")
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=TIMEOUT)
    except subprocess.TimeoutExpired:
        return f"crash: no end within {TIMEOUT} s"
    if done.returncode < 0:
        return f"crash: signal {-done.returncode}"
    return (done.stderr or f"exit {done.returncode}") if done.returncode else None
