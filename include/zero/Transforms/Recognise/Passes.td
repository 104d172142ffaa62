//===- Passes.td - find composite operators ------------------------------===//

#ifndef ZERO_TRANSFORMS_RECOGNISE_PASSES_TD
#define ZERO_TRANSFORMS_RECOGNISE_PASSES_TD

include "mlir/Pass/PassBase.td"

def FoldTransposes : Pass<"zero-fold-transposes", "::mlir::func::FuncOp"> {
  let summary = "Folds transposes into the products that read them";
  let description = [{
    A Transpose of the last two dimensions that a MatMul, Gemm or Contract reads
    becomes a flag of it (MatMul turns into zero::Contract), also through a scale by
    one element and when written as Reshape, Transpose, Reshape around merged batch
    dimensions. Transposes of transposes, reshapes of reshapes and nodes that change
    nothing fold.

    ```mlir
    %t = onnx.node "Transpose"(%k) {perm = array<i64: 0, 2, 1>} opset 18 : ...   // before
    %s = onnx.node "MatMul"(%q, %t) {} opset 18 : ...
    %s = onnx.node "Contract"(%q, %k) {transB = 1 : i64} domain "zero" opset 1 : ...   // after
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::zero::onnx::OnnxDialect"];
}

def RecogniseGelu : Pass<"zero-recognise-gelu", "::mlir::func::FuncOp"> {
  let summary = "Turns exporters' chains of primitives into Gelu nodes";
  let description = [{
    Finds `0.5 x (1 + erf(x / sqrt 2))` and `0.5 x (1 + tanh(sqrt(2/pi) (x +
    0.044715 x^3)))` however the factors are ordered and grouped, and writes one
    node for each, whose gradient then is one pass over `x`. A constant must be the
    exact value up to its rounding to f32; a chain that differs stays as it is.

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
  let summary = "Turns x sigmoid(alpha x) into Swish nodes";
  let description = [{
    With alpha = 1 that is SiLU. The node's gradient keeps nothing but x.

    ```mlir
    %s = onnx.node "Sigmoid"(%x) {} opset 18 : ...                            // before
    %y = onnx.node "Mul"(%x, %s) {} opset 18 : ...
    %y = onnx.node "Swish"(%x) {alpha = 1.0 : f32} opset 24 : ...             // after
    ```
  }];
  let dependentDialects = ["::zero::onnx::OnnxDialect"];
}

def RecogniseNormalization : Pass<"zero-recognise-normalization", "::mlir::func::FuncOp"> {
  let summary = "Turns chains of primitives into LayerNormalization and RMSNormalization";
  let description = [{
    Finds `x / sqrt(mean(x^2) + epsilon)` over trailing dimensions, with Pow or Mul,
    Reciprocal, Pow(-0.5) or Div, perhaps weighted; and, where x is another value
    less its mean, that value's layer normalization, perhaps with a bias. A chain
    that differs, or of which somebody else reads a part, stays as it is.

    ```mlir
    %s = onnx.node "Mul"(%x, %x) {} opset 18 : ...                // before
    %m = onnx.node "ReduceMean"(%s, %last) {keepdims = 1 : i64} opset 18 : ...
    %a = onnx.node "Add"(%m, %epsilon) {} opset 18 : ...
    %d = onnx.node "Sqrt"(%a) {} opset 18 : ...
    %n = onnx.node "Div"(%x, %d) {} opset 18 : ...
    %y = onnx.node "Mul"(%w, %n) {} opset 18 : ...
    %y = onnx.node "RMSNormalization"(%x, %w) {axis = 1 : i64, epsilon = 9.9e-7 : f32} opset 23 : ...   // after
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::zero::onnx::OnnxDialect"];
}

def RecogniseRotary : Pass<"zero-recognise-rotary", "::mlir::func::FuncOp"> {
  let summary = "Turns rotary embeddings written as halves into one node";
  let description = [{
    Finds `x cos + concat(-x2, x1) sin`, x1 and x2 being the halves of x's last
    dimension by Slice or Split, and writes a `zero::Rotary`, whose gradient is the
    turn back: one pass over dy.

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
  let summary = "Turns attention, as each exporter writes it, into one node";
  let description = [{
    Finds `softmax(scale q k^T + masks) v`, with the scale on either side or on both,
    masks added or selected, keys and values repeated for grouped queries, and the
    exporters' `Where(IsNaN(p), 0, p)`, and writes a `zero::Attention`; ONNX's
    Attention becomes one, too. What masks hold is looked at, also in data files: a
    comparison of positions becomes the attribute `causal`, what depends on the key
    and the sample only the operand `padding`, and any other mask stays what it is.
    Where no products are around it, the softmax alone becomes a
    `zero::MaskedSoftmax`. Constants that nobody reads any more are erased.

    A mask in a data file that cannot be opened stays an operand, with a warning. Each
    node found is a remark of category "recognise".

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
                        "folder that data references are relative to">];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::zero::onnx::OnnxDialect"];
}

def ExpandAttention : Pass<"zero-expand-attention", "::mlir::func::FuncOp"> {
  let summary = "Turns each attention into products and a softmax";
  let description = [{
    For devices without a kernel for `zero::Attention`: `q k^T`, a `zero::MaskedSoftmax`
    with its masks, and a product with `v`, each with its own gradient. The weights, of the
    size of queries by keys, are kept for backward. Runs before gradients are made, which
    alone read the sums of a `zero::Attention`.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::zero::onnx::OnnxDialect"];
}

def SetSeed : Pass<"zero-set-seed", "::mlir::ModuleOp"> {
  let summary = "Writes the seed of the program's random numbers on the module";
  let description = [{
    What draws random numbers, as Dropout does, reads it where it is expanded. Such
    nodes get names that differ in hash, since that is a part of each number's key. A
    seed other than 0 in a program that draws no random numbers has no effect, which is
    an error.
  }];
  let options = [Option<"seed", "seed", "uint64_t", /*default=*/"0", "the seed">];
}

def LocalLossMean : Pass<"zero-local-loss-mean", "::mlir::ModuleOp"> {
  let summary = "Makes each rank average its own loss, as DDP does";
  let description = [{
    Marks the module so that the mean of a cross-entropy divides by the rank's
    own number of valid labels; without it that number is summed over ranks, so
    that any split of a batch gives the same loss.
  }];
}

def SyncBatchNorm : Pass<"zero-sync-batchnorm", "::mlir::ModuleOp"> {
  let summary = "Takes the statistics of a batch over all ranks' batches";
  let description = [{
    Marks the module so that each BatchNormalization in training mode normalises
    with mean and variance over the batches of all ranks, and its gradient flows
    to all of them; without it each rank normalises its own batch, as DDP does.
    The mean over ranks comes first and the variance around it after, two
    collectives of one value per channel each, summed in rank order; backward
    has the same two. An error if no node trains.
  }];
}

def ExpandNodes : Pass<"zero-expand-nodes", "::mlir::func::FuncOp"> {
  let summary = "Rewrites composite nodes to the simpler ones of the op table";
  let description = [{
    Applies `OpDef::expand` to each node, and to what it makes, until none applies.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::zero::ZeroDialect",
                           "::zero::onnx::OnnxDialect"];
}

def FoldAttentionLayouts : Pass<"zero-fold-attention-layouts", "::mlir::func::FuncOp"> {
  let summary = "Lets attention read and write rows as products leave them";
  let description = [{
    Transposes between [batch, heads, rows, width] and [batch, rows, heads, width] around
    a `zero::Attention`, also in front of a rotary embedding, become its attribute
    `rows_first`; where queries, keys and values are the three parts of a Split of rows, or
    of [batch, rows, 3, heads, width], it reads what was cut, as `packed_heads` says. What is
    left around it are views.

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
