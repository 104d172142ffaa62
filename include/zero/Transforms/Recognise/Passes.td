//===- Passes.td - find composite operators ------------------------------===//

#ifndef ZERO_TRANSFORMS_RECOGNISE_PASSES_TD
#define ZERO_TRANSFORMS_RECOGNISE_PASSES_TD

include "mlir/Pass/PassBase.td"

def FoldTransposes : Pass<"zero-fold-transposes", "::mlir::func::FuncOp"> {
  let summary = "Fold transposes into the products that read them";
  let description = [{
    A Transpose of the last two dimensions that a MatMul, Gemm or Contract reads becomes a flag
    of that node (MatMul becomes zero::Contract). This also works through a scale by one
    element, and for Reshape, Transpose, Reshape around merged batch dimensions. Transposes of
    transposes, reshapes of reshapes and nodes without effect are folded.

    ```mlir
    %t = onnx.node "Transpose"(%k) {perm = array<i64: 0, 2, 1>} opset 18 : ...   // before
    %s = onnx.node "MatMul"(%q, %t) {} opset 18 : ...
    %s = onnx.node "Contract"(%q, %k) {transB = 1 : i64} domain "zero" opset 1 : ...   // after
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::zero::onnx::OnnxDialect"];
}

def RecogniseGelu : Pass<"zero-recognise-gelu", "::mlir::func::FuncOp"> {
  let summary = "Replace chains of primitives by Gelu nodes";
  let description = [{
    Matches `0.5 x (1 + erf(x / sqrt 2))` and `0.5 x (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3)))`
    for any order and grouping of the factors, and creates one node for each, whose gradient is
    one pass over `x`. A constant must be the exact value up to its rounding to f32. A chain
    that differs is not changed.

    ```mlir
    %e = onnx.node "Erf"(%s) {} opset 18 : ...          // before
    %a = onnx.node "Add"(%e, %one) {} opset 18 : ...
    %m = onnx.node "Mul"(%half, %a) {} opset 18 : ...
    %y = onnx.node "Mul"(%x, %m) {} opset 18 : ...
    %y = onnx.node "Gelu"(%x) {approximate = "none"} opset 20 : ...   // after
    ```
  }];
  let dependentDialects = ["::zero::onnx::OnnxDialect"];
}

def RecogniseSwish : Pass<"zero-recognise-swish", "::mlir::func::FuncOp"> {
  let summary = "Replace x sigmoid(alpha x) by Swish nodes";
  let description = [{
    With alpha = 1 this is SiLU. The gradient of the node needs only x.

    ```mlir
    %s = onnx.node "Sigmoid"(%x) {} opset 18 : ...                            // before
    %y = onnx.node "Mul"(%x, %s) {} opset 18 : ...
    %y = onnx.node "Swish"(%x) {alpha = 1.0 : f32} opset 24 : ...             // after
    ```
  }];
  let dependentDialects = ["::zero::onnx::OnnxDialect"];
}

def RecogniseLogSigmoid : Pass<"zero-recognise-log-sigmoid", "::mlir::func::FuncOp"> {
  let summary = "Replace logarithms of a sigmoid by Softplus nodes";
  let description = [{
    PyTorch's exporters write `logsigmoid` and `binary_cross_entropy_with_logits` with
    `log(sigmoid(x))` and `log(1 - sigmoid(x))`. In f32 the logarithm is infinite where the sigmoid
    rounds to 0 or 1, and its gradient loses digits before that: at `x = 12` it is 1 % off. Softplus
    has neither.

    ```mlir
    %s = onnx.node "Sigmoid"(%x) {} opset 18 : ...      // before
    %y = onnx.node "Log"(%s) {} opset 18 : ...
    %n = onnx.node "Neg"(%x) {} opset 13 : ...          // after; log(1 - sigmoid(x)) has %x as %n
    %p = onnx.node "Softplus"(%n) {} opset 1 : ...
    %y = onnx.node "Neg"(%p) {} opset 13 : ...
    ```
  }];
  let dependentDialects = ["::zero::onnx::OnnxDialect"];
}

def RecogniseAtan2 : Pass<"zero-recognise-atan2", "::mlir::func::FuncOp"> {
  let summary = "Replace arctangents in all quadrants by Atan2 nodes";
  let description = [{
    PyTorch's exporters write `atan2(y, x)` as the arctangent of `y / x`, moved by half a turn where
    `x` is negative. The gradient of the quotient is not a number where `x` is 0, although that of
    `atan2` is finite. That of Zero's `Atan2` is 0 where both operands are.

    ```mlir
    %q = onnx.node "Div"(%y, %x) {} opset 18 : ...      // before
    %a = onnx.node "Atan"(%q) {} opset 18 : ...
    %t = onnx.node "Where"(%above, %plus, %minus) {} opset 18 : ...   // %a + pi, %a - pi
    %r = onnx.node "Where"(%left, %t, %a) {} opset 18 : ...
    %r = onnx.node "Atan2"(%y, %x) {} domain "zero" opset 1 : ...     // after
    ```
  }];
  let dependentDialects = ["::zero::onnx::OnnxDialect"];
}

def RecogniseMean : Pass<"zero-recognise-mean", "::mlir::func::FuncOp"> {
  let summary = "Replace sums that are divided by their count by ReduceMean";
  let description = [{
    Front ends other than ONNX's write a mean as a sum and a quotient. A reduction whose result is
    only reshaped to have the reduced dimensions back keeps them instead.

    ```mlir
    %s = onnx.node "ReduceSum"(%x, %axes) {keepdims = 0 : i64} opset 23 : ... -> tensor<4xf32>   // before
    %r = onnx.node "Reshape"(%s, %shape) ... -> tensor<4x1xf32>
    %m = onnx.node "Div"(%r, %count) ...
    %m = onnx.node "ReduceMean"(%x, %axes) {keepdims = 1 : i64} opset 23 : ... -> tensor<4x1xf32> // after
    ```
  }];
  let dependentDialects = ["::zero::onnx::OnnxDialect"];
}

def RecogniseSoftmaxGrad : Pass<"zero-recognise-softmax-grad", "::mlir::func::FuncOp"> {
  let summary = "Replace the gradient of a softmax, as programs write it, by SoftmaxGrad";
  let description = [{
    Matches `w dy - w sum(w dy)` along one axis, in any order of factors and signs, and what JAX
    derives from `w = e / s`: `e (dy / s - sum(dy e / s^2))`. Both terms are compared as products of
    powers of the same values, so any other way to write them is found, too. Runs before
    RecogniseSoftmax, which leaves exponentials that another node reads.

    ```mlir
    %t = onnx.node "Mul"(%dy, %w) ...                                           // before
    %s = onnx.node "ReduceSum"(%t, %axes) {keepdims = 1 : i64} ...
    %u = onnx.node "Mul"(%w, %s) ...
    %dx = onnx.node "Sub"(%t, %u) ...
    %dx = onnx.node "SoftmaxGrad"(%dy, %w) {axis = 1 : i64} domain "zero" ...   // after
    ```
  }];
  let dependentDialects = ["::zero::onnx::OnnxDialect"];
}

def RecogniseSoftmax : Pass<"zero-recognise-softmax", "::mlir::func::FuncOp"> {
  let summary = "Replace exponentials over their sum by Softmax, LogSoftmax";
  let description = [{
    Matches `e / sum(e)` and `d - log(sum(e))` for `e = exp(d)`, `d = x - max(x)` along one axis.
    A chain of which another node reads `e` or its sum is not changed: a backward pass that does
    would need them beside the result.

    ```mlir
    %d = onnx.node "Sub"(%x, %max) ...                                          // before
    %e = onnx.node "Exp"(%d) ...
    %s = onnx.node "ReduceSum"(%e, %axes) {keepdims = 1 : i64} ...
    %p = onnx.node "Div"(%e, %s) ...
    %p = onnx.node "Softmax"(%x) {axis = 1 : i64} opset 13 : ...                // after
    ```
  }];
  let dependentDialects = ["::zero::onnx::OnnxDialect"];
}

def RecogniseNormalization : Pass<"zero-recognise-normalization", "::mlir::func::FuncOp"> {
  let summary = "Replace chains of primitives by LayerNormalization, RMSNormalization";
  let description = [{
    Matches `x / sqrt(mean(x^2) + epsilon)` over trailing dimensions, written with Pow or Mul
    and with Reciprocal, Pow(-0.5) or Div, with an optional weight. If x is another value minus
    its mean, the result is the layer normalization of that value, with an optional bias. The mean
    of squares may be computed in f64 and rounded, as PyTorch decomposes it. A chain that differs,
    or of which another node reads an intermediate value, is not changed.

    ```mlir
    %s = onnx.node "Mul"(%x, %x) {} opset 18 : ...                // before
    %m = onnx.node "ReduceMean"(%s, %last) {keepdims = 1 : i64} opset 18 : ...
    %a = onnx.node "Add"(%m, %epsilon) {} opset 18 : ...
    %d = onnx.node "Sqrt"(%a) {} opset 18 : ...
    %n = onnx.node "Div"(%x, %d) {} opset 18 : ...
    %y = onnx.node "Mul"(%w, %n) {} opset 18 : ...
    %y = onnx.node "RMSNormalization"(%x, %w) {axis = 1 : i64, epsilon = 9.9e-7 : f32}
        opset 23 : ...                                            // after
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::zero::onnx::OnnxDialect"];
}

