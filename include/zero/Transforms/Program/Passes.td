//===- Passes.td - functions on tensors as steps --------------------------===//

#ifndef ZERO_TRANSFORMS_PROGRAM_PASSES_TD
#define ZERO_TRANSFORMS_PROGRAM_PASSES_TD

include "mlir/Pass/PassBase.td"

def InlineCalls : Pass<"zero-inline-calls", "::mlir::ModuleOp"> {
  let summary = "Inline all calls into the function that is the program";
  let description = [{
    The program is the only function that is public, or else the function named `main`. Each
    `func.call` and `stablehlo.composite` in it, also inside of loops, is replaced by the body of
    its callee, and the other functions are erased. The program is copied once: the time is linear
    in the ops of the result, of which there may be 4 million. A recursive call is an error.

    ```mlir
    %r = func.call @relu(%x) : (tensor<4xf32>) -> tensor<4xf32>        // before
    %r = "stablehlo.maximum"(%x, %zero) : ...                          // after
    ```
  }];
}

def UnrollLoops : Pass<"zero-unroll-loops", "::mlir::ModuleOp"> {
  let summary = "Unroll StableHLO's while loops of constant trip count";
  let description = [{
    A `stablehlo.while` is replaced by one copy of its body for each iteration, as long as its
    condition follows from constants. This is the form of JAX's `scan` and `fori_loop`: a counter
    that begins at a constant, is compared with one and grows by one. What follows from constants
    in a copy, such as the counter, becomes a constant, and an inner loop may depend on it.

    `stablehlo.case` and `stablehlo.if` are replaced by the branch that a constant selects; JAX
    writes what depends on the platform so. A branch or a loop whose condition depends on data is an
    error, since the schedule of a step is fixed before it runs. So are more than 4 million ops.

    ```mlir
    %r:2 = "stablehlo.while"(%zero, %x) ({ ... %i < 2 ... }, { ... %i + 1, f(%y) ... })   // before
    %1 = f(%x)                                                                            // after
    %r = f(%1)
    ```
  }];
  // Constants are evaluated as nodes.
  let dependentDialects = ["::mlir::arith::ArithDialect", "::zero::onnx::OnnxDialect",
                           "::zero::stablehlo::StableHloDialect"];
}

