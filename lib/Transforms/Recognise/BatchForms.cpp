//===- BatchForms.cpp - operators on sums and means of a batch ------------===//

#include "BatchForms.h"

#include "zero/Ops/OpTable.h"

#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace zero;

static Type elementOf(Value value) { return getElementTypeOrSelf(value.getType()); }

/// Whether a Cast changes no value.
static bool isExact(onnx::NodeOp cast) {
  Type from = elementOf(cast.getInputs()[0]), to = elementOf(cast.getOutputs()[0]);
  return isa<FloatType>(to) || (isa<IntegerType>(from) && !to.isInteger(1));
}

BatchForm zero::formOf(onnx::NodeOp node) {
  const bool isFloat = isa<FloatType>(elementOf(node.getOutputs()[0]));
  if (node.isAnyOf({op::Add, op::Sub, op::Sum, op::Where, op::Concat}))
    return BatchForm::Additive;
  if (node.isAnyOf({op::Mul, op::MatMul, own::Contract}))
    return BatchForm::Product;
  if (node.is(op::Div))
    return isFloat ? BatchForm::Quotient : BatchForm::Other;
  if (node.is(op::Cast))
    return isExact(node) ? BatchForm::Passing : BatchForm::Other;
  if (node.is(op::ReduceMean))
    return isFloat ? BatchForm::Passing : BatchForm::Other;
  const ops::OpDef *def = ops::lookup(node);
  const bool isLinear =
      (def && def->kind == ops::Kind::View) ||
      node.isAnyOf({op::Neg, op::Transpose, op::Slice, op::Split, op::Expand, op::Tile, op::Gather,
                    op::ReduceSum, own::CheckPositive, own::CheckTrue});
  return isLinear ? BatchForm::Passing : BatchForm::Other;
}
