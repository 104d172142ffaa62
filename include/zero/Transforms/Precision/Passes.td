//===- Passes.td - store values in 16 bits -------------------------------===//

#ifndef ZERO_TRANSFORMS_PRECISION_PASSES_TD
#define ZERO_TRANSFORMS_PRECISION_PASSES_TD

include "mlir/Pass/PassBase.td"

def SetPrecision : Pass<"zero-set-precision", "::mlir::ModuleOp"> {
  let summary = "Stores parameters and values of the step in 16 bits";
  let description = [{
    With `precision` bf16 or fp16: parameters of f32, and the values of the step that
    are computed from them or from inputs, get the 16-bit element type; no node is
    added. What a node computes is f32 all the same: its result is rounded once, when
    it is stored (zero-form-kernels). f32 stay inputs, constants, buffers, what is
    computed from integers and constants alone (masks, tables), the loss, and the
    results that the op table keeps wide (losses, reductions, statistics of
    normalizations), with what is computed from those alone. docs/guides/precision.md has
    the list. Writes `zero.precision` on the module and, for fp16, adds the state
    `loss_scale`. What was done is a remark of category "precision". Refuses graphs
    that already train and programs of other ops than nodes.

    ```mlir
    zero.parameter @w : tensor<8x4xf32> {data = #zero.data<"m.onnx", 64, 128>}         // before
    zero.parameter @w : tensor<8x4xbf16> {data = #zero.data<"m.onnx", 64, 128, f32>}   // after
    ```
  }];
  let options = [
    Option<"precision", "precision", "::zero::Precision", /*default=*/"::zero::Precision::F32", "fp32, bf16 or fp16">,
    Option<"lossScale", "loss-scale", "double", /*default=*/"65536.0", "fp16: scale of the loss in the first step">];
  let dependentDialects = ["::zero::ZeroDialect", "::zero::onnx::OnnxDialect"];
}

def SetFrozenPrecision : Pass<"zero-set-frozen-precision", "::mlir::ModuleOp"> {
  let summary = "Store frozen parameters in 16 bits";
  let description = [{
    Frozen parameters of f32, what reads them and views of that get the 16-bit type
    `precision`. Kernels widen the values that they read: everything else keeps its
    type, so that a step computes what it would with frozen values rounded once. Writes
    `zero.frozen_precision` on the module. What was done is a remark of category
    "precision". Refuses a program that has `zero.precision`, whose parameters are of
    16 bits anyhow, and one without frozen parameters of f32.

    ```mlir
    zero.parameter @w : tensor<8x4xf32> {data = #zero.data<"m.onnx", 64, 128>, frozen}         // before
    zero.parameter @w : tensor<8x4xbf16> {data = #zero.data<"m.onnx", 64, 128, f32>, frozen}   // after
    ```
  }];
  let options = [Option<"precision", "precision", "::zero::HalfPrecision", /*default=*/"::zero::HalfPrecision::BF16", "bf16 or fp16">];
  let dependentDialects = ["::zero::ZeroDialect", "::zero::onnx::OnnxDialect"];
}

def VerifyPrecision : Pass<"zero-verify-precision", "::mlir::ModuleOp"> {
  let summary = "Checks that what must stay f32 is f32";
  let description = [{
    In a program with `zero.precision`: the loss and the results that the op table
    keeps wide are not of 16 bits, all parameters are of its type, no other state is
    of 16 bits, and no value is of the other 16-bit type. In one with
    `zero.frozen_precision`: only frozen parameters, their reads and views of these are
    of 16 bits, all of that type.
  }];
}

#endif // ZERO_TRANSFORMS_PRECISION_PASSES_TD
