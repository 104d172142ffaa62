//===- Passes.td - form kernels of nodes ---------------------------------===//

#ifndef ZERO_TRANSFORMS_KERNELS_PASSES_TD
#define ZERO_TRANSFORMS_KERNELS_PASSES_TD

include "mlir/Pass/PassBase.td"

def ViewSlices : Pass<"zero-view-slices", "::mlir::ModuleOp"> {
  let summary = "Read rows of state in place instead of copying them";
  let description = [{
    Programs that scan over layers stack the weights of all layers in one parameter, and slice it
    for each. A Slice of whole rows of state is a range of its elements: it becomes a view, unless
    it starts where no tensor may. Each reader gets a view of its own, so that backward may read a
    parameter that is gathered again.

    ```mlir
    %l = onnx.node "Slice"(%w, %one, %two, %zero, %one) ... -> tensor<1x8x8xf32>    // before
    %l = zero.member %w at 64 : (tensor<4x8x8xf32>) -> tensor<1x8x8xf32>            // after
    ```
  }];
  let dependentDialects = ["::zero::ZeroDialect"];
}

def SortRows : Pass<"zero-sort-rows", "::mlir::func::FuncOp"> {
  let summary = "Let gradients of tables sort their indices, so that rows are independent";
  let description = [{
    For GPUs. `GatherGrad` adds slices to rows of a table one after the other: work for one core.
    With the attribute `sorted` its lowering finds the slices of each row by a stable sort, and
    adds them in the same order.

    ```mlir
    %g = onnx.node "GatherGrad"(%dy, %ids) {axis = 0, shape = ...} ...            // before
    %g = onnx.node "GatherGrad"(%dy, %ids) {axis = 0, shape = ..., sorted} ...    // after
    ```
  }];
}

def ChunkSums : Pass<"zero-chunk-sums", "::mlir::ModuleOp"> {
  let summary = "Let one launch sum the blocks of many tensors";
  let description = [{
    For GPUs. The squares of the elements of a tensor are summed in blocks of 64. On a CPU one launch
    for each tensor adds up its blocks. The kernel of that launch is replaced by two: the first sums
    chunks of up to 4096 blocks of all tensors of a bucket, the second the chunks of each tensor.
    `partition` launches them once for many tensors. A chunk has blocks of one tensor only and
    begins at a multiple of 4096 of its blocks, so buckets and shards do not change the sums.

    ```mlir
    %s = zero.square_sum %g by [@squares, @total] ...                     // before
    %s = zero.square_sum %g by [@squares, @chunk_sums_f32, @chunk_sums_f64] ...  // after
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::linalg::LinalgDialect",
                           "::mlir::tensor::TensorDialect", "::zero::ZeroDialect"];
}

def FormKernels : Pass<"zero-form-kernels", "::mlir::ModuleOp"> {
  let summary = "Group nodes into kernels and lower them to linalg";
  let description = [{
    A matrix product absorbs what is added to its result: a row, and a tensor of the shape of
    the result. It accumulates into that tensor in place (`zero.inplace`) if nothing else reads
    it. An elementwise node joins the kernel of its consumer if that is its only user and
    computes the same number of elements. Every other node starts a kernel, except views, which
    stay in the step as tensor reshapes. Each group becomes one private function, built by the
    lowerings of the operators, and one `zero.launch`. Constants are cloned into the kernels
    that use them.

    Floats that the step stores in 16 bits are extended where a kernel reads them. All
    arithmetic is in f32, and results are rounded once at the end. A Cast rounds where it
    occurs, and nodes that only move elements do not convert them.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::linalg::LinalgDialect",
                           "::mlir::math::MathDialect", "::mlir::scf::SCFDialect",
                           "::mlir::tensor::TensorDialect", "::mlir::vector::VectorDialect",
                           "::zero::ZeroDialect"];
}

def DeduplicateKernels : Pass<"zero-deduplicate-kernels", "::mlir::ModuleOp"> {
  let summary = "Deduplicate equal kernels";
  let description = [{
    Kernels are equal if their bodies and signatures are, except for names and other discardable
    attributes. Runs before fusion and bufferization, which then process a few dozen functions
    instead of thousands. Linear: a structural hash that includes regions, then a comparison
    with one candidate.
  }];
}

def CountLengths : Pass<"zero-count-lengths", "::mlir::ModuleOp"> {
  let summary = "Count the operations of attention over documents of given lengths";
  let description = [{
    The operations of an attention with segments depend on the data. Its kernel counts those of
    rows of one document each; this pass scales `zero.flops` to rows filled by documents whose
    lengths have the distribution of `lengths`: a file with a line `LENGTH COUNT` for each length,
    or a folder of tokens. A document that is longer than a row counts as rows. It is an error if
    no attention has segments, since the option would have no effect.

    Memory does not depend on it: any data fits.
  }];
  let options = [Option<"lengths", "lengths", "std::string", "",
                        "the file or folder">];
}

def VerifyKernels : Pass<"zero-verify-kernels", "::mlir::ModuleOp"> {
  let summary = "Verify that the step launches only kernels with known costs";
}

#endif // ZERO_TRANSFORMS_KERNELS_PASSES_TD
