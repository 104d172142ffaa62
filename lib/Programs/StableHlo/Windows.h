//===- Windows.h - attributes of windows ------------------------*- C++ -*-===//

#ifndef LIB_PROGRAMS_STABLEHLO_WINDOWS_H
#define LIB_PROGRAMS_STABLEHLO_WINDOWS_H

#include "Rules.h"

namespace zero::hlo {

/// How windows move over some dimensions of a tensor.
struct WindowDims {
  llvm::SmallVector<int64_t> size, strides, low, high, baseDilations, dilations;

  int64_t rank() const { return size.size(); }
  /// The distance of the last element of a window from its first.
  int64_t reach(int64_t dim) const { return (size[dim] - 1) * dilations[dim]; }
  /// The extent of dimension `dim` with elements between, of originally `extent`.
  int64_t dilated(int64_t dim, int64_t extent) const {
    return extent ? (extent - 1) * baseDilations[dim] + 1 : 0;
  }
  /// How many windows there are in dimension `dim` of `extent` elements.
  int64_t count(int64_t dim, int64_t extent) const {
    int64_t room = dilated(dim, extent) + low[dim] + high[dim] - reach(dim) - 1;
    return room < 0 ? 0 : room / strides[dim] + 1;
  }
  /// Those of `dims`.
  WindowDims select(llvm::ArrayRef<int64_t> dims) const;
  /// Interior padding for the base dilations.
  llvm::SmallVector<int64_t> interior() const;
};

/// The windows of `size` with these attributes, each null where all are 1 (paddings: 0); nothing if
/// a list has not one number for each dimension, or one that is not possible.
std::optional<WindowDims> windowsOf(llvm::ArrayRef<int64_t> size, mlir::Attribute strides,
                                    mlir::Attribute padding, mlir::Attribute baseDilations,
                                    mlir::Attribute dilations);

/// Attributes strides, dilations and pads of a node.
llvm::SmallVector<mlir::NamedAttribute>
windowAttributes(Emitter &b, llvm::ArrayRef<int64_t> strides, llvm::ArrayRef<int64_t> dilations,
                 llvm::ArrayRef<int64_t> low, llvm::ArrayRef<int64_t> high);

} // namespace zero::hlo

#endif // LIB_PROGRAMS_STABLEHLO_WINDOWS_H
