//===- Trigonometry.h - sine and cosine of one element ----------*- C++ -*-===//

#ifndef ZERO_LIB_OPS_TRIGONOMETRY_H
#define ZERO_LIB_OPS_TRIGONOMETRY_H

#include "Lowering.h"

namespace zero::ops {

/// cos(x) of a scalar f32 or f64, as the operator Cos computes it.
mlir::Value cosine(mlir::ImplicitLocOpBuilder &b, mlir::Value x);

} // namespace zero::ops

#endif // ZERO_LIB_OPS_TRIGONOMETRY_H
