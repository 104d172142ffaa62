//===- Passes.h - lift updates out of training steps ------------*- C++ -*-===//

#ifndef ZERO_TRANSFORMS_LIFT_PASSES_H
#define ZERO_TRANSFORMS_LIFT_PASSES_H

#include "dialects/Onnx/Onnx.h"
#include "dialects/Zero/Zero.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace zero {

#define GEN_PASS_DECL
#include "include/zero/Transforms/Lift/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "include/zero/Transforms/Lift/Passes.h.inc"

} // namespace zero

#endif // ZERO_TRANSFORMS_LIFT_PASSES_H
