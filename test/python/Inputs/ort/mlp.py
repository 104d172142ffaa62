"""The model and the samples of the scripts: a perceptron of three layers, as torch.onnx.export
writes one, and points around a center for each of four classes."""

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

FEATURES, HIDDEN, CLASSES, BATCH = 16, 24, 4, 8


def make_model():
    """The forward pass: "input" (batch, 16) to "output" (batch, 4)."""
    random, nodes, initializers, value = np.random.RandomState(0), [], [], "input"
    sizes = [FEATURES, HIDDEN, HIDDEN, CLASSES]
    for i in range(1, 4):
        bound = 1 / np.sqrt(sizes[i - 1])
        for name, shape in (("weight", (sizes[i], sizes[i - 1])), ("bias", (sizes[i],))):
            array = random.uniform(-bound, bound, shape).astype(np.float32)
            initializers.append(numpy_helper.from_array(array, f"fc{i}.{name}"))
        result = "output" if i == 3 else f"/fc{i}/Gemm_output_0"
        nodes.append(helper.make_node("Gemm", [value, f"fc{i}.weight", f"fc{i}.bias"], [result],
                                      name=f"/fc{i}/Gemm", transB=1))
        if i < 3:
            value = f"/relu{i}/Relu_output_0"
            nodes.append(helper.make_node("Relu", [result], [value], name=f"/relu{i}/Relu"))
    graph = helper.make_graph(
        nodes, "mlp",
        [helper.make_tensor_value_info("input", TensorProto.FLOAT, ["batch_size", FEATURES])],
        [helper.make_tensor_value_info("output", TensorProto.FLOAT, ["batch_size", CLASSES])],
        initializers)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 15)], ir_version=8)
    onnx.checker.check_model(model, full_check=True)
    return model


def parameter_names():
    return [tensor.name for tensor in make_model().graph.initializer]


class Samples:
    """Batches of points with their classes, as a data loader returns them."""

    def __init__(self, batches, seed, batch=BATCH):
        random = np.random.RandomState(seed)
        self.centers = np.random.RandomState(7).normal(size=(CLASSES, FEATURES))
        self.batches = []
        for _ in range(batches):
            labels = random.randint(0, CLASSES, batch)
            points = self.centers[labels] + random.normal(scale=0.7, size=(batch, FEATURES))
            self.batches.append((points.astype(np.float32), labels.astype(np.int64)))

    def __iter__(self):
        return iter(self.batches)

    def __len__(self):
        return len(self.batches)


def targets_of(labels):
    """Labels as rows of zeros and ones."""
    return np.eye(CLASSES, dtype=np.float32)[labels]
