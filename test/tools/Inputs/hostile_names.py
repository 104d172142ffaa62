"""Gives the nodes of a model names that are markup.

Usage: hostile_names.py MODEL.onnx OUT.onnx
"""

import sys

import onnx

MARKUP = "</script><b onclick=alert(1)>&amp;\u2028<!--"

model = onnx.load(sys.argv[1])
for index, node in enumerate(model.graph.node):
    node.name = f"{MARKUP}{index}"
onnx.save(model, sys.argv[2])
