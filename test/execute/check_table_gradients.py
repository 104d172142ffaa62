"""The gradient of an embedding table on the threads of a GPU, which sort the indices, has the bits of
the gradient on a CPU, which adds rows one after the other.

usage: check_table_gradients.py WORK
"""

import sys
from pathlib import Path

import numpy as np
from onnx import TensorProto, helper, numpy_helper, save

from zero_test import Checks, read_safetensors, run_tool

# Shape of the table, shape of the indices, axis, flags. Rows without an index have no gradient;
# others have many. More than 1024 indices are sorted by blocks instead of warps.
CASES = {
    "few": ((37, 6), (64,), 0, []),
    "many": ((3, 4), (1500,), 0, []),
    "one": ((5, 3), (1,), 0, []),
    "batch": ((50, 8), (2, 33), 0, []),
    "columns": ((4, 19, 3), (31,), 1, []),
    "last": ((6, 11), (40,), 1, []),
    "bf16": ((37, 6), (64,), 0, ["--precision=bf16"]),
    "fp16": ((37, 48), (64,), 0, ["--precision=fp16", "--loss-scale=1"]),
    "accumulated": ((37, 6), (64,), 0, ["--micro-batches=2"]),
    "parts": ((37, 64), (64,), 0, ["--zero-stage=3", "--ranks=2", "--tile-params-over=4096"]),
}


def write_model(path, table, indices, axis):
    """loss = sum(Gather(table, indices) * factors), so that the gradient adds `factors`."""
    rows = (*table[:axis], *indices, *table[axis + 1:])
    values = np.random.default_rng(1).standard_normal(table).astype(np.float32)
    nodes = [helper.make_node("Gather", ["table.weight", "indices"], ["rows"], axis=axis),
             helper.make_node("Mul", ["rows", "factors"], ["products"]),
             helper.make_node("ReduceSum", ["products"], ["loss"], keepdims=0)]
    inputs = [helper.make_tensor_value_info("indices", TensorProto.INT64, indices),
              helper.make_tensor_value_info("factors", TensorProto.FLOAT, rows)]
    outputs = [helper.make_tensor_value_info("loss", TensorProto.FLOAT, [])]
    graph = helper.make_graph(nodes, "table", inputs, outputs,
                              [numpy_helper.from_array(values, "table.weight")])
    save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=10), path)
    return rows


def write_inputs(work, extent, indices, rows):
    random = np.random.default_rng(2)
    inputs = {"indices": random.integers(0, extent, indices) // 3 * 3,
              "factors": random.standard_normal(rows).astype(np.float32)}
    inputs["indices"].flat[0] -= extent  # counts from the end
    for name, value in inputs.items():
        np.save(work / f"{name}.npy", value)
    return inputs


def gradient_on(device, work, flags):
    executable, gradients = work / f"{device}.zexe", work / f"{device}.safetensors"
    run_tool("zeroc", work / "model.onnx", f"--device={device}", "--optimizer=sgd", *flags, "-o",
             executable)
    data = ",".join(f"{name}={work / name}.npy" for name in ("indices", "factors"))
    run_tool("zero-run", executable, f"--data={data}", "--steps=1", "--quiet",
             f"--dump-gradients={gradients}")
    return read_safetensors(gradients)["table.weight"]


def main():
    work, checks = Path(sys.argv[1]), Checks()
    work.mkdir(parents=True, exist_ok=True)
    for name, (table, indices, axis, flags) in CASES.items():
        rows = write_model(work / "model.onnx", table, indices, axis)
        inputs = write_inputs(work, table[axis], indices, rows)
        cpu, gpu = (gradient_on(device, work, flags) for device in ("cpu", "cuda"))
        checks.that(np.any(cpu) and cpu.tobytes() == gpu.tobytes(),
                    f"{name}: other bits, by {np.max(np.abs(cpu - gpu))}")
        expected = np.zeros(table, np.float32)
        np.add.at(expected, (*[slice(None)] * axis, inputs["indices"]), inputs["factors"])
        if name in ("accumulated", "parts"):  # both have all rows, and their sums are added
            expected *= 2
        tolerance = 0.03 if name in ("bf16", "fp16") else 1e-5
        checks.that(np.allclose(gpu, expected, rtol=tolerance, atol=tolerance),
                    f"{name}: off by {np.max(np.abs(gpu - expected))}")
    checks.finish()


if __name__ == "__main__":
    main()
