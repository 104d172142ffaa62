//===- LoopCarries.cpp - loop-carried values of fused loops ---------------===//

#include "LoopEmitter.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

using namespace mlir;

namespace zero::loops {

static bool isOutermost(const Node &node) {
  return llvm::none_of(node.ivs, [](Value iv) { return iv; });
}

/// The positions of a result whose dimensions `node` has yet to open. Where no
/// loop is open a tensor keeps its dimensions of size one.
static SmallVector<unsigned> keptPositions(const Node &node, OpResult value) {
  SmallVector<unsigned> kept;
  AffineMap map = linalg::GenericOp(node.generic).getIndexingMapMatchingResult(value);
  for (auto [position, expr] : llvm::enumerate(map.getResults()))
    if (auto dim = dyn_cast<AffineDimExpr>(expr);
        dim && llvm::is_contained(node.dims, dim.getPosition()))
      kept.push_back(position);
  if (!kept.empty() && isOutermost(node))
    return llvm::to_vector(llvm::seq<unsigned>(0, map.getNumResults()));
  return kept;
}

Value Emitter::extentOf(const Node &node, unsigned dim) {
  linalg::GenericOp generic = node.generic;
  int64_t extent = generic.getStaticLoopRanges()[dim];
  if (!ShapedType::isDynamic(extent))
    return index(extent);
  // All dynamic dimensions of a kernel are one and the same length.
  for (Value argument : block.getParentOp()->getRegion(0).getArguments())
    if (auto type = dyn_cast<RankedTensorType>(argument.getType()))
      for (auto [position, size] : llvm::enumerate(type.getShape()))
        if (ShapedType::isDynamic(size))
          return tensor::DimOp::create(rewriter, loc, argument, position);
  llvm_unreachable("a dynamic dimension comes from an argument");
}

Value Emitter::newTensor(const Carry &carry) {
  linalg::GenericOp generic = carry.node.generic;
  AffineMap map = generic.getIndexingMapMatchingResult(carry.value);
  auto type = cast<RankedTensorType>(carry.value.getType());
  SmallVector<OpFoldResult> sizes;
  for (unsigned position : carry.kept) {
    int64_t size = type.getDimSize(position);
    if (ShapedType::isDynamic(size))
      sizes.push_back(
          extentOf(carry.node, cast<AffineDimExpr>(map.getResult(position)).getPosition()));
    else
      sizes.push_back(rewriter.getIndexAttr(size));
  }
  return tensor::EmptyOp::create(rewriter, loc, sizes, type.getElementType());
}

/// Whether the stage may overwrite `tensor` with the carried value: nothing else
/// reads it, and each element is read only where it is written.
bool Emitter::mayOverwrite(Value tensor, const Carry &carry, const Stage &stage) {
  auto aligned = [](const Node &node, Value value) {
    linalg::GenericOp generic = node.generic;
    return llvm::all_of(generic->getOpOperands(), [&](OpOperand &operand) {
      return operand.get() != value || generic.getMatchingIndexingMap(&operand).isIdentity();
    });
  };
  linalg::GenericOp generic = carry.node.generic;
  if (tensor.getType() != carry.value.getType() ||
      !generic.getIndexingMapMatchingResult(carry.value).isIdentity())
    return false;
  return llvm::all_of(tensor.getUsers(), [&](Operation *user) {
    return isa<tensor::DimOp>(user) || llvm::any_of(stage.nodes, [&](const Placed &placed) {
             return placed.node.op == user && aligned(placed.node, tensor);
           });
  });
}

/// The tensor that a carried value fills when no loop is open yet: the buffer it
/// must share, the operand it updates, or a new one.
Value Emitter::wholeDestination(const Carry &carry, const Stage &stage) {
  linalg::GenericOp generic = carry.node.generic;
  SmallVector<Value, 2> candidates;
  if (Value wish = wishes.lookup(carry.value))
    candidates.push_back(wish);
  OpOperand *init = generic.getDpsInitOperand(carry.value.getResultNumber());
  // An argument that is not a wish is read-only: overwriting would copy it.
  bool readOnly = block.isEntryBlock() && isa<func::FuncOp>(block.getParentOp()) &&
                  isa<BlockArgument>(init->get());
  if (generic.payloadUsesValueFromOperand(init) && !fillScalar(init->get()) && !readOnly)
    candidates.push_back(init->get());
  for (Value candidate : candidates)
    if (mayOverwrite(candidate, carry, stage))
      return candidate;
  return newTensor(carry);
}

void Emitter::beginAccumulator(Carry &carry) {
  linalg::GenericOp generic = carry.node.generic;
  OpOperand *init = generic.getDpsInitOperand(carry.value.getResultNumber());
  AffineMap map = generic.getMatchingIndexingMap(init);
  Value start = fillScalar(init->get());
  if (carry.kept.empty()) {
    carry.init = start ? start : load(init->get(), map, carry.node);
    return;
  }
  if (start) {
    carry.init = linalg::FillOp::create(rewriter, loc, start, newTensor(carry)).getResult(0);
    return;
  }
  Part part = partOf(init->get());
  if (part.kept == carry.kept) {
    carry.init = part.value;
    return;
  }
  // A slice of the tensor from which the reduction starts.
  auto type = cast<RankedTensorType>(part.value.getType());
  SmallVector<OpFoldResult> offsets, sizes, strides(type.getRank(), rewriter.getIndexAttr(1));
  SmallVector<int64_t> shape;
  SmallVector<Value> at = indices(part.kept, map, carry.node);
  for (auto [dim, position] : llvm::enumerate(part.kept)) {
    bool whole = llvm::is_contained(carry.kept, position);
    offsets.push_back(whole ? OpFoldResult(rewriter.getIndexAttr(0)) : OpFoldResult(at[dim]));
    sizes.push_back(rewriter.getIndexAttr(whole ? type.getDimSize(dim) : 1));
    if (whole)
      shape.push_back(type.getDimSize(dim));
  }
  carry.init = tensor::ExtractSliceOp::create(rewriter, loc, type.clone(shape), part.value, offsets,
                                              sizes, strides);
}

/// Whether the loop adds to one element of a tensor of sums, which is a scalar meanwhile.
static bool continuesElement(const Carry &carry) {
  return carry.outer && carry.outer->accumulating && carry.kept.empty() &&
         isa<RankedTensorType>(carry.outer->part.value.getType());
}

std::vector<Carry> Emitter::carriesOf(const Stage &stage) {
  std::vector<Carry> carries;
  for (const Placed &placed : stage.nodes) {
    if (!placed.original)
      continue;
    bool reduces = placed.node.reducesNext();
    for (OpResult value : placed.node.op->getResults()) {
      Carry carry{value, placed.node, false, placed.escapes(value), {}, {}, {}};
      if (auto it = destinations.find(value); it != destinations.end())
        carry.outer = it->second;
      carry.kept = keptPositions(placed.node, value);
      if (continuesElement(carry)) {
        carry.accumulates = true;
        AffineMap map = linalg::GenericOp(placed.node.generic).getIndexingMapMatchingResult(value);
        carry.init = tensor::ExtractOp::create(rewriter, loc, carry.outer->part.value,
                                               indices(carry.outer->part.kept, map, placed.node));
      } else if (carry.outer && (carry.outer->accumulating || !reduces)) {
        carry.init = carry.outer->part.value;
        carry.kept = carry.outer->part.kept;
      } else if (reduces) {
        carry.accumulates = true;
        beginAccumulator(carry);
      } else if (!carry.escapes) {
        continue;
      } else if (isOutermost(placed.node)) {
        carry.init = wholeDestination(carry, stage);
      } else {
        carry.init = newTensor(carry);
      }
      carries.push_back(std::move(carry));
    }
  }
  return carries;
}

} // namespace zero::loops
