//===- Passes.h - shard parameters and activations --------------*- C++ -*-===//

#ifndef ZERO_TRANSFORMS_SHARD_PASSES_H
#define ZERO_TRANSFORMS_SHARD_PASSES_H

#include "dialects/Onnx/Onnx.h"
#include "dialects/Zero/Zero.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace zero {

#define GEN_PASS_DECL
#include "include/zero/Transforms/Shard/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "include/zero/Transforms/Shard/Passes.h.inc"

} // namespace zero

#endif // ZERO_TRANSFORMS_SHARD_PASSES_H
