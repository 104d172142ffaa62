//===- Bodies.cpp - regions on scalars as nodes on tensors ----------------===//
//
// A reduction may combine elements by any ops. They are converted for whole tensors: each scalar of
// the region is a tensor of all elements that are combined at once.
//
//===----------------------------------------------------------------------===//

#include "Rules.h"

#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/SmallVectorExtras.h"

using namespace mlir;
using namespace zero::stablehlo;

namespace zero::hlo {

/// Whether the op computes one scalar from others.
static bool isScalarOp(Operation &op) {
  auto isScalar = [](Type type) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    return tensor && tensor.getRank() == 0;
  };
  return op.getNumResults() == 1 && op.getNumRegions() == 0 &&
         llvm::all_of(op.getOperandTypes(), isScalar) && isScalar(op.getResult(0).getType());
}

/// `op` on tensors of `shape`, by its rule.
static FailureOr<Value> emitOp(Emitter &b, Operation &op, IRMapping &mapping,
                               ArrayRef<int64_t> shape) {
  if (auto constant = dyn_cast<ConstantOp>(op)) {
    auto elements = dyn_cast<DenseElementsAttr>(constant.getValue());
    if (!elements)
      return failure();
    return b.expand(b.constant(elements), shape);
  }
  auto rule = ruleTable().find(op.getName().getStringRef());
  if (!isScalarOp(op) || rule == ruleTable().end())
    return failure();
  Operation *wide = b.getBuilder().clone(op, mapping);
  wide->getResult(0).setType(tensorType(op.getResult(0)).clone(shape));
  SmallVector<Value> results;
  LogicalResult emitted = rule->second(wide, b, results);
  wide->erase();
  if (failed(emitted))
    return failure();
  return results.front();
}

FailureOr<SmallVector<Value>> emitBody(Emitter &b, Region &region, ValueRange operands) {
  auto scalars = llvm::map_to_vector(operands, [](Value operand) -> Type {
    return RankedTensorType::get({}, elementOf(operand));
  });
  Block *body = scalarBody(region, scalars);
  if (!body)
    return failure();
  IRMapping mapping;
  mapping.map(body->getArguments(), operands);
  for (Operation &op : body->without_terminator()) {
    FailureOr<Value> value = emitOp(b, op, mapping, shapeOf(operands.front()));
    if (failed(value))
      return failure();
    mapping.map(op.getResult(0), *value);
  }
  SmallVector<Value> results;
  for (Value value : body->getTerminator()->getOperands()) {
    // A scalar from outside of the region is the same for all elements.
    Value mapped = mapping.lookupOrDefault(value);
    if (!isa<RankedTensorType>(mapped.getType()))
      return failure();
    results.push_back(b.expand(mapped, shapeOf(operands.front())));
  }
  return results;
}

} // namespace zero::hlo
