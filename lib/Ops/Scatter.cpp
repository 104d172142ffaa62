//===- Scatter.cpp - gradients of gathers and scatters --------------------===//

#include "Scatter.h"
#include "Movement.h"

#include "llvm/ADT/StringSwitch.h"

using namespace mlir;

namespace zero::ops {

LogicalResult gatherGradient(onnx::NodeOp node, ValueRange dy, ArrayRef<bool> wanted,
                             NodeBuilder &builder, MutableArrayRef<Value> grads, StringRef type,
                             NamedAttribute attr) {
  if (wanted[0] && dy[0])
    grads[0] = builder
                   .create(kZeroDomain, type, node.inputType(0), {dy[0], node.getInputs()[1]},
                           {attr, builder.attr("shape", node.inputType(0).getShape())})
                   .getResult(0);
  return success();
}

LogicalResult scatterGradient(onnx::NodeOp node, ValueRange dy, ArrayRef<bool> wanted,
                              NodeBuilder &builder, MutableArrayRef<Value> grads, StringRef gather,
                              ArrayRef<NamedAttribute> attrs) {
  StringRef reduction = node.getString("reduction", "none");
  if (reduction != "none" && reduction != "add")
    return nodeError(node) << "no gradient for reduction '" << reduction << "'";
  Value indices = node.getInputs()[1];
  if (wanted[2])
    grads[2] = builder.create("", gather, node.inputType(2), {dy[0], indices}, attrs).getResult(0);
  if (!wanted[0])
    return success();
  grads[0] = dy[0];
  if (reduction == "none")
    grads[0] = builder
                   .create("", node.getOpType(), node.inputType(0),
                           {dy[0], indices, builder.splat(0, node.inputType(2))}, attrs)
                   .getResult(0);
  return success();
}

FailureOr<std::optional<Combine>> scatterReduction(onnx::NodeOp node) {
  StringRef name = node.getString("reduction", "none");
  if (name == "none")
    return std::optional<Combine>();
  auto combine = llvm::StringSwitch<std::optional<Combine>>(name)
                     .Case("add", Combine::Sum)
                     .Case("mul", Combine::Product)
                     .Case("max", Combine::Max)
                     .Case("min", Combine::Min)
                     .Default(std::nullopt);
  if (!combine)
    return nodeError(node) << "expected reduction 'none', 'add', 'mul', 'max' or 'min', got '"
                           << name << "'";
  return std::optional(forSign(node, 0, *combine));
}

} // namespace zero::ops
