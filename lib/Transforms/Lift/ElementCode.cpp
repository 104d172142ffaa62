//===- ElementCode.cpp - the code of one element of nodes -----------------===//
//
// The op table lowers a node to a loop over tensors. Here each node is lowered for tensors of rank
// 0, whose loops have one iteration, and only the bodies of the loops are kept.
//
//===----------------------------------------------------------------------===//

#include "ElementCode.h"

#include "UpdateNodes.h"
#include "zero/Ops/OpTable.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace zero {

static RankedTensorType pointOf(Value value) {
  return onnx::signless(RankedTensorType::get({}, getElementTypeOrSelf(value.getType())));
}

namespace {
class ElementBuilder {
public:
  ElementBuilder(OpBuilder &builder, IRMapping &elements)
      : builder(builder), elements(elements), points(builder.getContext()) {
    points.setInsertionPointToEnd(&block);
  }

  LogicalResult run(onnx::NodeOp node);

private:
  Value pointFor(Value operand);
  LogicalResult inlineBody(Operation *op);

  OpBuilder &builder;
  IRMapping &elements;
  Block block; ///< nodes and their lowering on tensors of rank 0
  OpBuilder points;
  IRMapping scalars; ///< from values of `block` to scalars at `builder`
};
} // namespace

/// A tensor of rank 0 that stands for `operand`.
Value ElementBuilder::pointFor(Value operand) {
  if (isa<NoneType>(operand.getType()))
    return onnx::NoneOp::create(points, operand.getLoc(), operand.getType());
  SplatElementsAttr splat;
  if (matchPattern(operand, m_Constant(&splat)))
    return arith::ConstantOp::create(
        points, operand.getLoc(),
        DenseElementsAttr::get(pointOf(operand), splat.getSplatValue<Attribute>()));
  Value point = block.addArgument(pointOf(operand), operand.getLoc());
  scalars.map(point, elements.lookup(operand));
  return point;
}

/// Copies what `op`, made for a tensor of rank 0, does with its element.
LogicalResult ElementBuilder::inlineBody(Operation *op) {
  if (isa<onnx::NodeOp, onnx::NoneOp, tensor::EmptyOp>(op))
    return success();
  if (auto constant = dyn_cast<arith::ConstantOp>(op)) {
    auto splat = dyn_cast<SplatElementsAttr>(constant.getValue());
    TypedAttr value = splat ? splat.getSplatValue<TypedAttr>() : constant.getValue();
    scalars.map(constant.getResult(), arith::ConstantOp::create(builder, op->getLoc(), value));
    return success();
  }
  auto generic = dyn_cast<linalg::GenericOp>(op);
  if (!generic || generic.getNumLoops() != 0)
    return failure();
  Block *body = generic.getBody();
  for (auto [argument, operand] : llvm::zip(body->getArguments(), generic.getDpsInputs()))
    scalars.map(argument, scalars.lookup(operand));
  for (Operation &inner : body->without_terminator())
    builder.clone(inner, scalars);
  for (auto [result, made] :
       llvm::zip_equal(generic.getResults(), body->getTerminator()->getOperands()))
    scalars.map(result, scalars.lookup(made));
  return success();
}

LogicalResult ElementBuilder::run(onnx::NodeOp node) {
  SmallVector<Value> inputs, given;
  for (Value operand : node.getInputs()) {
    inputs.push_back(pointFor(skipViews(operand)));
    given.push_back(isa<NoneType>(operand.getType()) ? Value() : inputs.back());
  }
  auto point = onnx::NodeOp::create(points, node.getLoc(), TypeRange(pointOf(node.getResult(0))),
                                    node.getOpTypeAttr(), inputs, node.getAttrsAttr(),
                                    node.getDomainAttr(), node.getOpsetAttr(), node.getNodeAttr());
  ops::Lowered lowered;
  if (failed(ops::lower(point, given, points, lowered)))
    return failure();
  for (Operation &op : block)
    if (failed(inlineBody(&op)))
      return emitError(node.getLoc())
             << node.describe() << ": expected an operator that computes each element of the "
             << "update from the elements at its place";
  elements.map(node.getResult(0), scalars.lookup(lowered.results.front()));
  return success();
}

LogicalResult buildElementCode(ArrayRef<onnx::NodeOp> nodes, OpBuilder &builder,
                               IRMapping &elements) {
  for (onnx::NodeOp node : nodes)
    if (failed(ElementBuilder(builder, elements).run(node)))
      return failure();
  return success();
}

Value elementOf(OpBuilder &builder, Value value, IRMapping &elements) {
  if (Value element = elements.lookupOrNull(value))
    return element;
  SplatElementsAttr splat;
  bool isConstant = matchPattern(value, m_Constant(&splat));
  assert(isConstant && "neither computed nor constant");
  (void)isConstant;
  return arith::ConstantOp::create(builder, value.getLoc(), splat.getSplatValue<TypedAttr>());
}

} // namespace zero
