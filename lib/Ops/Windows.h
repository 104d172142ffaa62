//===- Windows.h - windows that slide over images ---------------*- C++ -*-===//
//
// What convolutions and pooling share: over each spatial dimension of a tensor
// [batch, channels, ...] a window of `kernel` elements, `dilation` apart, moves by
// `stride`. Output p of a dimension sees the elements p stride + k dilation - pad.
//
//===----------------------------------------------------------------------===//

#ifndef LIB_OPS_WINDOWS_H
#define LIB_OPS_WINDOWS_H

#include "Lowering.h"

namespace zero::ops {

struct Windows {
  llvm::SmallVector<int64_t> input, output, kernel, strides, dilations, padsBegin, padsEnd;

  int64_t rank() const { return input.size(); }
  /// Elements of the padded input that the windows of dimension `dim` span.
  int64_t span(int64_t dim) const {
    return std::max<int64_t>(output[dim] - 1, 0) * strides[dim] + reach(dim) + 1;
  }
  /// The distance of the last element of a window from its first.
  int64_t reach(int64_t dim) const { return (kernel[dim] - 1) * dilations[dim]; }
};

/// The windows of `node` from its attributes strides, dilations, pads and auto_pad;
/// an error at the node where they do not fit the shapes, which are spatial only.
mlir::FailureOr<Windows> windowsOf(onnx::NodeOp node, llvm::ArrayRef<int64_t> input,
                                   llvm::ArrayRef<int64_t> kernel, llvm::ArrayRef<int64_t> output);

/// `windows` as the attributes strides, dilations and pads of a node.
llvm::SmallVector<mlir::NamedAttribute> windowAttributes(NodeBuilder &builder,
                                                         const Windows &windows);

/// `value` [leading..., input...] as [leading..., spans...]: padded with `fill`, and
/// without the elements that no window sees.
mlir::Value paddedInput(mlir::ImplicitLocOpBuilder &b, mlir::Value value, const Windows &windows,
                        double fill);

/// The index map of `paddedInput`'s spatial dimensions for loops `outputs` over the
/// windows and `elements` inside them: one expression for each dimension.
llvm::SmallVector<mlir::AffineExpr> windowExprs(const Windows &windows,
                                                llvm::ArrayRef<mlir::AffineExpr> outputs,
                                                llvm::ArrayRef<mlir::AffineExpr> elements);

/// `value` [leading..., output...] with its elements `stride` apart and zeros between them, as
/// [leading..., input + reach...]. The windows that read element i of the input through their
/// element k are at i + reach - k dilation.
mlir::Value spreadOutput(mlir::ImplicitLocOpBuilder &b, mlir::Value value, const Windows &windows);

/// The index map of `spreadOutput`'s spatial dimensions for loops over the input and
/// over the elements of a window.
llvm::SmallVector<mlir::AffineExpr> spreadExprs(const Windows &windows,
                                                llvm::ArrayRef<mlir::AffineExpr> inputs,
                                                llvm::ArrayRef<mlir::AffineExpr> elements);

/// `paddedInput` as [leading..., elements], with the spatial dimensions joined, and zeros behind
/// it, up to which the windows of elements between the outputs reach.
mlir::Value flatInput(mlir::ImplicitLocOpBuilder &b, mlir::Value value, const Windows &windows);

/// `value` [leading..., output...] as [leading..., elements]: each output is at the index of the
/// first element of its window in `flatInput`, with zeros between them.
mlir::Value flatOutput(mlir::ImplicitLocOpBuilder &b, mlir::Value value, const Windows &windows);

/// The index map of `flatInput`'s elements for a loop over those of `flatOutput` and loops over the
/// elements of a window.
mlir::AffineExpr flatExpr(const Windows &windows, mlir::AffineExpr output,
                          llvm::ArrayRef<mlir::AffineExpr> elements);

} // namespace zero::ops

#endif // LIB_OPS_WINDOWS_H
