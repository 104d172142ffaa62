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

    On `cuda` the module says so in `zero.device`. Only matrix products are library calls
    there, with the same workspace for all of them, and B is taken as it is.

    The workspace of a call suffices for the given threads of a rank, and for fewer. The
    module says for how many, in `zero.threads`.
  }];
  let options = [Option<"threads", "threads", "unsigned", "1",
                        "threads of a rank that scratch memory is planned for">,
                 Option<"device", "device", "::zero::Device", "::zero::Device::Cpu", "cpu, cuda or simulated, which calls the libraries of the cpu">];
}

def FuseKernels : Pass<"zero-fuse-kernels", "::mlir::func::FuncOp"> {
  let summary = "Rewrites the linalg ops of a kernel as few loop nests over scalars";
  let description = [{
    Softmax, normalisations, losses and their gradients become one loop over rows;
    chains of elementwise ops one loop nest without intermediate tensors; sums over
    rows run beside them, column innermost. An argument with `zero.inplace` is
    overwritten element by element where its readers allow it.

    For a GPU loops that sum are innermost, and each loop says in `zero.loop` whether its
    iterations are independent (`parallel`) or only add to what it carries (`sum`); what is
    computed element by element is computed again where it is used.
  }];
  let options = [Option<"forGpu", "for-gpu", "bool", "false", "loops that threads share">];
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

    For a GPU temporaries stay `memref.alloc`, nothing is shared out among threads, and the
    loops of fills and copies are marked as zero-fuse-kernels marks its own.
  }];
  let options = [Option<"forGpu", "for-gpu", "bool", "false", "leave temporaries and threads open">];
  let dependentDialects = ["::mlir::bufferization::BufferizationDialect",
                           "::mlir::memref::MemRefDialect", "::mlir::linalg::LinalgDialect",
                           "::mlir::scf::SCFDialect", "::mlir::arith::ArithDialect",
                           "::mlir::affine::AffineDialect"];
}

def CollapseLoops : Pass<"zero-collapse-loops", "::mlir::func::FuncOp"> {
  let summary = "Makes one loop of each nest whose iterations threads may share";
  let description = [{
    For kernels on a GPU, over buffers. Perfect nests of loops marked alike by `zero.loop`,
    with constant extents, become one loop:

    ```mlir
    scf.for %i = %c0 to %c2048 step %c1 {
      %at:2 = affine.delinearize_index %i into (32, 64) : index, index
    ```

    What is read or written in the order of the nest is indexed by `%i` alone.
  }];
  let dependentDialects = ["::mlir::affine::AffineDialect", "::mlir::memref::MemRefDialect"];
}

def ChooseThreads : Pass<"zero-choose-threads", "::mlir::func::FuncOp"> {
  let summary = "Decides which threads of a GPU run which iterations of a kernel";
  let description = [{
    Only writes attributes. `zero.threads` on an outermost loop of independent iterations
    says who shares one: `one` thread, a `warp` or a `block` where what is contiguous in
    memory belongs to an iteration, a `column` of a block where it belongs to many.
    `zero.neighbours` on a loop says how many neighbouring iterations a thread takes at
    once, so that it reads and writes 16 bytes.
  }];
}

def LaunchKernels : Pass<"zero-launch-kernels", "::mlir::func::FuncOp"> {
  let summary = "Makes launches on a GPU of the loops of a kernel";
  let description = [{
    The body of a native kernel becomes `gpu.launch` ops that run one after another, and
    what they compute their grids from; each depends on the kernel's arguments and on
    constants alone. Blocks and grids are one-dimensional. Of a launch over a dynamic length
    `zero.per_block` says how many elements a block takes.

    Temporaries are parts of the workspace, `zero.workspace` bytes. A loop whose iterations
    depend on each other runs on as many threads as it has parts that touch no memory of
    others, perhaps on one: a remark says so.
  }];
  let dependentDialects = ["::mlir::gpu::GPUDialect", "::mlir::NVVM::NVVMDialect",
                           "::mlir::memref::MemRefDialect", "::mlir::scf::SCFDialect",
                           "::mlir::arith::ArithDialect", "::mlir::affine::AffineDialect"];
}

def SimulateLaunches : Pass<"zero-simulate-launches", "::mlir::func::FuncOp"> {
  let summary = "Writes launches on a GPU as loops over blocks and threads";
  let description = [{
    What a kernel for a GPU computes, on a core: `gpu.launch` becomes a loop over blocks, and
    in it one over threads for each stretch of code between barriers and shuffles, which
    stand in no loop. Blocks and threads run in their order, so that what a missing barrier
    would let a thread read too early it does read too early.
  }];
  let dependentDialects = ["::mlir::memref::MemRefDialect", "::mlir::scf::SCFDialect",
                           "::mlir::arith::ArithDialect"];
}

#endif // ZERO_CODEGEN_PASSES_TD
