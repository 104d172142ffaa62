//===- Passes.td - store values in 16 bits -------------------------------===//

#ifndef ZERO_TRANSFORMS_PRECISION_PASSES_TD
#define ZERO_TRANSFORMS_PRECISION_PASSES_TD

include "mlir/Pass/PassBase.td"

def SetPrecision : Pass<"zero-set-precision", "::mlir::ModuleOp"> {
  let summary = "Store parameters and values of the step in 16 bits";
  let description = [{
    With `precision` bf16 or fp16, parameters of f32 and the values of the step that are
    computed from them or from inputs get the 16-bit element type. No node is added. Nodes still
    compute in f32; a result is rounded once, when it is stored (zero-form-kernels). The
    following stay f32: inputs, constants, buffers, values that are computed from integers and
    constants alone (masks, tables), the loss, the results that the op table keeps wide (losses,
    reductions, statistics of normalizations), and values that are computed from these alone.
    docs/guides/precision.md has the list. Writes `zero.precision` on the module and, for fp16,
    adds the state `loss_scale`. A remark of category "precision" reports the conversion. Graphs
    that already contain a training step, and programs with other ops than nodes, are errors.

    ```mlir
    zero.parameter @w : tensor<8x4xf32> {data = #zero.data<"m.onnx", 64, 128>}         // before
    zero.parameter @w : tensor<8x4xbf16> {data = #zero.data<"m.onnx", 64, 128, f32>}   // after
    ```
  }];
  let options = [
    Option<"precision", "precision", "::zero::Precision", /*default=*/"::zero::Precision::F32",
           "fp32, bf16 or fp16">,
    Option<"lossScale", "loss-scale", "double", /*default=*/"65536.0",
           "fp16: scale of the loss in the first step">];
  let dependentDialects = ["::zero::ZeroDialect", "::zero::onnx::OnnxDialect"];
}

def SetFrozenPrecision : Pass<"zero-set-frozen-precision", "::mlir::ModuleOp"> {
  let summary = "Decide how frozen parameters are stored";
  let description = [{
    With `precision` bf16 or fp16, frozen parameters of f32, their readers and views of them get
    that type. Kernels extend the values that they read. Everything else keeps its type, so that a
    step computes the same as with frozen values that were rounded once.

    With nf4, int8 or fp8, frozen matrices that only products read, and sums of squares beside
    them (DoRA), get `blocks`: zero-encode-parameters stores them so, with a scale for each 64
    elements, and scales in blocks of 256 (QLoRA, arXiv 2305.14314, section 3). The product that
    gives the scores of the loss keeps its weights, and so do matrices of less than 4096 elements
    and those of which 64 is no divisor. The other frozen parameters get bf16, unless all have 16
    bits.

    Writes `zero.frozen_precision` on a module whose frozen parameters alone have 16 bits. A remark
    of category "precision" reports the conversion. A program with `zero.precision`, for bf16 and
    fp16, and a program without frozen floats are errors.

    ```mlir
    // before
    zero.parameter @w : tensor<64x64xf32> {data = #zero.data<"m.onnx", 64, 16384>, frozen}
    // after, with bf16
    zero.parameter @w : tensor<64x64xbf16> {data = #zero.data<"m.onnx", 64, 16384, f32>, frozen}
    // after, with nf4
    zero.parameter @w : tensor<64x64xf32> {data = #zero.data<"m.onnx", 64, 16384>, frozen,
                                           blocks = #zero.blocks<4, 64, nf4, @"w.scale">}
    ```
  }];
  let options = [Option<"precision", "precision", "::zero::FrozenPrecision",
                        /*default=*/"::zero::FrozenPrecision::BF16",
                        "bf16, fp16, nf4, int8 or fp8">];
  let dependentDialects = ["::zero::ZeroDialect", "::zero::onnx::OnnxDialect"];
}

def VerifyPrecision : Pass<"zero-verify-precision", "::mlir::ModuleOp"> {
  let summary = "Verify that values that must stay f32 are f32";
  let description = [{
    In a program with `zero.precision`: the loss and the results that the op table keeps wide do
    not have 16 bits, all parameters have its type, no other state has 16 bits, and no value has
    the other 16-bit type. In a program with `zero.frozen_precision`: only frozen parameters,
    their reads and views of these have 16 bits, all of that type but those in `blocks`.
  }];
}

#endif // ZERO_TRANSFORMS_PRECISION_PASSES_TD
