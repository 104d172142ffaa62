//===- Passes.td - tile the loss, recompute cheap values -----------------===//

#ifndef ZERO_TRANSFORMS_SHAPE_PASSES_TD
#define ZERO_TRANSFORMS_SHAPE_PASSES_TD

include "mlir/Pass/PassBase.td"

def SinkResiduals : Pass<"zero-sink-residuals", "::mlir::ModuleOp"> {
  let summary = "Move nodes that only backward reads to their first reader";
  let description = [{
    A program that brings its own backward pass may compute coefficients of it during forward, as
    JAX does where it linearizes a function. They would be live until backward. A node that the
    loss does not depend on moves before the first op that reads it, if it computes element by
    element or is a view, and if no operand is larger than its result. Other programs do not
    change.

    ```mlir
    %c = onnx.node "Mul"(%x, %two) ...                             // before: while forward runs
    %y = onnx.node "Tanh"(%x) ...
    ...
    %g = onnx.node "Mul"(%dy, %c) ...                              // after: %c is computed here
    ```
  }];
}

def EncodeParameters : Pass<"zero-encode-parameters", "::mlir::ModuleOp"> {
  let summary = "Store frozen parameters in blocks of codes";
  let description = [{
    A parameter whose `blocks` zero-set-frozen-precision has decided becomes one of codes, with a
    parameter of its scales. These are stored in blocks of 256, with f32 scales and their mean
    (double quantization, QLoRA, arXiv 2305.14314, section 3). Each node that reads the parameter,
    also through views, gets its own `DecodeBlocks` just before it, so that decoded elements exist
    only while one node reads them. A parameter that an op in a region reads is decoded before the
    outermost op around it.

    ```mlir
    %w = zero.read @w : tensor<64x64xf32>                                                 // before
    %y = onnx.node "Contract"(%x, %w) ...

    %c = zero.read @w : tensor<2048xi8>                                                   // after
    %q = zero.read @"w.scale" : tensor<64xi8>
    %s = zero.read @"w.scale.scale" : tensor<2xf32>
    %a = onnx.node "DecodeBlocks"(%q, %s) {bits = 8 : i64, map = "dynamic", size = 256 : i64} ...
    %w = onnx.node "DecodeBlocks"(%c, %a) {bits = 4 : i64, map = "nf4", size = 64 : i64} ...
    %y = onnx.node "Contract"(%x, %w) ...
    ```
  }];
  let dependentDialects = ["::zero::ZeroDialect", "::zero::onnx::OnnxDialect"];
}

def TileVocabulary : Pass<"zero-tile-vocabulary", "::mlir::ModuleOp"> {
  let summary = "Compute a projection and its cross-entropy in tiles of classes";
  let description = [{
    Expands `ProjectionLoss` and `ProjectionLossGrad`, whose projection is partitioned by
    classes. Forward iterates over the parts and stores, for each row, the running maximum of
    the scores, the sum of exponentials relative to it, and the score of the label. Backward
    iterates over the parts again and recomputes their scores. So only one part of the
    projection and of its gradient exists at a time, and at most `bytes` bytes of the scores, in
    tiles of rows.

    ```mlir
    %l = onnx.node "Contract"(%x0, %w0) {transB = 1 : i64} ...      // for each part and tile
    %s1 = onnx.node "LossPart"(%l, %labels0, %s0) {begin = 0 : i64} ...
    ```
  }];
  let options = [
    Option<"bytes", "bytes", "uint64_t", "0",
           "maximum bytes of scores at a time; 0: 8 MiB, but at least 256 rows">,
  ];
  let dependentDialects = ["::zero::ZeroDialect"];
}

def TileProjection : Pass<"zero-tile-projection", "::mlir::ModuleOp"> {
  let summary = "Compute the logits of a loss and their gradient in tiles of rows";
  let description = [{
    A projection to a vocabulary and its cross-entropy need one row of logits at a time. All ops
    along these rows are cloned for each tile: the product, the loss, the gradient of the
    logits, and the products that read it. Losses and gradients of weights are summed in f32 in
    the order of the tiles; the rows of the other gradient are written to their offsets in one
    buffer. So the complete logits are never stored. Not changed: a loss whose own gradient
    depends on its value, and logits that another op reads.

    ```mlir
    %l = onnx.node "Contract"(%x, %w) {transB = 1 : i64} ...       // before, and its gradient
    %s:3 = onnx.node "CrossEntropySum"(%l, %labels) ...

    %x0 = zero.member %x at 0 : (tensor<64x8xf32>) -> tensor<16x8xf32>   // after, for each tile
    %l0 = onnx.node "Contract"(%x0, %w) {transB = 1 : i64} ...
    ```
  }];
  let options = [
    Option<"bytes", "bytes", "uint64_t", "0",
           "maximum bytes of logits at a time; 0: 8 MiB, but at least 256 rows">,
  ];
  let dependentDialects = ["::zero::ZeroDialect"];
}

