//===- Passes.td - passes of lib/Codegen ----------------------------------===//

#ifndef ZERO_CODEGEN_PASSES_TD
#define ZERO_CODEGEN_PASSES_TD

include "mlir/Pass/PassBase.td"

def AnnotateCosts : Pass<"zero-annotate-costs", "::mlir::func::FuncOp"> {
  let summary = "Annotate kernels with the FLOPs and bytes of one launch";
  let description = [{
    Writes `zero.flops` and `zero.bytes` on each `zero.kernel` function. They are counted while
    the body is still linalg on tensors. A dynamic dimension counts as one element.
  }];
}

def MatchLibrary : Pass<"zero-match-library", "::mlir::ModuleOp"> {
  let summary = "Match kernels that a library call can compute";
  let description = [{
    A kernel gets `zero.library` if its body is one f32 contraction with a zero accumulator
    between views of its operands and its result. Views are reshapes, transposes, broadcasts,
    the extension of 16-bit floats, and the rounding of the result to them. The contraction may
    be scaled by a constant or followed by a bias along n. `zero.library` has the fields of the
    message Matmul in runtime/format/executable.proto; strides are in elements. The arguments of
    the kernel and the operands of its launches become A, B and the bias, in this order. The
    body is no longer compiled. A kernel that does not match remains native.

    ```mlir
    func.func private @k(%a: tensor<4x8xf32>, %b: tensor<16x8xf32>) -> tensor<4x16xf32>
        attributes {zero.kernel, zero.library = {kind = "matmul", m = 4, n = 16, k = 8,
          batch = array<i64>, a_strides = array<i64: 8, 1>, b_strides = array<i64: 1, 8>,
          c_strides = array<i64: 16, 1>, alpha = 1.0 : f32, bias = false}}
    ```

    If not all arguments are f32, `stored = [bf16, f32, bf16]` lists the element type of each
    argument in memory, the result last. If both factors of a product are bf16 and the target CPU
    multiplies bf16, `operands = bf16` multiplies them as they are stored, unless the library has
    no such product. Otherwise they are converted to f32. A kernel with `zero.call`, where the
    operator itself names its library call (a convolution and its gradients), gets that call if
    the library supports it.

    For device `cuda` the module carries `zero.device`. There, only matrix products are library
    calls, all of them use the same workspace, and B is not reordered. Operands that cuBLASLt does
    not multiply as they are stored are converted by launches of separate kernels: to the element
    type of the result. A product that the runtime would refuse remains native.

    The workspace of a call is large enough for `threads` threads of a rank, and for fewer. The
    module records the number in `zero.threads` and the target CPU in `zero.target_cpu`.
  }];
  let options = [Option<"threads", "threads", "unsigned", "1",
                        "threads of a rank that the workspace is planned for">,
                 Option<"device", "device", "::zero::Device", "::zero::Device::Cpu",
                        "cpu or cuda">,
                 Option<"targetCpu", "target-cpu", "std::string", "\"native\"",
                        "native, a level of the x86-64 psABI, aarch64[:FEATURE,...], or a processor "
                        "that LLVM knows">];
  let dependentDialects = ["::mlir::tensor::TensorDialect", "::mlir::linalg::LinalgDialect",
                           "::mlir::arith::ArithDialect"];
}

def CloneHostKernels : Pass<"zero-clone-host-kernels", "::mlir::ModuleOp"> {
  let summary = "Clone kernels of a program for GPUs for the cores of the host";
  let description = [{
    Each native kernel `@k` gets a clone `@k_host` with `zero.host_kernel`, which later passes
    compile for the CPU. zero-insert-transfers decides which launches run on the host; it erases
    the kernels that no launch names. The module records the CPU in `zero.target_cpu`.
  }];
  let options = [Option<"targetCpu", "target-cpu", "std::string", "\"native\"",
                        "native, a level of the x86-64 psABI, aarch64[:FEATURE,...], or a processor "
                        "that LLVM knows">];
}

