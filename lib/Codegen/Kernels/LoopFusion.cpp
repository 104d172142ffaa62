//===- LoopFusion.cpp - fuse linalg.generic into few loop nests -----------===//
//
// Stages (LoopSchedule.h) become scf.for loops. A value that lives only inside
// one iteration is a scalar; one that crosses stages is a tensor carried through
// the loops, with as many dimensions as are not yet open where it is made; an
// accumulator is a scalar as soon as none is left.
//
//===----------------------------------------------------------------------===//

#include "LoopFusion.h"
#include "LoopEmitter.h"
#include "zero/Codegen/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;

namespace zero {

using namespace loops;

/// Recomputed values are not stored: removes the tensors that the first computation fills from
/// `destinations`, and returns them.
DenseMap<Value, Destination> Emitter::hideFromCopies(const Stage &stage) {
  DenseMap<Value, Destination> hidden;
  for (const Placed &placed : stage.nodes)
    for (Value result : placed.node.op->getResults())
      if (auto it = destinations.find(result); !placed.original && it != destinations.end()) {
        hidden[result] = it->second;
        destinations.erase(it);
      }
  return hidden;
}

/// Marks whether the iterations of `loop` are independent or accumulate into its loop-carried
/// values.
static void markLoop(scf::ForOp loop, ArrayRef<Carry> carries) {
  bool sums = llvm::any_of(carries, [](const Carry &carry) {
    return carry.accumulates || (carry.outer && carry.outer->accumulating);
  });
  loop->setAttr(kLoopAttr, StringAttr::get(loop.getContext(), sums ? kSumLoop : kParallelLoop));
}

void Emitter::emitLoop(const Stage &stage) {
  loc = stage.nodes.front().node.op->getLoc();
  std::vector<Carry> carries = carriesOf(stage);
  SmallVector<Value> inits = llvm::map_to_vector(carries, [](const Carry &c) { return c.init; });
  const Node &first = stage.nodes.front().node;
  auto loop = scf::ForOp::create(rewriter, loc, index(0), extentOf(first, first.dims.front()),
                                 index(1), inits);
  if (style == LoopStyle::Gpu)
    markLoop(loop, carries);
  auto outerReadable = readable;
  for (auto [carry, argument] : llvm::zip(carries, loop.getRegionIterArgs())) {
    bool accumulating = carry.accumulates || (carry.outer && carry.outer->accumulating);
    destinations[carry.value] = {{argument, carry.kept}, accumulating};
    // The loop also reads tensors that it overwrites in place.
    for (const Placed &placed : stage.nodes)
      for (Value operand : placed.node.op->getOperands())
        if (!carry.accumulates && partOf(operand).value == carry.init)
          readable[operand] = {argument, carry.kept};
  }
  DenseMap<Value, Destination> hidden = hideFromCopies(stage);
  SmallVector<Node> inner;
  for (const Placed &placed : stage.nodes) {
    Node node = placed.node;
    node.ivs[node.dims.front()] = loop.getInductionVar();
    node.dims.erase(node.dims.begin());
    inner.push_back(std::move(node));
  }
  {
    OpBuilder::InsertionGuard guard(rewriter);
    // Without results scf.for comes with its terminator.
    if (carries.empty())
      rewriter.setInsertionPoint(loop.getBody()->getTerminator());
    else
      rewriter.setInsertionPointToEnd(loop.getBody());
    emitBody(inner, /*outermost=*/false);
    SmallVector<Value> yields = llvm::map_to_vector(
        carries, [&](const Carry &carry) { return destinations[carry.value].part.value; });
    if (!carries.empty())
      scf::YieldOp::create(rewriter, loc, yields);
  }
  readable = std::move(outerReadable);
  for (auto &[value, destination] : hidden)
    destinations[value] = destination;
  for (auto [carry, result] : llvm::zip(carries, loop.getResults()))
    finish(carry, result);
}

/// Makes the result of a loop available to later operations.
void Emitter::finish(const Carry &carry, Value result) {
  Part part{result, carry.kept};
  if (!carry.outer) {
    destinations.erase(carry.value);
    readable[carry.value] = part;
    return;
  }
  destinations[carry.value] = *carry.outer;
  Destination &outer = destinations[carry.value];
  if (!carry.accumulates) {
    outer.part = part;
    if (!outer.accumulating)
      readable[carry.value] = part;
    return;
  }
  // A reduction that began inside an open loop: its slice goes to the outer tensor.
  if (!outer.accumulating)
    readable[carry.value] = part;
  linalg::GenericOp generic = carry.node.generic;
  AffineMap map = generic.getIndexingMapMatchingResult(carry.value);
  SmallVector<Value> at = indices(outer.part.kept, map, carry.node);
  if (carry.kept.empty()) {
    stores.push_back({carry.value, result, at});
    return;
  }
  auto type = cast<RankedTensorType>(outer.part.value.getType());
  SmallVector<OpFoldResult> offsets, sizes, strides(type.getRank(), rewriter.getIndexAttr(1));
  for (auto [dim, position] : llvm::enumerate(outer.part.kept)) {
    bool whole = llvm::is_contained(carry.kept, position);
    offsets.push_back(whole ? OpFoldResult(rewriter.getIndexAttr(0)) : OpFoldResult(at[dim]));
    sizes.push_back(rewriter.getIndexAttr(whole ? type.getDimSize(dim) : 1));
  }
  outer.part.value = tensor::InsertSliceOp::create(rewriter, loc, result, outer.part.value, offsets,
                                                   sizes, strides);
}

void Emitter::emitBody(ArrayRef<Node> nodes, bool outermost) {
  size_t pending = stores.size();
  for (const Stage &stage : scheduleStages(nodes, outermost, style)) {
    if (stage.kind == Stage::Kind::Loop)
      emitLoop(stage);
    else if (stage.kind == Stage::Kind::Opaque)
      emitOpaque(stage.nodes.front().node);
    else
      for (const Placed &placed : stage.nodes)
        emitScalar(placed);
    if (outermost)
      keepWhole(stage);
  }
  flushStores(pending);
}

/// Makes the results of an outermost stage available as full tensors.
void Emitter::keepWhole(const Stage &stage) {
  for (const Placed &placed : stage.nodes) {
    if (placed.node.isOpaque() || !placed.original)
      continue;
    for (OpResult result : placed.node.op->getResults()) {
      if (!placed.escapes(result))
        continue;
      Part part = readable[result];
      if (!isa<RankedTensorType>(part.value.getType())) {
        Carry carry{result, placed.node, false, true, {}, {}, {}};
        carry.kept = llvm::to_vector(
            llvm::seq<unsigned>(0, cast<RankedTensorType>(result.getType()).getRank()));
        SmallVector<Value> zeros(carry.kept.size(), carry.kept.empty() ? Value() : index(0));
        part.value = tensor::InsertOp::create(rewriter, loc, part.value,
                                              wholeDestination(carry, stage), zeros);
      }
      whole.map(result, part.value);
    }
  }
}

/// Makes `op` and its nested operations use the new values.
void Emitter::remap(Operation *op) {
  op->walk([&](Operation *nested) {
    for (OpOperand &operand : nested->getOpOperands())
      if (Value mapped = whole.lookupOrNull(operand.get()))
        operand.set(mapped);
  });
}

void Emitter::run() {
  SmallVector<Node> nodes;
  SmallVector<Operation *> fused;
  for (Operation &op : block.without_terminator()) {
    if (op.use_empty() && isa<linalg::GenericOp>(op))
      continue;
    // An operation without operands and regions remains where it is, before all others.
    if (op.getNumOperands() == 0 && op.getNumRegions() == 0)
      continue;
    nodes.push_back(makeNode(&op, style));
    if (isa<linalg::GenericOp>(op))
      fused.push_back(&op);
  }
  if (fused.empty())
    return;
  rewriter.setInsertionPoint(block.getTerminator());
  emitBody(nodes, /*outermost=*/true);
  remap(block.getTerminator());
  for (Operation *op : llvm::reverse(fused))
    rewriter.eraseOp(op);
}

void fuseIntoLoops(RewriterBase &rewriter, Block &block, const DenseMap<Value, Value> &destinations,
                   LoopStyle style) {
  Emitter(rewriter, block, destinations, style).run();
}

} // namespace zero
