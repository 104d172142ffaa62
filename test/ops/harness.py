"""Runs ONNX nodes through zero-opt and LLVM and compares with the ONNX reference.

A case is one node with numpy operands. Forward: the lowered node against
onnx.reference. Gradient: zero-differentiate of sum(result * weight) against
central differences of the reference in float64.
"""

import ctypes
import re
import subprocess
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import onnx
from onnx import helper
from onnx.reference import ReferenceEvaluator

TYPES = {"float32": "f32", "float64": "f64", "int64": "i64", "int32": "i32", "bool": "i1",
         "float16": "f16", "int8": "i8"}
SPLIT = "// -----\n"
CHECK = re.compile(r"^ *zero\.check (%[\w#]+) in ?\[(-?\d+), (-?\d+)\] .*\n", re.M)
LOWER = ("one-shot-bufferize{bufferize-function-boundaries"
         " function-boundary-type-conversion=identity-layout-map},"
         "convert-linalg-to-loops,expand-strided-metadata,lower-affine,"
         "convert-scf-to-cf,convert-math-to-llvm,convert-math-to-libm,finalize-memref-to-llvm,"
         "func.func(llvm-request-c-wrappers),convert-func-to-llvm,"
         "convert-arith-to-llvm,convert-index-to-llvm,convert-cf-to-llvm,"
         "reconcile-unrealized-casts")


@dataclass
class Case:
    """One node. `constant` names the operands (by position) that are part of the graph."""

    op: str
    inputs: list
    attrs: dict = field(default_factory=dict)
    constant: tuple = ()
    opset: int = 18
    outputs: int = 1
    gradient: tuple = ()  # positions of the operands to differentiate by
    tolerance: float = 1e-6
    fails_check: bool = False  # an index lies outside: only the check must say so
    by: object = None  # numpy's word where onnx.reference lacks the case: inputs -> results

    def __str__(self):
        shapes = ", ".join("-" if v is None else f"{v.dtype}{list(v.shape)}" for v in self.inputs)
        return f"{self.op}({shapes}) {self.attrs}"


def mlir_type(value):
    dims = "".join(f"{d}x" for d in value.shape)
    return f"tensor<{dims}{TYPES[value.dtype.name]}>"


def mlir_dense(value):
    def text(x):
        if value.dtype == bool:
            return "true" if x else "false"
        if value.dtype.kind == "f":
            return f"{float(x):.17e}"
        return str(int(x))

    def nested(v):
        return text(v) if v.ndim == 0 else "[" + ", ".join(nested(x) for x in v) + "]"

    return f"dense<{nested(value)}> : {mlir_type(value)}" if value.size else \
        f"dense<> : {mlir_type(value)}"


def mlir_attr(value):
    if isinstance(value, np.ndarray):
        return mlir_dense(value)
    if isinstance(value, str):
        return f'"{value}"'
    if isinstance(value, float):
        return f"{value:.17e} : f32"
    if isinstance(value, int):
        return f"{value} : i64"
    return f"array<i64: {', '.join(map(str, value))}>"


def reference(case, inputs):
    """The node's results by onnx.reference, or by numpy where that lacks the case."""
    if case.by:
        return [np.asarray(v) for v in case.by(*inputs)]
    names = [f"x{i}" if v is not None else "" for i, v in enumerate(inputs)]
    outputs = [f"y{i}" for i in range(case.outputs)]
    attrs = {k: onnx.numpy_helper.from_array(v) if isinstance(v, np.ndarray) else v
             for k, v in case.attrs.items()}
    node = helper.make_node(case.op, names, outputs, **attrs)
    infos = [helper.make_tensor_value_info(n, helper.np_dtype_to_tensor_dtype(v.dtype), v.shape)
             for n, v in zip(names, inputs) if v is not None]
    outs = [helper.make_empty_tensor_value_info(n) for n in outputs]
    graph = helper.make_graph([node], "case", infos, outs)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", case.opset)])
    feed = {n: v for n, v in zip(names, inputs) if v is not None}
    return [np.asarray(v) for v in ReferenceEvaluator(model).run(None, feed)]


