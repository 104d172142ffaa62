//===- Trigonometry.h - sine and cosine of one element ----------*- C++ -*-===//

#ifndef LIB_OPS_TRIGONOMETRY_H
#define LIB_OPS_TRIGONOMETRY_H

#include "Lowering.h"

namespace zero::ops {

/// cos(x) of a scalar f32 or f64 of at most some rotations, without the code for large ones.
mlir::Value cosineOfTurn(mlir::ImplicitLocOpBuilder &b, mlir::Value x);

} // namespace zero::ops

#endif // LIB_OPS_TRIGONOMETRY_H
