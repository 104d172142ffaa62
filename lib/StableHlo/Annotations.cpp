//===- Annotations.cpp - ops that compute nothing -------------------------===//

#include "Rules.h"

#include "llvm/ADT/StringSwitch.h"

using namespace mlir;
using namespace zero::stablehlo;

namespace zero::hlo {

/// Each result is the operand of the same number.
static LogicalResult identity(Operation *op, Emitter &b, SmallVectorImpl<Value> &results) {
  if (op->getOperandTypes() != op->getResultTypes())
    return b.refuse("expected results of the types of the operands");
  llvm::append_range(results, op->getOperands());
  return success();
}

/// Calls that only say where a tensor is. Zero decides that itself.
static LogicalResult customCall(Operation *op, Emitter &b, SmallVectorImpl<Value> &results) {
  StringRef target = cast<CustomCallOp>(op).getCallTargetName();
  const bool isAnnotation =
      llvm::StringSwitch<bool>(target)
          .Cases({"Sharding", "SPMDFullToShardShape", "SPMDShardToFullShape"}, true)
          .Cases({"xla.sdy.FuncResultSharding", "annotate_device_placement"}, true)
          .Default(false);
  if (!isAnnotation)
    return b.refuse("expected an annotation of shardings, got a call of '" + target + "'");
  return identity(op, b, results);
}

/// The body computes with the shards of one device, and exchanges them itself.
static LogicalResult manualComputation(Operation *, Emitter &b, SmallVectorImpl<Value> &) {
  return b.refuse("expected a program of whole tensors, got a part that computes on the shards of "
                  "a device (jax.shard_map); write it with jit and shardings");
}

void addAnnotationRules(RuleTable &table) {
  table["stablehlo.optimization_barrier"] = identity;
  table["stablehlo.custom_call"] = customCall;
  table["sdy.sharding_constraint"] = identity;
  table["sdy.manual_computation"] = manualComputation;
}

} // namespace zero::hlo
