//===- Annotations.cpp - ops that compute nothing -------------------------===//
//
// Some say where a tensor is, which Zero decides itself. zero.from_jax writes others, which say
// what a derivative is where it is not that of the ops that compute the value.
//

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

/// `x` behind a cut. The largest element of a row that nothing else reads is cut in front of its
/// reduction, so that a softmax keeps the form in which it is recognized.
static Value stopGradient(Emitter &b, Value x) {
  for (Value value = x; value.hasOneUse();) {
    auto node = value.getDefiningOp<onnx::NodeOp>();
    if (!node || !node.isAnyOf({op::Reshape, op::Expand, op::Transpose, op::ReduceMax}))
      break;
    value = node.getInputs()[0];
    if (!node.is(op::ReduceMax))
      continue;
    OpBuilder::InsertionGuard guard(b.getBuilder());
    b.getBuilder().setInsertionPoint(node);
    node->setOperand(0, b.one(own::StopGradient, value.getType(), value));
    return x;
  }
  return b.one(own::StopGradient, x.getType(), x);
}

/// min(max(x, 0), 6). Its derivative is 0 at both bounds.
static Value relu6(Emitter &b, Value x) {
  Value zero = b.number(0, elementOf(x)), six = b.number(6, elementOf(x));
  Value inside = b.binary(op::And, b.binary(op::Greater, x, zero), b.binary(op::Less, x, six));
  Value bounded = b.binary(op::Min, b.binary(op::Max, x, zero), six);
  return b.where(inside, x, b.one(own::StopGradient, x.getType(), bounded));
}

/// The value of a call of zero.from_jax, from one float to one of its type; null for other calls.
static Value derivativeCall(StringRef target, Emitter &b, Value x) {
  if (target == "zero.stop_gradient")
    return stopGradient(b, x);
  if (target == "zero.relu")
    return b.unary(op::Relu, x);
  return target == "zero.relu6" ? relu6(b, x) : Value();
}

/// Calls that say where a tensor is, and those of zero.from_jax.
static LogicalResult customCall(Operation *op, Emitter &b, SmallVectorImpl<Value> &results) {
  StringRef target = cast<CustomCallOp>(op).getCallTargetName();
  const bool isAnnotation =
      llvm::StringSwitch<bool>(target)
          .Cases({"Sharding", "SPMDFullToShardShape", "SPMDShardToFullShape"}, true)
          .Cases({"xla.sdy.FuncResultSharding", "annotate_device_placement"}, true)
          .Default(false);
  if (isAnnotation)
    return identity(op, b, results);
  const bool isOfFloat = op->getNumOperands() == 1 && op->getNumResults() == 1 &&
                         isa<FloatType>(elementOf(op->getOperand(0)));
  Value value = isOfFloat ? derivativeCall(target, b, op->getOperand(0)) : Value();
  if (!value)
    return b.refuse("expected an annotation of shardings, or a call that zero.from_jax writes, got "
                    "a call of '" +
                    target + "'");
  results.push_back(value);
  return success();
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
