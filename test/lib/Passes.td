//===- Passes.td - passes for tests only ---------------------------------===//

#ifndef ZERO_TEST_LIB_PASSES_TD
#define ZERO_TEST_LIB_PASSES_TD

include "mlir/Pass/PassBase.td"

def TestRemat : Pass<"zero-test-print-remat", "::mlir::ModuleOp"> {
  let summary = "Print the rematerialization problem and its plans";
  let description = [{
    Prints the rematerialization problem of a step that has kernels as JSON, and the plans that
    `zero-plan-memory` would choose from, each with its peak (bytes of the values of forward and
    backward) and its seconds of recomputation. For tests.
  }];
}

def LowerOnnx : Pass<"zero-lower-onnx", "::mlir::func::FuncOp"> {
  let summary = "Lower every node in place, for tests and small programs";
  let description = [{
    Replaces each `onnx.node` of the function by the result of `OpDef::lower`, and each check
    that it requests by `zero.check`. The step itself uses kernels instead; this pass shows the
    lowering of a single operator.

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
  let summary = "Append the gradients of a function's arguments, for tests";
  let description = [{
    Takes the gradient of each floating-point result as an additional argument, and returns that
    of each argument that has one. `zero-differentiate` differentiates the training step; this
    pass tests single operators.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::zero::onnx::OnnxDialect"];
}

def TestPrintFactors : Pass<"zero-test-print-factors", "::mlir::func::FuncOp"> {
  let summary = "Print the factors of each node";
  let description = [{
    Remarks, at each node, the dimensions of its operands and results: one letter for each factor
    that they belong to, `*` for a dimension that has to be whole, `-` where there is no tensor.

    ```
    MatMul: (ki, ij) -> (kj) sum i
    ```
  }];
}

def TestDivideNodes : Pass<"zero-test-divide-nodes", "::mlir::func::FuncOp"> {
  let summary = "Apply each node to parts of its operands, along all of its factors";
  let description = [{
    Replaces each node by copies that compute on two parts of its operands, or on the least number
    that divides them, and what they make together: their results one behind the other, their sum,
    or their mean. The program computes the same, up to the order of sums. For tests.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::zero::onnx::OnnxDialect"];
}

def TestEvaluateNodes : Pass<"zero-test-evaluate-nodes", "::mlir::func::FuncOp"> {
  let summary = "Replace nodes on constants by their results";
  let description = [{
    Evaluates each node whose operands are constants, by the definition of its operator, and remarks
    that it did. At the function it remarks which operators have an evaluation. For tests.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::zero::onnx::OnnxDialect"];
}

#endif // ZERO_TEST_LIB_PASSES_TD