def node_text(case, results, operand):
    """The onnx.node and the constants before it; `operand(i)` names operand i."""
    lines, names, types = [], [], []
    for i, value in enumerate(case.inputs):
        if value is None:
            lines.append(f"    %none{i} = onnx.none")
            names.append(f"%none{i}")
            types.append("none")
            continue
        if i in case.constant:
            lines.append(f"    %k{i} = arith.constant {mlir_dense(value)}")
        names.append(f"%k{i}" if i in case.constant else operand(i))
        types.append(mlir_type(value))
    attrs = ", ".join(f"{k} = {mlir_attr(v)}" for k, v in case.attrs.items())
    result_types = ", ".join(mlir_type(r) for r in results)
    names_out = ", ".join(f"%y{i}" for i in range(len(results)))
    lines.append(f'    {names_out} = onnx.node "{case.op}"({", ".join(names)}) {{{attrs}}} '
                 f'opset {case.opset} node "n" : ({", ".join(types)}) -> ({result_types})')
    return lines


def forward_module(case, results):
    fed = [i for i, v in enumerate(case.inputs) if v is not None and i not in case.constant]
    params = ", ".join(f"%x{i}: {mlir_type(case.inputs[i])}" for i in fed)
    types = ", ".join(mlir_type(r) for r in results)
    values = ", ".join(f"%y{i}" for i in range(len(results)))
    lines = [f"  func.func @step({params}) -> ({types}) {{"]
    lines += node_text(case, results, lambda i: f"%x{i}")
    lines += [f"    return {values} : {types}", "  }"]
    return "module {\n" + "\n".join(lines) + "\n}\n", [case.inputs[i] for i in fed]


def gradient_module(case, results, weights):
    """@step returns sum(result * weight); differentiated operands are parameters."""
    fed = [i for i, v in enumerate(case.inputs)
           if v is not None and i not in case.constant and i not in case.gradient]
    lines = [f"  zero.parameter @p{i} : {mlir_type(case.inputs[i])} {{splat = 0.0}}"
             for i in case.gradient]
    params = [f"%x{i}: {mlir_type(case.inputs[i])}" for i in fed]
    params += [f"%w{i}: {mlir_type(w)}" for i, w in weights.items()]
    scalar = f"tensor<{TYPES[case.inputs[case.gradient[0]].dtype.name]}>"
    lines.append(f"  func.func @step({', '.join(params)}) -> "
                 f'({scalar} {{zero.binding = "loss"}}) {{')
    lines += [f"    %p{i} = zero.read @p{i} : {mlir_type(case.inputs[i])}" for i in case.gradient]
    lines += node_text(case, results, lambda i: f"%p{i}" if i in case.gradient else f"%x{i}")
    total = None
    for i, w in weights.items():
        t = mlir_type(w)
        lines.append(f'    %m{i} = onnx.node "Mul"(%y{i}, %w{i}) {{}} opset 18 : ({t}, {t}) -> {t}')
        lines.append(f'    %s{i} = onnx.node "ReduceSum"(%m{i}) {{keepdims = 0 : i64}} opset 18 : '
                     f"({t}) -> {scalar}")
        if total:
            lines.append(f'    %t{i} = onnx.node "Add"({total}, %s{i}) {{}} opset 18 : '
                         f"({scalar}, {scalar}) -> {scalar}")
        total = f"%t{i}" if total else f"%s{i}"
    lines += [f"    return {total} : {scalar}", "  }"]
    values = [case.inputs[i] for i in fed] + list(weights.values())
    return "module {\n" + "\n".join(lines) + "\n}\n", values + [case.inputs[i] for i in case.gradient]


