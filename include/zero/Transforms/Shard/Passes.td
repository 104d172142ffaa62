//===- Passes.td - shard parameters and activations ----------------------===//

#ifndef ZERO_TRANSFORMS_SHARD_PASSES_TD
#define ZERO_TRANSFORMS_SHARD_PASSES_TD

include "mlir/Pass/PassBase.td"

def PlanShards : Pass<"zero-plan-shards", "::mlir::ModuleOp"> {
  let summary = "Choose which parameters are sharded over the tensor axis";
  let description = [{
    Writes the mesh of ranks on the module, and `zero.shard` on each parameter that ranks along
    the axis `tensor` hold in shards. With the plan `auto` these are the pairs of Megatron-LM
    (Shoeybi et al., arXiv 1909.08053, section 3):

    - A product by columns, operators that compute on shards, and a product by rows, whose sum
      over ranks is the only exchange of forward; likewise a convolution by output channels and
      one by input channels. Attention is cut by heads, by groups of them if heads share keys and
      values.
    - A table of embeddings by rows, and a projection to classes that only a cross-entropy reads.

    If a program shards parameters itself (`zero.sharded_dim`), `auto` follows it.

    A value between the products that another operator reads whole, or a dimension that the ranks
    do not divide, leaves a block whole; a remark of category "tensor" says which and why.
    Otherwise `plan` is the path of a file: lines `pattern: style`, with the styles of Hugging
    Face's tensor parallelism (docs/guides/tensor-parallel.md). A pattern that matches nothing,
    an unknown style, and a dimension that the ranks do not divide are errors.

    Does nothing if the mesh has no axis but `data`.

    ```mlir
    zero.parameter @w : tensor<64x96xf32> {data = ..., zero.shard = #zero.shard<1, [@tensor]>}
    ```
  }];
  let options = [
    Option<"mesh", "mesh", "std::string", /*default=*/"",
           "axes and their sizes, the outermost first: data=2,tensor=2">,
    Option<"plan", "plan", "std::string", /*default=*/"\"auto\"", "auto, or the path of a file">];
  let dependentDialects = ["::zero::ZeroDialect"];
}

def CutSequences : Pass<"zero-cut-sequences", "::mlir::ModuleOp"> {
  let summary = "Cut sequences over the ranks along the axis context";
  let description = [{
    Rewrites forward for a rank that has a part of the tokens of each sequence. All ranks along
    `context` read the same rows of data. Tokens are cut where inputs that are marked as tokens
    (`zero.tokens`) are looked up, and the cut is propagated by the factors of operators. Other
    operands, such as positions and labels, are cut as early as operators compute on parts of
    them: labels that are shifted by a token are shifted first.

    A rank has chunks r and 2n - 1 - r of 2n, so that all have as many pairs of a query and an
    earlier key. Only attention combines tokens: it becomes a `ContextAttention` of the keys of all
    ranks. The loss is a mean or a sum over the rank's tokens, as over its rows. Any other operator
    that combines tokens, and lengths that 2n does not divide, are errors.

    Writes the mesh on the module. Does nothing if it has no axis `context`. Runs before what the
    loss computes of the whole batch is found, because the tokens of the other ranks count.

    ```mlir
    %e = onnx.node "Gather"(%table, %ids) ... -> tensor<4x32x64xf32>           // before

    %r = onnx.node "Gather"(%ids, %own) {axis = 1} ... -> tensor<4x16xi64>     // after, on 2 ranks
    %e = onnx.node "Gather"(%table, %r) ... -> tensor<4x16x64xf32>
    ```
  }];
  let options = [
    Option<"mesh", "mesh", "std::string", /*default=*/"",
           "axes and their sizes, the outermost first: data=2,context=2">];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::zero::ZeroDialect",
                           "::zero::onnx::OnnxDialect"];
}

def ShardTensors : Pass<"zero-shard-tensors", "::mlir::ModuleOp"> {
  let summary = "Rewrite forward for ranks that hold shards of parameters";
  let description = [{
    Gives parameters with `zero.shard` the type of the shard and propagates cuts through the nodes
    by the rules of the operators (Ops/Sharding.h). Where a node cannot compute on the shards that
    it gets, values are exchanged:

    - A value that all ranks hold enters a node that computes on shards through an `AxisCopy`,
      whose gradient is the sum over ranks.
    - A product that sums over a cut dimension is followed by an `AxisSum`. What it adds, such as
      a bias, is added behind the sum.
      With `tokens` the sum is scattered over the ranks, so that normalizations, dropout and
      residuals are computed on a part of the tokens, and gathered in front of the next product
      (sequence parallelism: Korthikanti et al., arXiv 2205.05198, section 4.2).
    - A shard that a node needs whole is gathered (`AxisGather`), and a value of which it needs a
      shard is cut (`AxisPart`).

    Runs before differentiation, which finds the collectives of backward by one rule for each of
    these nodes.

    ```mlir
    %h = onnx.node "MatMul"(%x, %w) ... -> tensor<4x32x96xf32>          // before
    %y = onnx.node "MatMul"(%h, %v) ... -> tensor<4x32x64xf32>

    %c = onnx.node "AxisCopy"(%x) ...                                   // after, on 2 ranks
    %h = onnx.node "MatMul"(%c, %w) ... -> tensor<4x32x48xf32>
    %p = onnx.node "MatMul"(%h, %v) ... -> tensor<4x32x64xf32>
    %y = onnx.node "AxisSum"(%p) ...
    ```
  }];
  let options = [
    Option<"tokens", "tokens", "bool", /*default=*/"false",
           "cut tokens between products over the ranks, too">];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::zero::ZeroDialect",
                           "::zero::onnx::OnnxDialect"];
}

#endif // ZERO_TRANSFORMS_SHARD_PASSES_TD
