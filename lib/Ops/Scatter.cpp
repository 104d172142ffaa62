//===- Scatter.cpp - gradients of gathers and scatters --------------------===//
//
// The gradients of a scatter's data and updates are those of PyTorch's scatter_reduce
// with include_self, by reduction:
//
//   none      dy where nothing was written; dy at its index for each update
//   add       dy; dy at its index
//   max, min  dy in equal parts for all that equal the result, the data's element among
//             them: amax and amin
//   mul       dy times the product of all the others, exact where some are zero; it has no
//             derivative, because that formula has another one where several are zero
//
// With repeated indices and reduction none, of which ONNX says nothing, every update gets
// dy, as in PyTorch.
//

#include "Scatter.h"
#include "Movement.h"

#include "llvm/ADT/StringSwitch.h"

using namespace mlir;

namespace zero::ops {

LogicalResult gatherGradient(onnx::NodeOp node, ValueRange dy, ArrayRef<bool> wanted,
                             NodeBuilder &builder, MutableArrayRef<Value> grads,
                             onnx::Operator type, NamedAttribute attr) {
  if (wanted[0] && dy[0])
    grads[0] = builder
                   .create(type, node.inputType(0), {dy[0], node.getInputs()[1]},
                           {attr, builder.attr("shape", node.inputType(0).getShape())})
                   .getResult(0);
  return success();
}

LogicalResult scatteredGradient(onnx::NodeOp node, ValueRange dy, ArrayRef<bool> wanted,
                                NodeBuilder &builder, MutableArrayRef<Value> grads,
                                onnx::Operator gather, NamedAttribute attr) {
  if (wanted[0])
    grads[0] =
        builder.create(gather, node.inputType(0), {dy[0], node.getInputs()[1]}, attr).getResult(0);
  return success();
}

namespace {
/// The scatter `node` and its opposite, applied to other tensors at the same indices.
struct ScatterNodes {
  Value gather(Value value) {
    auto type = node.inputType(2).clone(tensorType(value).getElementType());
    return builder.create(gatherType, type, {value, indices}, attrs).getResult(0);
  }
  Value scatter(Value into, Value updates, StringRef reduction) {
    NamedAttrList all(attrs);
    all.append(builder.attr("reduction", reduction));
    return builder.create(node.getOperator(), into.getType(), {into, indices, updates}, all)
        .getResult(0);
  }
  /// Numbers that are counted up are f32 at least.
  Type countType() {
    Type element = node.inputType(0).getElementType();
    return element.isF64() ? element : builder.getBuilder().getF32Type();
  }
  Value ones(Value where) { return builder.cast(where, countType()); }
  Value data() { return node.getInputs()[0]; }
  Value updates() { return node.getInputs()[2]; }
  Value result() { return node.getOutputs()[0]; }

  onnx::NodeOp node;
  Value indices;
  NodeBuilder &builder;
  onnx::Operator gatherType;
  ArrayRef<NamedAttribute> attrs;
};
} // namespace

static void gradientOfNone(ScatterNodes &n, Value dy, ArrayRef<bool> wanted,
                           MutableArrayRef<Value> grads) {
  if (wanted[2])
    grads[2] = n.gather(dy);
  if (wanted[0])
    grads[0] = n.scatter(dy, n.builder.splat(0, n.node.inputType(2)), "none");
}

static void gradientOfAdd(ScatterNodes &n, Value dy, ArrayRef<bool> wanted,
                          MutableArrayRef<Value> grads) {
  if (wanted[2])
    grads[2] = n.gather(dy);
  if (wanted[0])
    grads[0] = dy;
}

/// Equal parts for all that equal the result.
static void gradientOfExtreme(ScatterNodes &n, Value dy, ArrayRef<bool> wanted,
                              MutableArrayRef<Value> grads) {
  NodeBuilder &b = n.builder;
  Value fromData = n.ones(b.binary(op::Equal, n.data(), n.result()));
  Value fromUpdate = n.ones(b.binary(op::Equal, n.updates(), n.gather(n.result())));
  Value part = b.div(dy, n.scatter(fromData, fromUpdate, "add"));
  if (wanted[0])
    grads[0] = b.mul(fromData, part);
  if (wanted[2])
    grads[2] = b.mul(fromUpdate, n.gather(part));
}

/// The product of all other factors. For an update, this is the product of the nonzero factors
/// divided by the update, unless another update is zero.
static void gradientOfProduct(ScatterNodes &n, Value dy, ArrayRef<bool> wanted,
                              MutableArrayRef<Value> grads) {
  NodeBuilder &b = n.builder;
  if (wanted[0]) {
    Value ones = b.splat(1, n.node.inputType(0));
    grads[0] = b.mul(dy, n.scatter(ones, n.updates(), "mul"));
  }
  if (!wanted[2])
    return;
  Value isZero = b.binary(op::Equal, n.updates(), b.scalar(0, n.updates().getType()));
  Value factors = b.where(isZero, b.scalar(1, n.updates().getType()), n.updates());
  Value product = b.mul(dy, n.scatter(n.data(), factors, "mul"));
  Value own = n.ones(isZero);
  Value none = b.splat(0, n.node.inputType(0).clone(n.countType()));
  Value alone = b.binary(op::Equal, n.gather(n.scatter(none, own, "add")), own);
  Value others = b.div(n.gather(product), factors);
  Value gradient = b.where(alone, others, b.scalar(0, others.getType()));
  grads[2] = b.create(own::FirstGradient, gradient.getType(), gradient).getResult(0);
}

LogicalResult scatterGradient(onnx::NodeOp node, ValueRange dy, ArrayRef<bool> wanted,
                              NodeBuilder &builder, MutableArrayRef<Value> grads,
                              onnx::Operator gather, ArrayRef<NamedAttribute> attrs) {
  ScatterNodes nodes{node, node.getInputs()[1], builder, gather, attrs};
  auto rule = llvm::StringSwitch<decltype(&gradientOfNone)>(node.getString("reduction", "none"))
                  .Case("none", gradientOfNone)
                  .Case("add", gradientOfAdd)
                  .Case("mul", gradientOfProduct)
                  .Cases({"max", "min"}, gradientOfExtreme)
                  .Default(nullptr);
  if (!rule)
    return scatterReduction(node); // reports the error
  rule(nodes, dy[0], wanted, grads);
  for (unsigned operand : {0, 2})
    if (grads[operand])
      grads[operand] = builder.cast(grads[operand], node.inputType(operand).getElementType());
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