def as_function(text, name):
    """The one function of a module, as a plain one: parameters become
    arguments, gradients and checks results."""
    text = re.sub(r"(%\w+) = zero\.rank_share : (tensor<f(?:32|64)>)",
                  r"\1 = arith.constant dense<1.0> : \2", text)
    extra_args, extra = [], []
    text = re.sub(r"^ *zero\.parameter .*\n", "", text, flags=re.M)
    for result, symbol, type_ in re.findall(r"(%\w+) = zero\.read @(\w+) : (\S+)", text):
        extra_args.append((f"%{symbol}", type_))
        text = re.sub(rf"^ *{result} = zero\.read .*\n", "", text, flags=re.M)
        text = re.sub(rf"{result}\b", f"%{symbol}", text)
    extra_args.sort(key=lambda a: int(a[0][2:]))
    grads = re.findall(r"%\w+ = zero\.gradient @p(\d+), (%[\w#]+) : (\S+)", text)
    for _, value, type_ in sorted(grads, key=lambda g: int(g[0])):
        extra.append((value, type_))
    text = re.sub(r"^ *%\w+ = zero\.gradient .*\n", "", text, flags=re.M)
    bounds = []
    for value, low, high in CHECK.findall(text):
        bounds.append((int(low), int(high)))
        extra.append((value, "tensor<2xi64>"))
    text = CHECK.sub("", text)
    match = re.search(r"func\.func @step\((.*)\) -> (.*) \{\n", text)
    args = [a for a in [match.group(1)] if a] + [f"{n}: {t}" for n, t in extra_args]
    body = text[match.end():]
    values, types = re.search(r"return (.*) : (.*)\n", body).groups()
    values = ", ".join([values] + [v for v, _ in extra])
    types = ", ".join([types] + [t for _, t in extra])
    body = re.sub(r"return .*\n", f"return {values} : {types}\n", body)
    body = body[:body.rindex("}")]
    return f"func.func @{name}({', '.join(args)}) -> ({types}) {{\n{body}", bounds