def WidenSums : Pass<"zero-widen-sums", "::mlir::func::FuncOp"> {
  let summary = "Add the terms of long sums of floats in doubles";
  let description = [{
    An f32 accumulator that adds n terms in order is wrong by up to n / 2 units in its last place. A
    sum or product over elements of a tensor gets an f64 accumulator if an f32 one would add more
    than 64 terms, or more than 32 along rows of memory, where vectors and threads divide a sum
    among 32 accumulators. The result is rounded to f32 once.

    ```mlir
    %sum = linalg.generic {iterator_types = ["reduction", "parallel"], ...}
        ins(%x : tensor<4096x768xf32>) outs(%zero : tensor<768xf64>) {
    ^bb0(%term: f32, %old: f64):
      %wide = arith.extf %term : f32 to f64
      %new = arith.addf %old, %wide fastmath<reassoc> : f64
    ```

    The choice depends on the shape of the operation only. Contractions are left as they are.
  }];
  let dependentDialects = ["::mlir::tensor::TensorDialect", "::mlir::linalg::LinalgDialect",
                           "::mlir::arith::ArithDialect"];
}

def FuseKernels : Pass<"zero-fuse-kernels", "::mlir::func::FuncOp"> {
  let summary = "Fuse the linalg ops of a kernel into few loop nests over scalars";
  let description = [{
    Softmax, normalizations, losses and their gradients become one loop over rows. Chains of
    elementwise ops become one loop nest without intermediate tensors. Sums over rows are
    computed in the same nest, with the column innermost. An argument with `zero.inplace` is
    overwritten element by element where its readers allow it.

    For a GPU, reduction loops are innermost. The attribute `zero.loop` of each loop says
    whether its iterations are independent (`parallel`) or only add to the values that the loop
    carries (`sum`). Elementwise values are recomputed at each use.
  }];
  let options = [Option<"forGpu", "for-gpu", "bool", "false", "annotate loops for GPU threads">];
  let dependentDialects = ["::mlir::affine::AffineDialect", "::mlir::scf::SCFDialect",
                           "::mlir::tensor::TensorDialect", "::mlir::linalg::LinalgDialect",
                           "::mlir::arith::ArithDialect"];
}

def BufferizeKernels : Pass<"zero-bufferize-kernels", "::mlir::ModuleOp"> {
  let summary = "Bufferize kernels into functions that allocate no memory";
  let description = [{
    The arguments become the inputs in order, then the results that do not share the buffer of
    an argument, then the workspace if there is one (64-byte aligned, `zero.workspace` bytes on
    the function). Temporaries of at most 64 KiB are on the stack. Nested loops that run through
    memory in its order become one loop, over a `memref.collapse_shape` of each argument. Loops
    are parallelized only where a memory-dependence test succeeds: `zero.extent` is then the
    number of iterations (1 for a dynamic dimension), and two more arguments, `begin` and `end`,
    select the iterations of one call. Library kernels keep their tensors.

    For a GPU, temporaries stay `memref.alloc`, loops are not collapsed, iterations are not
    distributed to threads, and the loops of fills and copies are annotated as in
    zero-fuse-kernels.
  }];
  let options = [Option<"forGpu", "for-gpu", "bool", "false",
                        "keep temporaries as memref.alloc, do not parallelize">];
  let dependentDialects = ["::mlir::bufferization::BufferizationDialect",
                           "::mlir::memref::MemRefDialect", "::mlir::linalg::LinalgDialect",
                           "::mlir::scf::SCFDialect", "::mlir::arith::ArithDialect",
                           "::mlir::affine::AffineDialect"];
}

def BlockSums : Pass<"zero-block-sums", "::mlir::func::FuncOp"> {
  let summary = "Add blocks of a long sum in floats";
  let description = [{
    For CPUs, whose vectors have half as many doubles as floats. An innermost loop that adds f32
    terms to a carried f64 adds blocks of at most 1024 of them in f32, and only the sums of blocks
    in f64:

    ```mlir
    scf.for %k = %c0 to %c50257 step %c1024 iter_args(%sum = %start) -> (f64) {
      %next = arith.addi %k, %c1024 : index
      %end = arith.minui %next, %c50257 : index
      %block = scf.for %i = %k to %end step %c1 iter_args(%part = %zero) -> (f32) { ... }
      %wide = arith.extf %block : f32 to f64
      %new = arith.addf %sum, %wide : f64
    ```

    LLVM's vectors have about 32 accumulators, which add 32 terms of a block each.
  }];
  let dependentDialects = ["::mlir::scf::SCFDialect", "::mlir::arith::ArithDialect"];
}

