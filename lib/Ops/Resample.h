//===- Resample.h - weighted sums along one axis ----------------*- C++ -*-===//
//
// zero::Resample(x) {axis, transposed, ...} applies the table of ResizeTable.h to one
// dimension; with transposed = 1 its adjoint. Each is the other's gradient.
//
//===----------------------------------------------------------------------===//

#ifndef LIB_OPS_RESAMPLE_H
#define LIB_OPS_RESAMPLE_H

#include "ResizeTable.h"
#include "zero/Ops/OpTable.h"

namespace zero::ops {

/// The node that resizes dimension `axis` of `value`, which holds floats.
mlir::Value resampleNode(NodeBuilder &builder, mlir::Value value, int64_t axis,
                         const AxisResize &resize);

} // namespace zero::ops

#endif // LIB_OPS_RESAMPLE_H
