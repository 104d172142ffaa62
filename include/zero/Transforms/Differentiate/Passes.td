//===- Passes.td - add the gradient --------------------------------------===//

#ifndef ZERO_TRANSFORMS_DIFFERENTIATE_PASSES_TD
#define ZERO_TRANSFORMS_DIFFERENTIATE_PASSES_TD

include "mlir/Pass/PassBase.td"

def TileParameters : Pass<"zero-tile-parameters", "::mlir::ModuleOp"> {
  let summary = "Cuts parameters above a size, and what reads them, into tiles";
  let description = [{
    Memory-centric tiling (ZeRO-Infinity, arXiv 2104.07857, section 5.1.3). A parameter
    of more than `bytes` becomes as few parts of at most that as there can be, as even as
    possible, each a parameter of its own (`zero.part`): with its own bucket, gradient
    and states, so that one part is gathered at a time. What reads it is written once
    for each part, in sequence:

    - a matrix product by rows or columns of its result, which are then joined: nothing
      that is summed is cut;
    - a Gather of rows by rows of the table: each part fills in the rows that it has;
    - a product that makes the scores of a cross-entropy, and nothing else reads, becomes
      one node, `ProjectionLoss`, which zero-tile-vocabulary writes out.

    Every reader must cut the same dimension. What cannot be cut is refused, with the
    node and the size: another operator, a limit below one row or column. Does nothing
    when `bytes` is 0. Decisions are remarks of category "tiles".

    ```mlir
    zero.parameter @w : tensor<8x4xf32> {data = ...}                              // before
    %y = onnx.node "MatMul"(%x, %w) ... -> tensor<2x4xf32>

    zero.parameter @"w.part0" : tensor<8x2xf32> {data = ..., zero.part = ...}     // after
    zero.parameter @"w.part1" : tensor<8x2xf32> {data = ..., zero.part = ...}
    %0 = onnx.node "MatMul"(%x, %w0) ... -> tensor<2x2xf32>
    %1 = onnx.node "MatMul"(%x, %w1) ... -> tensor<2x2xf32>
    %y = onnx.node "Concat"(%0, %1) {axis = 1 : i64} ... -> tensor<2x4xf32>
    ```
  }];
  let options = [
    Option<"bytes", "bytes", "uint64_t", "0", "largest part of a parameter; 0: any">];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::zero::ZeroDialect",
                           "::zero::onnx::OnnxDialect"];
}

def Differentiate : Pass<"zero-differentiate", "::mlir::ModuleOp"> {
  let summary = "Appends the gradient of the loss to the step function";
  let description = [{
    Reverse mode over the op table: walks the nodes of `@step` backwards from its
    returned loss, asks each operator for its operands' gradients, sums what
    arrives from several users in the order of the walk, and ends with one
    `zero.gradient` for each parameter that is not frozen. The seed is
    `zero.rank_share`, so that the sum over ranks is the gradient of the mean
    loss; in a program that computes in f16, times the state `loss_scale`. Only values on a path from a trained parameter to the loss are visited.

    ```mlir
    %l = onnx.node "ReduceSum"(%y) ...          // before: returned
    %s = zero.rank_share : tensor<f32>          // after
    %dy = onnx.node "Expand"(%s, ...) ...
    %g = zero.gradient @w, %dw : tensor<8x4xf32> -> tensor<8x4xf32>
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::zero::ZeroDialect", "::zero::onnx::OnnxDialect"];
}

def VerifyGradients : Pass<"zero-verify-gradients", "::mlir::ModuleOp"> {
  let summary = "Checks that each trained parameter has exactly one gradient";
}

#endif // ZERO_TRANSFORMS_DIFFERENTIATE_PASSES_TD