def RecogniseRotary : Pass<"zero-recognise-rotary", "::mlir::func::FuncOp"> {
  let summary = "Replace rotary embeddings written with halves by one node";
  let description = [{
    Matches `x cos + concat(-x2, x1) sin`, where x1 and x2 are the halves of the last dimension
    of x by Slice or Split, and creates a `zero::Rotary`. Its gradient is the inverse rotation:
    one pass over dy.

    ```mlir
    %h = onnx.node "Concat"(%minus_x2, %x1) {axis = -1 : i64} opset 18 : ...   // before
    %a = onnx.node "Mul"(%h, %sin) {} opset 18 : ...
    %b = onnx.node "Mul"(%x, %cos) {} opset 18 : ...
    %y = onnx.node "Add"(%b, %a) {} opset 18 : ...
    %y = onnx.node "Rotary"(%x, %cos, %sin) {} domain "zero" opset 1 : ...     // after
    ```
  }];
  let dependentDialects = ["::zero::onnx::OnnxDialect"];
}

def RecogniseAttention : Pass<"zero-recognise-attention", "::mlir::ModuleOp"> {
  let summary = "Replace each exporter's form of attention by one node";
  let description = [{
    Matches `softmax(scale q k^T + masks) v`, with the scale on either side or on both, masks
    added or selected, keys and values repeated for grouped queries, batch and heads merged for
    either product, and the `Where(IsNaN(p), 0, p)` of exporters or PyTorch's test for rows of minus
    infinity, and creates a `zero::Attention`. The Attention of ONNX becomes one, too.
    In a program that brings its backward pass, the products and the `zero::SoftmaxGrad` of the
    gradient become one `zero::AttentionGrad`, if nothing else reads them. Otherwise the weights have
    to be stored, and only the softmax is replaced.
    The pass inspects the values of masks, also in data files: a comparison of positions becomes
    the attributes `causal`, `window` and `prefix`, integers of queries that are compared with
    integers of keys become two operands of segments, a mask that depends only on the key and the
    sample becomes the operand `padding`, and any other mask stays an operand. A softmax without
    products around it becomes a `zero::MaskedSoftmax`. Constants that become unused are erased. A
    mask in a data file that cannot be opened stays an operand, with a warning. Each node found is a
    remark of category "recognise".

    ```mlir
    %s = onnx.node "MatMul"(%q, %kt) {} opset 18 : ...                       // before
    %m = onnx.node "Add"(%s, %mask) {} opset 18 : ...
    %p = onnx.node "Softmax"(%m) {axis = -1 : i64} opset 18 : ...
    %y = onnx.node "MatMul"(%p, %v) {} opset 18 : ...
    %y = onnx.node "Attention"(%q, %k, %v, %none, %none) {causal = 1 : i64, ...}
        domain "zero" opset 1 : ...                                          // after
    ```
  }];
  let options = [Option<"dataRoot", "data-root", "std::string", "",
                        "directory that data references are relative to">];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::zero::onnx::OnnxDialect"];
}

