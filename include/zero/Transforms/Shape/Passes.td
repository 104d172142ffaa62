//===- Passes.td - tile the loss, recompute cheap values -----------------===//

#ifndef ZERO_TRANSFORMS_SHAPE_PASSES_TD
#define ZERO_TRANSFORMS_SHAPE_PASSES_TD

include "mlir/Pass/PassBase.td"

def TileVocabulary : Pass<"zero-tile-vocabulary", "::mlir::ModuleOp"> {
  let summary = "Computes a projection and its cross-entropy a part of the classes at a time";
  let description = [{
    Writes out `ProjectionLoss` and `ProjectionLossGrad`, whose projection is cut into
    parts of the classes. Forward goes over the parts and keeps, for each row, the largest
    score so far, the sum of exponentials relative to it, and the score of the label;
    backward goes over the parts again and computes their scores anew. So of the
    projection and of its gradient one part is there at a time, and of the scores one part
    of `bytes` at most, in tiles of rows.

    ```mlir
    %l = onnx.node "Contract"(%x0, %w0) {transB = 1 : i64} ...      // for each part and tile
    %s1 = onnx.node "LossPart"(%l, %labels0, %s0) {begin = 0 : i64} ...
    ```
  }];
  let options = [
    Option<"bytes", "bytes", "uint64_t", "0",
           "most bytes of scores at once; 0: 8 MiB, but at least 256 rows">,
  ];
  let dependentDialects = ["::zero::ZeroDialect"];
}

def TileProjection : Pass<"zero-tile-projection", "::mlir::ModuleOp"> {
  let summary = "Computes the logits of a loss, and what follows from them, in tiles of rows";
  let description = [{
    A projection to a vocabulary and its cross-entropy need one row of logits at a
    time. Everything along these rows is written once for each tile: the product, the
    loss, the gradient of the logits, and the products that read it. Losses and the
    gradients of weights are added up in f32 in the order of the tiles, the rows of the
    other gradient are made in their places in one buffer. So all logits are never
    stored at once. Left as it is: a loss whose own gradient depends on its value, and
    logits that something else reads.

    ```mlir
    %l = onnx.node "Contract"(%x, %w) {transB = 1 : i64} ...       // before, and its gradient
    %s:3 = onnx.node "CrossEntropySum"(%l, %labels) ...

    %x0 = zero.member %x at 0 : (tensor<64x8xf32>) -> tensor<16x8xf32>   // after, for each tile
    %l0 = onnx.node "Contract"(%x0, %w) {transB = 1 : i64} ...
    ```
  }];
  let options = [
    Option<"bytes", "bytes", "uint64_t", "0",
           "most bytes of logits at once; 0: 8 MiB, but at least 256 rows">,
  ];
  let dependentDialects = ["::zero::ZeroDialect"];
}

def AddIntoTables : Pass<"zero-add-into-tables", "::mlir::ModuleOp"> {
  let summary = "Lets the gradient of a gather add to what it is added to";
  let description = [{
    The gradient of a table that is read twice, as a tied embedding is, is a sum. Where
    one summand is a `GatherGrad` and the other is there before it, `GatherGrad` takes
    that as the tensor to start from: a few rows change in place, and no table of zeros
    is filled and added.

    ```mlir
    %1 = onnx.node "GatherGrad"(%dy, %ids) ...        // before
    %2 = onnx.node "Add"(%0, %1) ...
    %1 = onnx.node "GatherGrad"(%dy, %ids, %0) ...    // after
    ```
  }];
}

def RecomputeCheap : Pass<"zero-recompute-cheap", "::mlir::ModuleOp"> {
  let summary = "Computes in backward again what is cheap, instead of keeping it";
  let description = [{
    A value that forward makes and backward reads is kept from one to the other. Where
    its node computes element by element or normalises rows, and all that the node reads
    is there anyway when backward first reads the value, a clone of the node makes it
    again just then, from the same bytes to the same bits. The clone is marked
    `zero.recompute`, so that nothing merges the two. Products are never computed again.
    Linear in the step.

    ```mlir
    %1 = onnx.node "Gelu"(%0) ...
    ... the loss ...
    %2 = onnx.node "Gelu"(%0) ... {zero.recompute, zero.round}
    %3 = onnx.node "Contract"(%2, %dy) ...
    ```
  }];
  let options = [
    Option<"what", "what", "::zero::Recompute", /*default=*/"::zero::Recompute::Cheap", "cheap or none">];
}

#endif // ZERO_TRANSFORMS_SHAPE_PASSES_TD
