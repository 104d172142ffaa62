//===- StepOps.cpp - bytes, views and names of a step's ops ---------------===//

#include "zero/Analysis/StepOps.h"

#include "dialects/Zero/Mesh.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;

namespace zero {

std::string displayName(Operation *op) {
  if (auto name = op->getAttrOfType<StringAttr>(kNameAttr))
    return name.str();
  if (auto read = dyn_cast<ReadOp>(op))
    return read.getSymbol().str();
  return op->getName().getStringRef().str();
}

int64_t elementBytes(Type type) {
  return llvm::divideCeil(cast<RankedTensorType>(type).getElementTypeBitWidth(), 8);
}

int64_t tensorBytes(Type type) {
  return cast<RankedTensorType>(type).getNumElements() * elementBytes(type);
}

bool isReshape(Operation *op) {
  return isa_and_nonnull<tensor::CollapseShapeOp, tensor::ExpandShapeOp>(op);
}

Value throughReshapes(Value value) {
  while (isReshape(value.getDefiningOp()))
    value = value.getDefiningOp()->getOperand(0);
  return value;
}

Value throughTransfers(Value value) {
  while (auto transfer = value.getDefiningOp<TransferOp>())
    value = transfer.getInput();
  return value;
}

SmallVector<int64_t, 1> rankStrides(Operation *op, GroupAttr group, int64_t bytes) {
  SmallVector<int64_t, 1> strides;
  for (int64_t stride : Mesh(op->getParentOfType<ModuleOp>()).stridesIn(group))
    strides.push_back(stride * bytes);
  return strides;
}

std::optional<View> viewOf(Operation *op) {
  if (isReshape(op))
    return View{op->getOperand(0)};
  auto view = dyn_cast_or_null<ViewOpInterface>(op);
  if (!view)
    return std::nullopt;
  const int64_t bytes = elementBytes(op->getResult(0).getType());
  View made{view.getViewed(), view.getViewStart() * bytes};
  if (view.getRankStride() != 0)
    made.rankStrides = rankStrides(op, view.getViewGroup(), view.getRankStride() * bytes);
  return made;
}

bool isView(Operation *op) { return isReshape(op) || isa_and_nonnull<ViewOpInterface>(op); }

Value throughViews(Value value) {
  while (isView(value.getDefiningOp()))
    value = value.getDefiningOp()->getOperand(0);
  return value;
}

Value viewLike(Value value, Value base, Value other, OpBuilder &builder) {
  if (value == base)
    return other;
  Operation *view = value.getDefiningOp();
  IRMapping mapping;
  mapping.map(view->getOperand(0), viewLike(view->getOperand(0), base, other, builder));
  return builder.clone(*view, mapping)->getResult(0);
}

} // namespace zero