def ExpandAttention : Pass<"zero-expand-attention", "::mlir::func::FuncOp"> {
  let summary = "Expand attention into products and a softmax";
  let description = [{
    For devices without a kernel for `zero::Attention`, or with one for narrow heads: `q k^T`, a
    `zero::MaskedSoftmax` with its masks, and a product with `v`, each with its own gradient. The
    weights, of size queries x keys, are saved for backward. Runs before differentiation, because
    only gradients read the sums of a `zero::Attention`, and after sharding, because shards have
    whole heads. A `zero::ContextAttention` that would have to be expanded is an error.
  }];
  let options = [Option<"widest", "widest", "int64_t", "0",
                        "width of heads up to which attention stays as it is">];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::zero::onnx::OnnxDialect"];
}

def SetSeed : Pass<"zero-set-seed", "::mlir::ModuleOp"> {
  let summary = "Write the seed of the program's random numbers on the module";
  let description = [{
    Operators that draw random numbers, such as Dropout, read the seed where they are expanded.
    Such nodes get names with different hashes, because the hash is a part of the key of each
    number. A seed other than 0 in a program that draws no random numbers has no effect, which
    is an error.
  }];
  let options = [Option<"seed", "seed", "uint64_t", /*default=*/"0", "the seed">];
}

def LocalLossMean : Pass<"zero-local-loss-mean", "::mlir::ModuleOp"> {
  let summary = "Average the loss on each rank separately, as DDP does";
  let description = [{
    Marks the module so that the mean of a cross-entropy divides by the rank's own number of
    valid labels. Without this pass that number is summed over ranks, so that any partition of a
    batch gives the same loss; so is what `zero-compute-whole-batch` finds, which then does not run.
  }];
}

