//===- LoopBodies.cpp - the scalar code of fused loops --------------------===//

#include "LoopEmitter.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace zero::loops {

Value Emitter::index(int64_t value) { return arith::ConstantIndexOp::create(rewriter, loc, value); }

Part Emitter::partOf(Value value) {
  if (auto it = readable.find(value); it != readable.end())
    return it->second;
  Part part{whole.lookupOrDefault(value), {}};
  if (auto type = dyn_cast<RankedTensorType>(value.getType()))
    part.kept = llvm::to_vector(llvm::seq<unsigned>(0, type.getRank()));
  return part;
}

SmallVector<Value> Emitter::indices(ArrayRef<unsigned> kept, AffineMap map, const Node &node) {
  SmallVector<Value> result;
  SmallVector<OpFoldResult> ivs;
  for (Value iv : node.ivs)
    ivs.push_back(iv ? OpFoldResult(iv) : rewriter.getIndexAttr(0));
  for (unsigned position : kept)
    result.push_back(getValueOrCreateConstantIndexOp(
        rewriter, loc,
        affine::makeComposedFoldedAffineApply(rewriter, loc, map.getSubMap({position}), ivs)));
  return result;
}

Value Emitter::load(Value value, AffineMap map, const Node &node) {
  DenseElementsAttr constant;
  if (matchPattern(value, m_Constant(&constant)) && constant.isSplat())
    return arith::ConstantOp::create(rewriter, loc,
                                     cast<TypedAttr>(constant.getSplatValue<Attribute>()));
  Part part = partOf(value);
  if (!isa<RankedTensorType>(part.value.getType()))
    return part.value;
  return tensor::ExtractOp::create(rewriter, loc, part.value, indices(part.kept, map, node));
}

//===----------------------------------------------------------------------===//
// Code without a loop
//===----------------------------------------------------------------------===//

void Emitter::emitOpaque(const Node &node) {
  rewriter.moveOpBefore(node.op, rewriter.getInsertionBlock(), rewriter.getInsertionPoint());
  remap(node.op);
}

void Emitter::emitScalar(const Placed &placed) {
  linalg::GenericOp generic = placed.node.generic;
  loc = generic.getLoc();
  IRMapping mapping = whole;
  for (OpOperand &operand : generic->getOpOperands()) {
    if (!generic.payloadUsesValueFromOperand(&operand))
      continue;
    AffineMap map = generic.getMatchingIndexingMap(&operand);
    Value scalar;
    Value result = generic.isDpsInit(&operand) ? Value(generic.getTiedOpResult(&operand)) : Value();
    auto destination = destinations.find(result);
    if (result && destination != destinations.end() && destination->second.accumulating) {
      Part part = destination->second.part;
      scalar = isa<RankedTensorType>(part.value.getType())
                   ? tensor::ExtractOp::create(rewriter, loc, part.value,
                                               indices(part.kept, map, placed.node))
                   : part.value;
    } else if (Value fill = result ? fillScalar(operand.get()) : Value()) {
      scalar = fill;
    } else {
      scalar = load(operand.get(), map, placed.node);
    }
    mapping.map(generic.getMatchingBlockArgument(&operand), scalar);
  }
  for (Operation &op : generic.getBody()->without_terminator()) {
    if (auto position = dyn_cast<linalg::IndexOp>(op)) {
      Value iv = placed.node.ivs[position.getDim()];
      mapping.map(position.getResult(), iv ? iv : index(0));
    } else {
      rewriter.clone(op, mapping);
    }
  }
  for (OpResult result : generic->getResults()) {
    Value scalar = mapping.lookupOrDefault(
        generic.getBody()->getTerminator()->getOperand(result.getResultNumber()));
    auto destination = destinations.find(result);
    bool accumulating = false;
    if (destination != destinations.end() && placed.original) {
      Part &part = destination->second.part;
      accumulating = destination->second.accumulating;
      if (isa<RankedTensorType>(part.value.getType()))
        stores.push_back(
            {result, scalar,
             indices(part.kept, generic.getIndexingMapMatchingResult(result), placed.node)});
      else
        part.value = scalar;
    }
    if (!accumulating)
      readable[result] = {scalar, {}};
  }
}

void Emitter::flushStores(size_t from) {
  for (const Store &store : ArrayRef<Store>(stores).drop_front(from)) {
    Part &part = destinations[store.target].part;
    part.value = tensor::InsertOp::create(rewriter, loc, store.scalar, part.value, store.indices);
  }
  stores.truncate(from);
}

} // namespace zero::loops
