"""python -m zero check-schedule."""

import argparse
import sys
from pathlib import Path

from ..errors import ZeroError
from .judge import judge
from .printed import read_graphs


def make_parser():
    """The parser of the command line. The page of all flags lists it, by a Python without numpy."""
    parser = argparse.ArgumentParser(
        prog="python -m zero check-schedule", allow_abbrev=False,
        description="Check that graphs of DeepSpeed's DeepCompile gather each parameter before it "
                    "is read, release it after, and reduce each gradient once.")
    parser.add_argument("graphs", metavar="LOG", nargs="+",
                        help="text with the printed graphs of a step")
    parser.add_argument("--frozen", metavar="N,...", default="",
                        help="numbers (ds_id) of parameters that have no gradient")
    return parser


def main(words):
    asked = make_parser().parse_args(words)
    try:
        graphs = [graph for path in asked.graphs
                  for graph in read_graphs(Path(path).read_text(encoding="utf-8"))]
        errors = judge(graphs, [int(number) for number in asked.frozen.split(",") if number])
    except (ZeroError, OSError, ValueError) as error:
        sys.exit(f"zero: error: {error}")
    if errors:
        sys.exit("\n".join(f"zero: error: {error}" for error in errors))
    counts = {kind: sum(node.kind == kind for graph in graphs for node in graph.nodes)
              for kind in ("gather", "release", "reduce")}
    print(f"{len(graphs)} graphs: {counts['gather']} gathers, {counts['release']} releases, "
          f"{counts['reduce']} reductions of gradients: each parameter is gathered when it is read")