def ComputeWholeBatch : Pass<"zero-compute-whole-batch", "::mlir::ModuleOp"> {
  let summary = "Compute values of the loss over all ranks and micro-batches";
  let description = [{
    The loss that a step reports and differentiates is the mean of the losses of the parts of the
    global batch, one for each micro-batch of each rank. It is the loss of one large batch where
    the loss is linear in sums and means over rows. This pass follows the loss and finds the
    operands that must be values of the whole batch to make it so: a divisor that depends on the
    data, all but one factor of a product, the operand of any other function of a sum or mean. It
    averages them over micro-batches and ranks, and says so in a remark. Where gradients flow,
    zero::WholeBatch hands the gradient of the mean to the part's own value. A sum is multiplied by
    the number of parts. One that is divided by a constant multiple of the rows of a part is a mean.

    What cannot be computed so is a warning at its node, and each part computes its own, as in
    DDP: rows of the batch that meet each other (scores of each row with all others, a softmax or
    a maximum over the batch), and means over the batch that each row uses, but for those of a
    BatchNormalization, which have `--sync-batchnorm`.

    ```mlir
    %l = onnx.node "Sqrt"(%m) ...                                                         // before
    %a = zero.micro_mean %m : tensor<f32>                                                 // after
    %b = zero.rank_mean %a : tensor<f32>
    %w = onnx.node "WholeBatch"(%b, %m) {} domain "zero" opset 1 ...
    %l = onnx.node "Sqrt"(%w) ...
    ```
  }];
  let options = [Option<"ranks", "ranks", "uint64_t", /*default=*/"1", "data-parallel ranks">,
                 Option<"microBatches", "micro-batches", "uint64_t", /*default=*/"1",
                        "micro-batches that one step accumulates">];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::zero::ZeroDialect",
                           "::zero::onnx::OnnxDialect"];
}

def SyncBatchNorm : Pass<"zero-sync-batchnorm", "::mlir::ModuleOp"> {
  let summary = "Compute batch statistics over the batches of all ranks";
  let description = [{
    Marks the module so that each BatchNormalization in training mode normalizes with the mean
    and variance over the batches of all ranks, and its gradient flows to all of them. Without
    this pass each rank normalizes its own batch, as DDP does. The mean over ranks is computed
    first, then the variance around it: two collectives of one value per channel each, summed in
    rank order. Backward has two collectives of the same kind. A program without a
    BatchNormalization in training mode is an error.
  }];
}

def ExpandNodes : Pass<"zero-expand-nodes", "::mlir::func::FuncOp"> {
  let summary = "Expand composite nodes into simpler ones of the op table";
  let description = [{
    Applies `OpDef::expand` to each node and to the nodes that it creates until none applies.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::zero::ZeroDialect",
                           "::zero::onnx::OnnxDialect"];
}

def FoldAttentionLayouts : Pass<"zero-fold-attention-layouts", "::mlir::func::FuncOp"> {
  let summary = "Fold layout changes around attention into its attributes";
  let description = [{
    Transposes between [batch, heads, rows, width] and [batch, rows, heads, width] around a
    `zero::Attention`, also before a rotary embedding, become its attribute `rows_first`. If
    queries, keys and values are three neighbouring parts that a Split or Slices take of rows, or
    parts of [batch, rows, 3, heads, width], the node reads the whole tensor, described by
    `packed_heads`. What remains around the node are views. A `zero::AttentionGrad` of the program
    has the layouts of its forward pass; it is packed if a Concat joins its results.

    ```mlir
    %s:3 = onnx.node "Split"(%qkv) {axis = 2 : i64} opset 18 : ...                   // before
    %r = onnx.node "Reshape"(%s#0, %shape) {} opset 18 : ...
    %q = onnx.node "Transpose"(%r) {perm = array<i64: 0, 2, 1, 3>} opset 18 : ...
    %o:2 = onnx.node "Attention"(%q, %k, %v, %none, %none) {...} domain "zero" opset 1 : ...
    %y = onnx.node "Transpose"(%o#0) {perm = array<i64: 0, 2, 1, 3>} opset 18 : ...
    %y:2 = onnx.node "Attention"(%qkv, %none, %none, %none, %none)
        {packed_heads = array<i64: 8, 8>, rows_first = array<i64: 1, 1, 1, 1>, ...}
        domain "zero" opset 1 : ...                                                  // after
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::zero::onnx::OnnxDialect"];
}

#endif // ZERO_TRANSFORMS_RECOGNISE_PASSES_TD
