//===- Passes.td - passes for tests alone --------------------------------===//

#ifndef ZERO_TEST_LIB_PASSES_TD
#define ZERO_TEST_LIB_PASSES_TD

include "mlir/Pass/PassBase.td"

def TestRemat : Pass<"zero-test-print-remat", "::mlir::ModuleOp"> {
  let summary = "Prints recomputation as planners see it";
  let description = [{
    Prints the rematerialisation problem of a step that has kernels as JSON, and the plans
    that `zero-plan-memory` would choose from, each with its peak (bytes of what forward and
    backward make) and its seconds of recomputation. For tests.
  }];
}

def LowerOnnx : Pass<"zero-lower-onnx", "::mlir::func::FuncOp"> {
  let summary = "Lowers every node in place, for tests and small programs";
  let description = [{
    Replaces each `onnx.node` of the function by what `OpDef::lower` builds, and each
    check that it asks for by `zero.check`. The step itself goes through kernels
    instead; this pass shows one operator's lowering by itself.

    ```mlir
    %y = onnx.node "Neg"(%x) {} opset 13 : (tensor<4xf32>) -> tensor<4xf32>   // before
    %y = linalg.generic ... { arith.negf ... }                                // after
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::linalg::LinalgDialect",
                           "::mlir::math::MathDialect", "::mlir::scf::SCFDialect",
                           "::mlir::tensor::TensorDialect", "::zero::ZeroDialect"];
}

def TestGradient : Pass<"zero-test-gradient", "::mlir::func::FuncOp"> {
  let summary = "Appends the gradients of a function's arguments, for tests";
  let description = [{
    Takes the gradient of each floating-point result as a further argument, and
    returns that of each argument that has one. The training step is
    differentiated by `zero-differentiate`; this pass tries single operators.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::zero::onnx::OnnxDialect"];
}

#endif // ZERO_TEST_LIB_PASSES_TD
