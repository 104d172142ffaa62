//===- Passes.h - add the optimizer ----------------------------*- C++ -*-===//

#ifndef ZERO_TRANSFORMS_STEP_PASSES_H
#define ZERO_TRANSFORMS_STEP_PASSES_H

#include "dialects/Onnx/Onnx.h"
#include "dialects/Zero/Zero.h"
#include "zero/Optimizers/Schedule.h"
#include "zero/Options/Choices.h"
#include "zero/Transforms/Step/GradPrecision.h"
#include "zero/Transforms/Step/MasterWeights.h"
#include "zero/Transforms/Step/NonFinite.h"

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
#include "include/zero/Transforms/Step/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "include/zero/Transforms/Step/Passes.h.inc"

} // namespace zero

#endif // ZERO_TRANSFORMS_STEP_PASSES_H
