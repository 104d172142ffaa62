//===- Passes.td - functions on tensors as steps --------------------------===//

#ifndef ZERO_TRANSFORMS_PROGRAM_PASSES_TD
#define ZERO_TRANSFORMS_PROGRAM_PASSES_TD

include "mlir/Pass/PassBase.td"

def InlineCalls : Pass<"zero-inline-calls", "::mlir::ModuleOp"> {
  let summary = "Inline all calls into the function that is the program";
  let description = [{
    The program is the only function that is public; without one, the function named `main`.
    Each `func.call` in it, also inside of loops, is replaced by the body of its callee, and the
    other functions are erased. A recursive call is an error.

    ```mlir
    %r = func.call @relu(%x) : (tensor<4xf32>) -> tensor<4xf32>        // before
    %r = "stablehlo.maximum"(%x, %zero) : ...                          // after
    ```
  }];
}

def UnrollLoops : Pass<"zero-unroll-loops", "::mlir::ModuleOp"> {
  let summary = "Unroll StableHLO's while loops of constant trip count";
  let description = [{
    A `stablehlo.while` whose condition compares an integer that the loop carries with a constant,
    and whose body adds a constant to it, is replaced by one copy of its body for each iteration.
    This is the form of JAX's `scan` and `fori_loop`. Any other loop, and `stablehlo.case` and
    `stablehlo.if`, are errors: the schedule of a step is fixed before it runs.
  }];
}

def ConvertStableHlo : Pass<"zero-convert-stablehlo", "::mlir::ModuleOp"> {
  let summary = "Convert the ops of StableHLO and CHLO to nodes";
  let description = [{
    Each op becomes one or a few `onnx.node` with the same meaning. What follows from constants
    alone is folded, such as the counters of unrolled loops and the indices that are computed from
    them. All ops that have no such form are listed in one error.

    ```mlir
    %y = "stablehlo.add"(%a, %b) : ...                                 // before
    %y = onnx.node "Add"(%a, %b) {} opset 23 : ...                     // after
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::zero::onnx::OnnxDialect",
                           "::zero::ZeroDialect"];
}

def RaiseLinalg : Pass<"zero-raise-linalg", "::mlir::ModuleOp"> {
  let summary = "Raise ops of linalg and tensor to nodes";
  let description = [{
    Ops of linalg, tensor, arith and math on tensors become `onnx.node`s where a node or a few
    have the same meaning: products, convolutions, elementwise generics, reductions, gathers,
    views. The recognition of patterns, fusion and the library's products are then the same for
    all front ends. An op without such a form stays; it becomes a kernel of its own.

    ```mlir
    %y = linalg.matmul ins(%a, %b : ...) outs(%zero : ...) -> ...      // before
    %y = onnx.node "MatMul"(%a, %b) {} opset 23 : ...                  // after
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::zero::onnx::OnnxDialect",
                           "::zero::ZeroDialect"];
}

def FoldBroadcasts : Pass<"zero-fold-broadcasts", "::mlir::func::FuncOp"> {
  let summary = "Fold explicit broadcasts into elementwise nodes";
  let description = [{
    Other front ends broadcast operands before each elementwise op. ONNX's elementwise nodes
    broadcast their operands themselves, so an Expand whose result only they read is dropped.

    ```mlir
    %e = onnx.node "Expand"(%s, %shape) ... -> tensor<4x8xf32>         // before
    %y = onnx.node "Mul"(%x, %e) {} ...

    %y = onnx.node "Mul"(%x, %s) {} ...                                // after
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::zero::onnx::OnnxDialect"];
}

def BindArguments : Pass<"zero-bind-arguments", "::mlir::ModuleOp"> {
  let summary = "Turn the program into a step with state, data and a loss";
  let description = [{
    The program is a function of state and data. It becomes `@step`: arguments that are state
    become symbols, which it reads and, if the program returns their next value, writes; data
    remain arguments.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::zero::onnx::OnnxDialect",
                           "::zero::ZeroDialect"];
}

#endif // ZERO_TRANSFORMS_PROGRAM_PASSES_TD
