//===- Passes.td - add the gradient --------------------------------------===//

#ifndef ZERO_TRANSFORMS_DIFFERENTIATE_PASSES_TD
#define ZERO_TRANSFORMS_DIFFERENTIATE_PASSES_TD

include "mlir/Pass/PassBase.td"

def TileParameters : Pass<"zero-tile-parameters", "::mlir::ModuleOp"> {
  let summary = "Partition large parameters and the ops that read them into tiles";
  let description = [{
    Memory-centric tiling (ZeRO-Infinity, arXiv 2104.07857, section 5.1.3). A parameter of more
    than `bytes` bytes is split into the smallest number of parts of at most `bytes` bytes, as
    equal as possible. Each part is a parameter (`zero.part_of`) with its own bucket, gradient and
    optimizer states, so that one part is gathered at a time. The nodes that read the parameter
    are cloned for each part, in sequence:

    - A product is split by rows or columns of its result, a convolution by its output channels,
      and the parts of the result are concatenated. A summed dimension is never split.
    - A Gather of rows is split by rows of the table. Each part fills in the rows that it holds.
    - A product that computes the scores of a cross-entropy, and that no other node reads,
      becomes one node, `ProjectionLoss`, which zero-tile-vocabulary expands.

    All readers must split the same dimension. An error names the node and the size if a split
    is not supported: another operator, or a limit below one row or column. Does nothing if
    `bytes` is 0. Decisions are remarks of category "tiles".

    ```mlir
    zero.parameter @w : tensor<8x4xf32> {data = ...}                              // before
    %y = onnx.node "MatMul"(%x, %w) ... -> tensor<2x4xf32>

    zero.parameter @"w.part0" : tensor<8x2xf32> {data = ..., zero.part_of = ...}     // after
    zero.parameter @"w.part1" : tensor<8x2xf32> {data = ..., zero.part_of = ...}
    %0 = onnx.node "MatMul"(%x, %w0) ... -> tensor<2x2xf32>
    %1 = onnx.node "MatMul"(%x, %w1) ... -> tensor<2x2xf32>
    %y = onnx.node "Concat"(%0, %1) {axis = 1 : i64} ... -> tensor<2x4xf32>
    ```
  }];
  let options = [
    Option<"bytes", "bytes", "uint64_t", "0", "largest part of a parameter; 0: no limit">];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::zero::ZeroDialect",
                           "::zero::onnx::OnnxDialect"];
}

def Differentiate : Pass<"zero-differentiate", "::mlir::ModuleOp"> {
  let summary = "Append the gradient of the loss to the step function";
  let description = [{
    Reverse mode over the op table: visits the nodes of `@step` in reverse order from the
    returned loss, asks each operator for the gradients of its operands, sums the gradients that
    arrive from several users in the order of the visit, and appends one `zero.gradient` for
    each parameter that is not frozen. The seed is `zero.rank_share`, so that the sum over ranks
    is the gradient of the mean loss; in a program that computes in f16, the seed is multiplied
    by the state `loss_scale`. Only values on a path from a trained parameter to the loss are
    visited.

    No rule is not a zero derivative. The op table marks the operators whose derivative is zero.
    Any other operator without a rule is replaced by the nodes that compute the same, by
    its rule (OpDef::plain) or from its lowering, and these are differentiated; if there are
    none, it is an error at the node. A rule that leaves out an operand, or ignores the gradient of
    a result, is an error, too.

    ```mlir
    %l = onnx.node "ReduceSum"(%y) ...          // before: returned
    %s = zero.rank_share : tensor<f32>          // after
    %dy = onnx.node "Expand"(%s, ...) ...
    %g = zero.gradient @w, %dw : tensor<8x4xf32> -> tensor<8x4xf32>
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::linalg::LinalgDialect",
                           "::mlir::math::MathDialect", "::mlir::scf::SCFDialect",
                           "::mlir::tensor::TensorDialect", "::zero::ZeroDialect",
                           "::zero::onnx::OnnxDialect"];
}

def ExpandGradients : Pass<"zero-expand-gradients", "::mlir::ModuleOp"> {
  let summary = "Replace Gradient nodes by the backward pass that they stand for";
  let description = [{
    ONNX's Gradient (ai.onnx.preview.training) is the gradient of the sum of the elements of `y`
    with respect to the tensors `xs`; the tensors `zs` are constants. Its operands are the values
    of `xs` and `zs` at which it is computed, the tensors of these names, and y. The nodes between
    are differentiated by the rules of the op table, as zero-differentiate does it. If the values
    are not the tensors themselves, the nodes between are recomputed from the values. A tensor
    that y does not depend on has gradient 0. Gradients of gradients are expanded in order; a
    fused gradient, such as `SoftmaxGrad`, is then replaced by nodes with gradients.

    ```mlir
    %y = onnx.node "Mul"(%c, %a) {} opset 13 : ...                                 // before
    %g = onnx.node "Gradient"(%a, %a, %y) {xs = ["a"], y = "y"} domain
        "ai.onnx.preview.training" opset 1 : ...
    %one = arith.constant dense<1.0> : tensor<f32>                                 // after
    %g = onnx.node "Mul"(%one, %c) {} opset 13 : ...
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::linalg::LinalgDialect",
                           "::mlir::math::MathDialect", "::mlir::scf::SCFDialect",
                           "::mlir::tensor::TensorDialect", "::zero::ZeroDialect",
                           "::zero::onnx::OnnxDialect"];
}

def VerifyGradients : Pass<"zero-verify-gradients", "::mlir::ModuleOp"> {
  let summary = "Verify that each trained parameter has exactly one gradient";
}

#endif // ZERO_TRANSFORMS_DIFFERENTIATE_PASSES_TD
