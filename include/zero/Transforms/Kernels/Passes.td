//===- Passes.td - form kernels of nodes ---------------------------------===//

#ifndef ZERO_TRANSFORMS_KERNELS_PASSES_TD
#define ZERO_TRANSFORMS_KERNELS_PASSES_TD

include "mlir/Pass/PassBase.td"

def FormKernels : Pass<"zero-form-kernels", "::mlir::ModuleOp"> {
  let summary = "Groups nodes into kernels and lowers them to linalg";
  let description = [{
    A matrix product adds what is added to its result: a row, and a tensor of the
    result's shape, in whose place it adds (`zero.inplace`) if nobody else reads that.
    An elementwise node joins the kernel of its consumer when that is its only
    user and computes as many elements; every other node starts a kernel, except
    views, which stay in the step as tensor reshapes. Each group becomes one
    private function made by the operators' lowerings and one `zero.launch`.
    Constants are cloned into the kernels that use them. Floats that the step stores
    in 16 bits are extended where a kernel reads them, everything is computed in
    f32, and results are rounded once at the end; a Cast rounds where it stands, and
    nodes that only move elements move them as they are.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::linalg::LinalgDialect",
                           "::mlir::math::MathDialect", "::mlir::scf::SCFDialect",
                           "::mlir::tensor::TensorDialect", "::zero::ZeroDialect"];
}

def DeduplicateKernels : Pass<"zero-deduplicate-kernels", "::mlir::ModuleOp"> {
  let summary = "Keeps one of all kernels that do the same";
  let description = [{
    Kernels are the same when their bodies and signatures are, names and other
    discardable attributes aside. Runs before fusion and bufferization, which
    then see a few dozen functions instead of thousands. Linear: a structural
    hash that enters regions, then a comparison with one candidate.
  }];
}

def VerifyKernels : Pass<"zero-verify-kernels", "::mlir::ModuleOp"> {
  let summary = "Checks that the step is launches of kernels with known costs";
}

#endif // ZERO_TRANSFORMS_KERNELS_PASSES_TD
