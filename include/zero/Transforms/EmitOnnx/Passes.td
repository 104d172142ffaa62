//===- Passes.td - a step as plain ONNX operators -------------------------===//

#ifndef ZERO_TRANSFORMS_EMITONNX_PASSES_TD
#define ZERO_TRANSFORMS_EMITONNX_PASSES_TD

include "mlir/Pass/PassBase.td"

def ReturnState : Pass<"zero-return-state", "::mlir::ModuleOp"> {
  let summary = "Turn the state of a step into arguments and results";
  let description = [{
    The step of one rank and one micro-batch becomes a function without effects. Each state that
    it writes becomes an argument, bound to the name of the state, and a result with the next
    value, bound to the name with the suffix `.new`. The argument names its symbol
    (`zero.state`), which has the initial value. The number of the step becomes a state as well.
    Updates, norms and launches are replaced by nodes that compute what their kernels compute,
    on tensors of the shape of the parameter. Results other than the loss are dropped.

    Not supported: several micro-batches, and a step that a loss scale may skip.

    ```mlir
    zero.update @w [@w.m], %g by @sgd(%s) : tensor<8x4xf32>, (tensor<f32>)      // before

    func.func @step(..., %w: tensor<8x4xf32> {zero.binding = "w", zero.state = @w}, ...)
    %n = onnx.node "Sub"(%w, ...) ...                                           // after
    return %loss, %n, ...
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::zero::onnx::OnnxDialect",
                           "::zero::ZeroDialect"];
}

def DecomposeNodes : Pass<"zero-decompose-nodes", "::mlir::ModuleOp"> {
  let summary = "Replace nodes that plain ONNX lacks by nodes that it has";
  let description = [{
    Afterwards each node is an operator of ai.onnx with its meaning in opset 21. Operators that
    are products, convolutions or scatters have rules of their own (OpDef::plain). Each other
    operator of the domain `zero`, and each that is newer than the opset, is written from its
    lowering: loops over elements become nodes on tensors, reductions become `ReduceSum` and its
    kin, sums of products `Einsum`, accesses at computed indices `GatherND`. An operator whose
    lowering is none of these is an error that names the node. Checks of labels and indices are
    dropped, because ONNX has no operator that stops a run.

    ```mlir
    %d = onnx.node "SwishGrad"(%dy, %x) {alpha = 1.0 : f32} domain "zero" ...   // before

    %n = onnx.node "Neg"(%x) ...                                               // after
    %e = onnx.node "Exp"(%n) ...
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::linalg::LinalgDialect",
                           "::mlir::math::MathDialect", "::mlir::scf::SCFDialect",
                           "::mlir::tensor::TensorDialect", "::zero::onnx::OnnxDialect"];
}

#endif // ZERO_TRANSFORMS_EMITONNX_PASSES_TD