def CollapseLoops : Pass<"zero-collapse-loops", "::mlir::func::FuncOp"> {
  let summary = "Collapse nests of parallel loops into one loop";
  let description = [{
    For GPU kernels, on buffers. A perfect nest of loops with the same `zero.loop` and constant
    extents becomes one loop:

    ```mlir
    scf.for %i = %c0 to %c2048 step %c1 {
      %at:2 = affine.delinearize_index %i into (32, 64) : index, index
    ```

    Memory that is accessed in the order of the nest is indexed by `%i` alone.
  }];
  let dependentDialects = ["::mlir::affine::AffineDialect", "::mlir::memref::MemRefDialect"];
}

def ChooseThreads : Pass<"zero-choose-threads", "::mlir::func::FuncOp"> {
  let summary = "Assign iterations of a kernel to the threads of a GPU";
  let description = [{
    Only writes attributes. `zero.loop_threads` on an outermost loop of independent iterations names
    what executes one iteration: `one` thread; a `warp` or a `block` if contiguous memory
    belongs to one iteration; a `column` of a block if contiguous memory belongs to many
    iterations. `zero.neighbours` on a loop is the number of adjacent iterations that one thread
    executes at once, so that its loads and stores have 16 bytes. `zero.aligned` on an argument of
    the kernel says that it is accessed so.
  }];
}

def SplitColumnSums : Pass<"zero-split-column-sums", "::mlir::func::FuncOp"> {
  let summary = "Divide long sums across rows among blocks of a GPU";
  let description = [{
    A loop over columns (`zero.loop_threads = "column"`) with sums of at least 512 rows becomes two.
    The first sums chunks of 256 rows of each column into a temporary, the second adds the sums of
    the chunks in order:

    ```mlir
    scf.for %i = %c0 to %c51200 step %c1 { // 32 chunks of 1600 columns
      %at:2 = affine.delinearize_index %i into (32, 1600) : index, index
    ```

    The order of a sum depends on its length only. Sums stay as they are if the loop writes before
    them what they read, or if the number of columns is not known.
  }];
  let dependentDialects = ["::mlir::affine::AffineDialect", "::mlir::memref::MemRefDialect",
                           "::mlir::scf::SCFDialect", "::mlir::arith::ArithDialect"];
}

def ClampIndices : Pass<"zero-clamp-indices", "::mlir::func::FuncOp"> {
  let summary = "Clamp indices that depend on values in memory";
  let description = [{
    A GPU executes commands behind a failed `zero.check` before the host looks at its value. Their
    kernels must not access memory outside of their operands, whatever the indices in the data are.
    Each index of a load or store that depends on a loaded value is clamped to the extent of its
    dimension:

    ```mlir
    %last = arith.constant 49 : index
    %row = arith.minui %index, %last : index
    %0 = memref.load %table[%row, %column] : memref<50x8xf32>
    ```

    The minimum is one of unsigned numbers, so a negative index becomes the last one. Valid indices
    do not change. A kernel with `zero.constant_indices`, whose indices are constants of the program,
    stays as it is.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect"];
}

def ApproximateFunctions : Pass<"zero-approximate-functions", "::mlir::func::FuncOp"> {
  let summary = "Use a GPU's own functions for results of 16 bits";
  let description = [{
    A hyperbolic tangent in float32 from which only elements of 16 bits are computed, as in GELU,
    becomes `llvm.intr.tanh` with the flag `afn`, which is the instruction `tanh.approx.f32`: its
    relative error is at most 2^-11 (PTX ISA, `tanh`). Results in float32 and sums keep MLIR's
    polynomial.
  }];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect"];
}

def LaunchKernels : Pass<"zero-launch-kernels", "::mlir::func::FuncOp"> {
  let summary = "Convert the loops of a kernel to GPU launches";
  let description = [{
    The body of a native kernel becomes a sequence of `gpu.launch` ops and the computation of
    their grids. Each grid depends only on the arguments of the kernel and on constants. Blocks
    and grids are one-dimensional. `zero.per_block` of a launch over a dynamic length is the
    number of elements of a block.

    Temporaries are parts of the workspace of `zero.workspace` bytes. A loop whose iterations
    depend on each other runs on as many threads as it has parts without common memory, possibly
    on one; a remark reports this.
  }];
  let dependentDialects = ["::mlir::gpu::GPUDialect", "::mlir::NVVM::NVVMDialect",
                           "::mlir::memref::MemRefDialect", "::mlir::scf::SCFDialect",
                           "::mlir::arith::ArithDialect", "::mlir::affine::AffineDialect"];
}

#endif // ZERO_CODEGEN_PASSES_TD
