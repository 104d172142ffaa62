"""Runs functions that zero-opt has lowered to linalg, through LLVM's tools."""

import ctypes
import subprocess
from pathlib import Path

import numpy as np

LOWER = ("one-shot-bufferize{bufferize-function-boundaries"
         " function-boundary-type-conversion=identity-layout-map},"
         "convert-linalg-to-loops,expand-strided-metadata,lower-affine,"
         "convert-scf-to-cf,convert-math-to-llvm,convert-math-to-libm,finalize-memref-to-llvm,"
         "func.func(llvm-request-c-wrappers),convert-func-to-llvm,"
         "convert-arith-to-llvm,convert-index-to-llvm,convert-cf-to-llvm,"
         "reconcile-unrealized-casts")


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


class Tools:
    """LLVM's tools in `llvm`, and zero-opt."""

    def __init__(self, zero_opt, llvm):
        self.zero_opt, self.llvm = zero_opt, Path(llvm)

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
