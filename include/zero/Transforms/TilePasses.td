//===- TilePasses.td - passes that cut parameters into tiles --------------===//

#ifndef ZERO_TRANSFORMS_TILEPASSES_TD
#define ZERO_TRANSFORMS_TILEPASSES_TD

include "mlir/Pass/PassBase.td"

def TileParameters : Pass<"zero-tile-parameters", "::mlir::ModuleOp"> {
  let summary = "Cuts parameters above a size, and what reads them, into tiles";
  let description = [{
    Memory-centric tiling (ZeRO-Infinity, arXiv 2104.07857, section 5.1.3). A parameter
    of more than `bytes` becomes as few parts of at most that as there can be, as even as
    possible, each a parameter of its own (`zero.part`): with its own bucket, gradient
    and states, so that one part is gathered at a time. What reads it is written once
    for each part, in sequence:

    - a matrix product by rows or columns of its result, which are then joined: nothing
      that is summed is cut;
    - a Gather of rows by rows of the table: each part fills in the rows that it has;
    - a product that makes the scores of a cross-entropy, and nothing else reads, becomes
      one node, `ProjectionLoss`, which zero-tile-vocabulary writes out.

    Every reader must cut the same dimension. What cannot be cut is refused, with the
    node and the size: another operator, a limit below one row or column. Does nothing
    when `bytes` is 0. Decisions are remarks of category "tiles".

    ```mlir
    zero.parameter @w : tensor<8x4xf32> {data = ...}                              // before
    %y = onnx.node "MatMul"(%x, %w) ... -> tensor<2x4xf32>

    zero.parameter @"w.part0" : tensor<8x2xf32> {data = ..., zero.part = ...}     // after
    zero.parameter @"w.part1" : tensor<8x2xf32> {data = ..., zero.part = ...}
    %0 = onnx.node "MatMul"(%x, %w0) ... -> tensor<2x2xf32>
    %1 = onnx.node "MatMul"(%x, %w1) ... -> tensor<2x2xf32>
    %y = onnx.node "Concat"(%0, %1) {axis = 1 : i64} ... -> tensor<2x4xf32>
    ```
  }];
  let options = [
    Option<"bytes", "bytes", "uint64_t", "0", "largest part of a parameter; 0: any">];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::zero::ZeroDialect",
                           "::zero::onnx::OnnxDialect"];
}

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

#endif // ZERO_TRANSFORMS_TILEPASSES_TD
