"""Writes a graph of matrix products in a row, widths alternating, and the mean of the last result.

All weights are one file of external data that has its full length but takes no space, so that a
model of any size can be planned: zeroc never reads it.
"""

from onnx import TensorProto, helper, save


def weight(name, shape, file):
    tensor = TensorProto(name=name, dims=shape, data_type=TensorProto.FLOAT,
                         data_location=TensorProto.EXTERNAL)
    for key, value in (("location", file), ("offset", 0), ("length", 4 * shape[0] * shape[1])):
        tensor.external_data.add(key=key, value=str(value))
    return tensor


def write(path, layers, width, other):
    """Writes `layers` products of width x other and other x width in turns, for one row."""
    data = path.with_name(path.name + ".data")
    with open(data, "wb") as file:
        file.truncate(4 * width * other)
    weights, nodes, value = [], [], "x"
    for layer in range(layers):
        shape = [width, other] if layer % 2 == 0 else [other, width]
        weights.append(weight(f"layer{layer}.weight", shape, data.name))
        nodes.append(helper.make_node("MatMul", [value, weights[-1].name], [f"y{layer}"],
                                      name=f"layer{layer}"))
        value = f"y{layer}"
    nodes.append(helper.make_node("ReduceMean", [value], ["loss"], name="mean", keepdims=0))
    graph = helper.make_graph(
        nodes, "main_graph", [helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, width])],
        [helper.make_tensor_value_info("loss", TensorProto.FLOAT, [])], weights)
    save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=10,
                           producer_name="make_chain"), str(path))
