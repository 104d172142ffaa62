//===- Passes.td - passes of lib/Codegen ----------------------------------===//

#ifndef ZERO_CODEGEN_PASSES_TD
#define ZERO_CODEGEN_PASSES_TD

include "mlir/Pass/PassBase.td"

def AnnotateCosts : Pass<"zero-annotate-costs", "::mlir::func::FuncOp"> {
  let summary = "Writes the operations and bytes of one launch on each kernel";
  let description = [{
    `zero.flops` and `zero.bytes` of a `zero.kernel` function, counted while its
    body is still linalg on tensors. Of a dynamic dimension one element counts.
  }];
}

def MatchLibrary : Pass<"zero-match-library", "::mlir::ModuleOp"> {
  let summary = "Finds kernels that a library computes";
  let description = [{
    A kernel whose body is one f32 contraction over zeros, between views of its
    operands and result (reshapes, transposes, broadcasts, 16-bit floats extended and
    the result rounded to them), perhaps scaled by a
    constant or followed by a bias along n, gets `zero.library`: the fields of the
    message Matmul in runtime/format/executable.proto, strides in elements. Its
    arguments, and the operands of its launches, become A, B and the bias in this
    order. The body is no longer compiled. What doesn't match stays native.

    ```mlir
    func.func private @k(%a: tensor<4x8xf32>, %b: tensor<16x8xf32>) -> tensor<4x16xf32>
        attributes {zero.kernel, zero.library = {kind = "matmul", m = 4, n = 16, k = 8,
          batch = array<i64>, a_strides = array<i64: 8, 1>, b_strides = array<i64: 1, 8>,
          c_strides = array<i64: 16, 1>, alpha = 1.0 : f32, bias = false}}
    ```

    Where not all arguments are f32, `stored = [bf16, f32, bf16]` says how each lies
    in memory, the result last. A kernel with `zero.call`, where the operator itself says which call it is (a
    convolution and its gradients), gets that call if the library has it.

    The workspace of a call suffices for the given threads of a rank, and for fewer. The
    module says for how many, in `zero.threads`.
  }];
  let options = [Option<"threads", "threads", "unsigned", "1",
                        "threads of a rank that scratch memory is planned for">];
}

def FuseKernels : Pass<"zero-fuse-kernels", "::mlir::func::FuncOp"> {
  let summary = "Rewrites the linalg ops of a kernel as few loop nests over scalars";
  let description = [{
    Softmax, normalisations, losses and their gradients become one loop over rows;
    chains of elementwise ops one loop nest without intermediate tensors; sums over
    rows run beside them, column innermost. An argument with `zero.inplace` is
    overwritten element by element where its readers allow it.
  }];
  let dependentDialects = ["::mlir::affine::AffineDialect", "::mlir::scf::SCFDialect",
                           "::mlir::tensor::TensorDialect", "::mlir::linalg::LinalgDialect",
                           "::mlir::arith::ArithDialect"];
}

def BufferizeKernels : Pass<"zero-bufferize-kernels", "::mlir::ModuleOp"> {
  let summary = "Turns kernels into functions over buffers that allocate nothing";
  let description = [{
    Arguments are the inputs in order, then the results that do not share the buffer
    of an argument, then the workspace (64-byte aligned, `zero.workspace` bytes on the
    function) if there is one. Temporaries of at most 64 KiB lie on the stack.
    Where the iterations of a loop depend on each other in no memory, threads may share
    them: `zero.extent` says how many there are, or 1 for those of a dynamic dimension,
    and two more arguments, `begin` and `end`, which of them one call runs.
    Library kernels keep their tensors.
  }];
  let dependentDialects = ["::mlir::bufferization::BufferizationDialect",
                           "::mlir::memref::MemRefDialect", "::mlir::linalg::LinalgDialect",
                           "::mlir::scf::SCFDialect", "::mlir::arith::ArithDialect",
                           "::mlir::affine::AffineDialect"];
}

#endif // ZERO_CODEGEN_PASSES_TD