def run_tool(command, text):
    done = subprocess.run(command, input=text, capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(f"{' '.join(command)}\n{done.stderr[:4000]}")
    return done.stdout


def descriptor(value):
    """The memref descriptor of an array, as 64-bit words."""
    words = [value.ctypes.data, value.ctypes.data, 0, *value.shape]
    stride, strides = 1, []
    for extent in reversed(value.shape):
        strides.insert(0, stride)
        stride *= extent
    return (ctypes.c_int64 * (3 + 2 * value.ndim))(*words, *strides)


def call(library, name, inputs, results):
    """Calls a function that takes `inputs`; `results` gives shapes and types."""
    words = sum(3 + 2 * r.ndim for r in results)
    out = (ctypes.c_int64 * words)()
    inputs = [v.copy(order="C") for v in inputs]  # bufferization may write to arguments
    descriptors = [descriptor(v) for v in inputs]
    getattr(library, f"_mlir_ciface_{name}")(ctypes.byref(out), *map(ctypes.byref, descriptors))
    values, at = [], 0
    for r in results:
        _, data, offset = out[at:at + 3]
        strides = out[at + 3 + r.ndim:at + 3 + 2 * r.ndim]
        at += 3 + 2 * r.ndim
        if r.size == 0:
            values.append(np.empty(r.shape, r.dtype))
            continue
        raw = (ctypes.c_char * (r.itemsize * (1 + sum((d - 1) * s for d, s in
                                                       zip(r.shape, strides)))))
        buffer = np.frombuffer(raw.from_address(data + offset * r.itemsize), r.dtype)
        values.append(np.lib.stride_tricks.as_strided(
            buffer, r.shape, [s * r.itemsize for s in strides]).copy())
    return values


def central_differences(case, weights, step=1e-6):
    inputs = [v.copy() if v is not None else None for v in case.inputs]

    def loss():
        results = reference(case, inputs)
        return sum((results[i] * w).sum() for i, w in weights.items())

    grads = []
    for position in case.gradient:
        x = inputs[position]
        grad = np.zeros_like(x)
        for index in np.ndindex(x.shape):
            old = x[index]
            x[index] = old + step
            above = loss()
            x[index] = old - step
            below = loss()
            x[index] = old
            grad[index] = (above - below) / (2 * step)
        grads.append(grad)
    return grads


class Tools:
    def __init__(self, zero_opt, llvm):
        self.zero_opt, self.llvm = zero_opt, Path(llvm)

    def functions(self, modules, pipeline, prefix):
        text = run_tool([self.zero_opt, "--split-input-file", "--mlir-print-local-scope",
                         f"--pass-pipeline={pipeline}"],
                        SPLIT.join(modules))
        parts = text.split(SPLIT)
        return [as_function(part, f"{prefix}{i}") for i, part in enumerate(parts)]

    def compile(self, functions, folder):
        text = "module {\n" + "\n".join(functions) + "\n}\n"
        (folder / "cases.mlir").write_text(text)
        lowered = run_tool([str(self.llvm / "mlir-opt"), f"--pass-pipeline=builtin.module({LOWER})"],
                           text)
        llvm_ir = run_tool([str(self.llvm / "mlir-translate"), "--mlir-to-llvmir"], lowered)
        (folder / "cases.ll").write_text(llvm_ir)
        library = folder / "cases.so"
        run_tool([str(self.llvm / "clang"), "-O1", "-shared", "-fPIC", "-Wno-override-module", "-o",
                  str(library), str(folder / "cases.ll"), f"-L{self.llvm.parent / 'lib'}",
                  f"-Wl,-rpath,{self.llvm.parent / 'lib'}", "-lmlir_c_runner_utils", "-lm"], "")
        return ctypes.CDLL(str(library))


def differs(got, want, tolerance):
    """What is wrong with `got`, or None."""
    if got.dtype.kind != "f":
        return None if np.array_equal(got, want) else f"got\n{got}\nexpected\n{want}"
    if not np.array_equal(np.isnan(got), np.isnan(want)):
        return "NaN in different places"
    scale = max(np.nanmax(np.abs(np.where(np.isinf(want), 0, want)), initial=0), 1)
    with np.errstate(invalid="ignore"):
        error = np.where(got == want, 0, np.abs(got.astype("f8") - want.astype("f8")))
    worst = np.nanmax(error, initial=0) / scale
    return None if worst <= tolerance else f"off by {worst:.3g}"


def check(cases, tools):
    """Runs all cases; returns the messages of those that fail."""
    rng = np.random.default_rng(0)
    results = [reference(case, case.inputs) for case in cases]
    forward = [forward_module(case, r) for case, r in zip(cases, results)]
    backward = []
    for index, case in enumerate(cases):
        if case.gradient:
            weights = {i: rng.standard_normal(r.shape).astype(r.dtype)
                       for i, r in enumerate(results[index]) if r.dtype.kind == "f"}
            backward.append((case, results[index], weights,
                             gradient_module(case, results[index], weights)))
    lower = "func.func(zero-expand-nodes,zero-fold-transposes,zero-lower-onnx),canonicalize"
    differentiate = f"func.func(zero-expand-nodes),zero-differentiate,{lower}"
    functions = tools.functions([m for m, _ in forward], f"builtin.module({lower})", "forward")
    if backward:
        functions += tools.functions([m[0] for *_, m in backward],
                                     f"builtin.module({differentiate})", "backward")
    with tempfile.TemporaryDirectory() as folder:
        library = tools.compile([text for text, _ in functions], Path(folder))
        failures = []
        for i, case in enumerate(cases):
            failures += forward_failures(library, i, case, results[i], forward[i][1],
                                         functions[i][1])
        for i, (case, result, weights, (_, inputs)) in enumerate(backward):
            failures += backward_failures(library, i, case, weights, inputs,
                                          functions[len(cases) + i][1])
    return failures


def forward_failures(library, index, case, want, inputs, bounds):
    pairs = [np.zeros(2, np.int64) for _ in bounds]
    got = call(library, f"forward{index}", inputs, want + pairs)
    inside = all(low <= p[0] and p[1] <= high for p, (low, high) in zip(got[len(want):], bounds))
    if inside == case.fails_check:
        return [f"{case}: check says {'inside' if inside else 'outside'}: {got[len(want):]}"]
    if case.fails_check:
        return []
    problems = [differs(g, w, case.tolerance) for g, w in zip(got, want)]
    return [f"{case}: result {i}: {p}" for i, p in enumerate(problems) if p]


def backward_failures(library, index, case, weights, inputs, bounds):
    want = central_differences(case, weights)
    loss = np.zeros((), case.inputs[case.gradient[0]].dtype)
    pairs = [np.zeros(2, np.int64) for _ in bounds]
    got = call(library, f"backward{index}", inputs, [loss] + want + pairs)
    problems = [differs(g, w, 1e-6) for g, w in zip(got[1:], want)]
    return [f"{case}: gradient of operand {p}: {text}"
            for p, text in zip(case.gradient, problems) if text]
