"""Reads graphs of torch.fx as DeepSpeed's DeepCompile prints them, with its own nodes."""

import re
from dataclasses import dataclass, field

from ..errors import BadFileError

_NODE = re.compile(r"\s*%(\w+) : .*?= (\w+)\[target=([^\]]+)\]"
                   r"(?:\(args = (.*), kwargs = (\{.*\})\))?")
_RETURN = re.compile(r"\s*return (.*)")
_BEGIN = re.compile(r"(.*)\bgraph\(.*\):\s*$")
_VALUE = re.compile(r"%(\w+)")
_NUMBER = re.compile(r"-?\b\d+\b")
# Kinds of the nodes of torch.ops.dc that are about parameters and gradients.
_KINDS = {"allgather_param": "gather", "wait_allgather": "wait", "release_param": "release",
          "reduce_grad": "reduce", "prefetch_params_fused": "prefetch"}
# Operators of aten whose result shares the bytes of their operand.
_VIEWS = {"alias", "as_strided", "detach", "diagonal", "expand", "permute", "select", "slice",
          "split", "squeeze", "t", "transpose", "unsqueeze", "view", "_unsafe_view"}


@dataclass(frozen=True)
class Node:
    """A node of a graph.

    Attributes:
        line: of the file.
        kind: gather, wait, release, reduce, prefetch, view, input, output or use.
        reads: names of nodes.
        parameters: numbers of those that a kind is about.
        users: of a release: how many there are for a gather.
    """
    line: int
    name: str
    kind: str
    reads: tuple = ()
    parameters: tuple = ()
    users: int = 0


@dataclass
class Graph:
    """A graph: what is printed before it, and its nodes in their order."""
    title: str
    nodes: list = field(default_factory=list)


def _kind(operation, target):
    if operation == "placeholder":
        return "input"
    space, _, name = target.removeprefix("torch.ops.").partition(".")
    name = name.partition(".")[0]
    if space == "dc":
        return _KINDS.get(name, "use")
    return "view" if space == "aten" and name in _VIEWS else "use"


def _node(line, name, kind, arguments):
    reads = tuple(_VALUE.findall(arguments))
    numbers = [int(number) for number in _NUMBER.findall(_VALUE.sub("", arguments))]
    if kind == "prefetch":  # the graph, nodes of parameters, and as many numbers
        return Node(line, name, kind, reads, tuple(numbers[1:1 + len(reads)]))
    if kind in ("gather", "wait", "release", "reduce"):
        if len(reads) != 1 or len(numbers) < 2 + (kind == "release"):
            raise BadFileError(f"line {line}: expected a node, the number of the graph and that of "
                               f"the parameter as arguments of '{name}', got {arguments}")
        return Node(line, name, kind, reads, (numbers[1],), numbers[2] if kind == "release" else 0)
    return Node(line, name, kind, reads)


def read_graphs(text):
    """The graphs of a log, in their order."""
    graphs, open_graph = [], None
    for number, line in enumerate(text.splitlines(), 1):
        begin, found, result = _BEGIN.match(line), _NODE.match(line), _RETURN.match(line)
        if begin:
            open_graph = Graph(begin[1].strip().removesuffix("graph=") or f"line {number}")
            graphs.append(open_graph)
        elif open_graph and found:
            name, operation, target, arguments, keywords = found.groups()
            kind = _kind(operation, target)
            arguments = arguments or ""
            if kind in ("use", "view"):
                arguments += keywords or ""
            open_graph.nodes.append(_node(number, name, kind, arguments))
        elif open_graph and result:
            open_graph.nodes.append(Node(number, "return", "output",
                                         tuple(re.findall(r"[A-Za-z_]\w*", result[1]))))
            open_graph = None
    if not graphs or not any(graph.nodes for graph in graphs):
        raise BadFileError("expected graphs as torch.fx prints them: 'graph():' and a line "
                           "'%name : ... = call_function[target=...](args = ..., kwargs = ...)' "
                           "for each node")
    return graphs
