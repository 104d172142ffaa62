"""Gives the nodes and the first weight of a model names that are markup.

Usage: hostile_names.py MODEL.onnx OUT.onnx
"""

import sys

import onnx

MARKUP = "</script><b onclick=alert(1)>&amp;\u2028<!--"

model = onnx.load(sys.argv[1])
graph = model.graph
old, new = graph.initializer[0].name, f"{MARKUP}.weight"
graph.initializer[0].name = new
for index, node in enumerate(graph.node):
    node.name = f"{MARKUP}{index}"
    for position, name in enumerate(node.input):
        if name == old:
            node.input[position] = new
onnx.save(model, sys.argv[2])