def ConvertStableHlo : Pass<"zero-convert-stablehlo", "::mlir::ModuleOp"> {
  let summary = "Convert the ops of StableHLO and CHLO to nodes";
  let description = [{
    Each op becomes one or a few `onnx.node` with the same meaning, by a rule of
    `lib/Programs/StableHlo`.
    What follows from constants alone is folded, such as the counters of unrolled loops and the
    indices that are computed from them: integers, moved elements, and floats that IEEE 754 rounds
    once. Results of more than 64 KiB are not folded.

    Slices that an unrolled `scan` writes into a tensor are read back as they are, and a tensor that
    is written slice by slice is one Concat. Indices are clamped, and updates out of bounds left
    out, as StableHLO defines. All ops that have no such form are listed in one error. Constraints on
    the sharding of intermediate values are dropped, as a remark says: they change no value.

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
    have the same meaning, also for NaN. The recognition of patterns, fusion and the library's
    products are then the same for all front ends.

    | ops | nodes |
    |---|---|
    | parallel loops: generics and named ops | elementwise nodes on operands that broadcast; a Relu or Sigmoid where the body is one |
    | reductions | a ReduceSum, ReduceProd, ReduceMax or ReduceMin of elementwise nodes; the position of an extreme is an ArgMax |
    | sums of products | a MatMul of transposed operands, else an Einsum |
    | convolutions and pooling, in any order of dimensions | Conv, MaxPool, AveragePool, with the pads of a `tensor.pad` before |
    | `tensor.extract` in a loop | at sums of loops: views and slices; at one computed index: Gather or GatherElements; at several: GatherND |
    | `tm_tensor.scatter`, `tm_tensor.scan` and `tm_tensor.sort` of torch-mlir | ScatterND, CumSum, TopK |
    | views, slices, insertions, pads, lists, scalars | Reshape, Slice, Concat, Pad, Where and so on |

    A `cf.assert` in a loop is dropped where the node itself checks the index, or where constants
    prove it. A Gather also accepts indices that count from the end; if the program does not, the
    attribute `least_index` of the node says so. Any other condition is a node `CheckTrue`, which
    stops the step.

    An op without such a form stays; it becomes a kernel of its own. One error lists the ops that
    can be neither: loops and branches, tensors of dynamic shape, memory, other dialects.

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

def DropUnitDims : Pass<"zero-drop-unit-dims", "::mlir::func::FuncOp"> {
  let summary = "Compute without dimensions of extent one that Reshapes added";
  let description = [{
    An elementwise node or a reduction of more than four dimensions reads its operand before the
    Reshape that added dimensions of extent one, and a Reshape of its result adds them. A Transpose
    of more than four dimensions works without dimensions of extent one, too, and a reduction of
    nothing but such dimensions is a Reshape. Reshapes are views, so this moves no element.
    Recognizers then find attention as `jax.nn.dot_product_attention` writes it, with scores of
    [1, batch, heads, queries, keys].

    ```mlir
    %r = onnx.node "Reshape"(%x, %shape) ... -> tensor<1x4x8xf32>      // before
    %y = onnx.node "Exp"(%r) {} ... -> tensor<1x4x8xf32>

    %e = onnx.node "Exp"(%x) {} ... -> tensor<4x8xf32>                 // after
    %y = onnx.node "Reshape"(%e, %shape) ... -> tensor<1x4x8xf32>
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::zero::onnx::OnnxDialect"];
}

def BindArguments : Pass<"zero-bind-arguments", "::mlir::ModuleOp"> {
  let summary = "Turn the program into a step with state, data and a loss";
  let description = [{
    The program is a function of state and data. It becomes `@step`: arguments that are state
    become symbols, which a run initializes, and data remain arguments, bound to their names.

    - A *whole step* returns the next value of state: the result with which JAX's
      `tf.aliasing_output` or `jax.buffer_donor` pairs an argument, or a pair of `carry`. It gets
      `zero.whole_step`, and `zero-lift-updates` finds gradients and updates.
    - A *joint graph* returns the gradients of parameters: those that `roles` or `zero.gradient_of`
      name; without either, the results beside the loss if they have the types of the first
      arguments, in order. They become `zero.gradient` of `zero.parameter`s, and the module gets
      `zero.own_gradients`.
    - *Forward and loss* has parameters that `roles` or `zero.role` names.

    In the last two, state of which the program returns the next value is a buffer, such as running
    statistics.

    Two arguments with one target in `roles`, or a pair of `tie`, are one parameter, whose gradient
    is the sum of both: exporters of joint graphs split tied weights.

    Shardings of Shardy on arguments (`sdy.sharding`) say what ranks divide. Data that is sharded
    along its first dimension is marked for `zero-split-batch`. Parameters that are sharded along
    another axis get `zero.sharded_dim`, which `zero-plan-shards` follows, unless `mesh` has one
    rank along `tensor`. Without `mesh` the sizes are those of the program, which are written on the
    module as `zero.program_mesh`.

    The loss is the only result of one float that is not state, or the one that `loss` names. Names
    are those of the file `roles`, of attributes (`zero.name`, `jax.result_info`) or of locations;
    else `arg0`, `result0` and so on.

    ```mlir
    func.func @main(%arg0: tensor<4xf32> {tf.aliasing_output = 0 : i32}, %arg1: tensor<4xf32>)
        -> (tensor<4xf32>, tensor<f32>)                                            // before

    zero.state constant @arg0 : tensor<4xf32> {required}                           // after
    func.func @step(%arg1: tensor<4xf32> {zero.binding = "arg1"})
        -> (tensor<f32> {zero.binding = "loss"}) {
      %w = zero.read @arg0 : tensor<4xf32>
      ...
      zero.write @arg0, %n : tensor<4xf32>
    ```
  }];
  let options = [
    Option<"roles", "roles", "std::string", /*default=*/"",
           "JSON file of the names and roles of arguments and results">,
    Option<"loss", "loss", "std::string", /*default=*/"", "name of the result to train on">,
    ListOption<"carry", "carry", "std::string",
               "pairs IN=OUT of an argument and the result that is its next value">,
    ListOption<"zeros", "zeros", "std::string", "glob patterns of state that begins as zero">,
    ListOption<"tie", "tie", "std::string", "pairs A=B of arguments that are one tensor">,
    Option<"mesh", "mesh", "std::string", /*default=*/"",
           "sizes of the axes data and tensor; those of the program if empty">,
    Option<"forwardOnly", "forward-only", "bool", /*default=*/"false",
           "return all results; nothing is trained">,
    Option<"verbose", "verbose", "bool", /*default=*/"false",
           "list all errors, not only the first few">];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::zero::onnx::OnnxDialect",
                           "::zero::ZeroDialect"];
}

def FoldGuards : Pass<"zero-fold-guards", "::mlir::ModuleOp"> {
  let summary = "Drop guards of operands in whole steps whose results have the same guard";
  let description = [{
    A function that is written for differentiation guards its operand beside its result, so that no
    derivative is NaN: `where(c, m, norm(where(c, 1, x)))`, as optax's `safe_norm` has it. In a
    whole step the derivatives are there already. The value is the same without the inner guard,
    and `zero-lift-updates` then finds that it is a function of the norm of x.

    ```mlir
    %g = onnx.node "Where"(%c, %one, %x) ...                                 // before
    %n = onnx.node "ReduceL2"(%g) ...
    %r = onnx.node "Where"(%c, %zero, %n) ...

    %n = onnx.node "ReduceL2"(%x) ...                                        // after
    %r = onnx.node "Where"(%c, %zero, %n) ...
    ```
  }];
  let dependentDialects = ["::zero::onnx::OnnxDialect"];
}

def WidenState : Pass<"zero-widen-state", "::mlir::ModuleOp"> {
  let summary = "Store the state of a program of 16-bit floats as f32";
  let description = [{
    A program rounds where its types say so: `x.astype(bfloat16)` in JAX, or all operations of a
    model in bf16. Values between keep their types. What comes from outside of the step or leaves
    it, inputs, state, gradients and the loss, becomes f32, which holds each of these values. A Cast
    rounds what the step reads. The module gets `zero.own_types`, so that `zero-widen-floats` does
    not change the program. A program without 16-bit floats stays as it is.

    ```mlir
    %w = zero.read @w : tensor<8xbf16>                                       // before

    %r = zero.read @w : tensor<8xf32>                                        // after
    %w = onnx.node "Cast"(%r) {to = 16 : i64} ... -> tensor<8xbf16>
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::zero::onnx::OnnxDialect",
                           "::zero::ZeroDialect"];
}

def SplitBatch : Pass<"zero-split-batch", "::mlir::ModuleOp"> {
  let summary = "Divide the batch of a program that shards its data among ranks";
  let description = [{
    A jitted program has the shapes of the whole batch. Where it shards its data along their first
    dimension (`zero.split` on arguments), each rank and micro-batch gets an equal part, and all
    shapes that follow become those of a part. Sums over the batch are multiplied by the number of
    parts, so that means over ranks have the values of the program. A node for which no rule
    exists, or that uses a value of all samples for single ones, such as statistics of the batch,
    is an error that names it. If the module has the mesh of the program (`zero.program_mesh`), the
    number of parts is `parts` times its size along `data`.

    ```mlir
    func.func @step(%x: tensor<8x4xf32> {zero.binding = "x", zero.split}) ...     // before
    %s = onnx.node "ReduceSum"(%x, %axes) ... -> tensor<4xf32>

    func.func @step(%x: tensor<2x4xf32> {zero.binding = "x"}) ...                 // after, 4 parts
    %p = onnx.node "ReduceSum"(%x, %axes) ... -> tensor<4xf32>
    %s = onnx.node "Mul"(%p, %four) ...
    ```
  }];
  let options = [Option<"parts", "parts", "uint64_t", /*default=*/"1",
                        "the number of ranks, unless it is that of the program, times that of "
                        "micro-batches">];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::zero::onnx::OnnxDialect",
                           "::zero::ZeroDialect"];
}

#endif // ZERO_TRANSFORMS_PROGRAM_PASSES_TD
