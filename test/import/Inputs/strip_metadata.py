"""Removes the exporter's metadata from a graph: strip_metadata.py FROM TO"""

import sys

import onnx

model = onnx.load(sys.argv[1])
del model.graph.metadata_props[:]
del model.graph.value_info[:]
for node in model.graph.node:
    del node.metadata_props[:]
onnx.save(model, sys.argv[2])