def ExpandShardedLosses : Pass<"zero-expand-sharded-losses", "::mlir::ModuleOp"> {
  let summary = "Write out cross-entropies whose classes are sharded";
  let description = [{
    Each rank along an axis has the scores of some classes. It computes, for each row, the maximum
    of its scores, the sum of exponentials relative to it, and the score of the label if that is
    one of its classes. Ranks gather these three numbers and join them, so the scores themselves
    are never exchanged (Shoeybi et al., arXiv 1909.08053, section 3).

    ```mlir
    %s:3 = onnx.node "CrossEntropySum"(%scores, %labels, %none, %coordinate) ...  // before
    %p:3 = onnx.node "LossPart"(%scores, %own_labels) ...                         // after
    %g = onnx.node "AxisGather"(%p012) ...
    %j:3 = onnx.node "LossJoin"(%g) ...
    %s:3 = onnx.node "LossEnd"(%j#0, %j#1, %j#2, %labels) ...
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::zero::onnx::OnnxDialect"];
}

def AddIntoTables : Pass<"zero-add-into-tables", "::mlir::ModuleOp"> {
  let summary = "Accumulate the gradient of a gather in place";
  let description = [{
    The gradient of a table that is read twice, such as a tied embedding, is a sum. If one
    summand is a `GatherGrad` and the other is computed before it, `GatherGrad` takes the other
    as its initial value: a few rows change in place, and no table of zeros is filled and added.

    ```mlir
    %1 = onnx.node "GatherGrad"(%dy, %ids) ...        // before
    %2 = onnx.node "Add"(%0, %1) ...
    %1 = onnx.node "GatherGrad"(%dy, %ids, %0) ...    // after
    ```
  }];
}

def PackRecurrentWeights : Pass<"zero-pack-recurrent-weights", "::mlir::ModuleOp"> {
  let summary = "Reorder the recurrent weights of LSTM, GRU and RNN for vectors";
  let description = [{
    A step of a recurrent layer multiplies a few rows of states by all recurrent weights. With the
    weights of 16 units next to each other, a vector has the sums of 16 units, and a block of
    weights stays in the nearest cache for all rows. Weights are reordered once in a pass over all
    steps, and in f32 if they have 16 bits. The columns of each gate are padded to whole blocks.

    Kernels of GPUs read weights as they are.

    ```mlir
    %s:4 = onnx.node "LSTM"(%gates, %r, ...) ... : (tensor<9x8x40xf32>, tensor<40x10xf32>, ...)  // before
    %0 = onnx.node "Reshape"(%r, ...) ...    // after: 4 gates of 10 units
    %1 = onnx.node "Pad"(%0, ...) ...        // 4 gates of 16
    %2 = onnx.node "Transpose"(%1) ...       // 4 blocks of 10 terms of 16 units
    %s:4 = onnx.node "LSTM"(%gates, %2, ...) ... : (tensor<9x8x40xf32>, tensor<4x10x16xf32>, ...)
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::zero::onnx::OnnxDialect"];
}

def RecomputeCheap : Pass<"zero-recompute-cheap", "::mlir::ModuleOp"> {
  let summary = "Recompute cheap values in backward instead of saving them";
  let description = [{
    A value that forward computes and backward reads is saved between the two. If its node
    computes element by element or normalizes rows, and all operands of the node are live anyway
    when backward first reads the value, a clone of the node recomputes it there. The result is
    bitwise identical. The clone is marked `zero.recompute`, so that the two are not merged.
    Products are never recomputed. Linear in the size of the step.

    With `gathers`, a value that forward gathered along an axis of the mesh, and that backward
    reads, is gathered again there: of it, a rank saves its own part only, which may be cheap to
    recompute itself (Korthikanti et al., arXiv 2205.05198, section 4.2.2).

    ```mlir
    %1 = onnx.node "Gelu"(%0) ...
    ... the loss ...
    %2 = onnx.node "Gelu"(%0) ... {zero.recompute, zero.round}
    %3 = onnx.node "Contract"(%2, %dy) ...
    ```
  }];
  let options = [
    Option<"what", "what", "::zero::Recompute", /*default=*/"::zero::Recompute::Cheap",
           "cheap or none">,
    Option<"gathers", "gathers", "bool", /*default=*/"false",
           "gather again in backward what forward gathered along an axis">];
}

#endif // ZERO_TRANSFORMS_SHAPE_PASSES_TD
