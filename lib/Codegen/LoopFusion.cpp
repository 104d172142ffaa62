//===- LoopFusion.cpp - linalg.generic to few loop nests ------------------===//
//
// Stages (LoopSchedule.h) become scf.for loops. A value that lives only inside
// one iteration is a scalar; one that crosses stages is a tensor carried through
// the loops, with as many dimensions as are not yet open where it is made; an
// accumulator is a scalar as soon as none is left.
//
//===----------------------------------------------------------------------===//

#include "LoopFusion.h"
#include "LoopSchedule.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/MapVector.h"

using namespace mlir;

namespace zero {
namespace {

/// The part of a tensor that is visible at some depth: only the dimensions
/// `kept` of it are left, or it is a scalar.
struct Part {
  Value value;
  SmallVector<unsigned> kept;
};

/// Where the results of a node go.
struct Destination {
  Part part;
  /// A reduction in progress: its value is not yet to be read by others.
  bool accumulating = false;
};

/// A value that a loop carries.
struct Carry {
  OpResult value;
  Node node;
  bool accumulates = false; ///< the reduction begins with this loop
  bool escapes = false;
  Value init;
  SmallVector<unsigned> kept;
  std::optional<Destination> outer;
};

class Emitter {
public:
  Emitter(RewriterBase &rewriter, Block &block, const DenseMap<Value, Value> &destinations)
      : rewriter(rewriter), block(block), wishes(destinations) {}

  void run();

private:
  void emitBody(ArrayRef<Node> nodes, bool outermost);
  void emitOpaque(const Node &node);
  void emitScalar(const Placed &placed);
  void emitLoop(const Stage &stage);
  std::vector<Carry> carriesOf(const Stage &stage);
  void beginAccumulator(Carry &carry);
  void finish(const Carry &carry, Value result);
  void flushStores(size_t from);
  void keepWhole(const Stage &stage);
  void remap(Operation *op);

  Value newTensor(const Carry &carry);
  Value wholeDestination(const Carry &carry, const Stage &stage);
  bool mayOverwrite(Value tensor, const Carry &carry, const Stage &stage);
  Value extentOf(const Node &node, unsigned dim);

  Part partOf(Value value);
  Value load(Value value, AffineMap map, const Node &node);
  SmallVector<Value> indices(ArrayRef<unsigned> kept, AffineMap map, const Node &node);
  Value index(int64_t value) { return arith::ConstantIndexOp::create(rewriter, loc, value); }

  struct Store {
    Value target; ///< key into destinations
    Value scalar;
    SmallVector<Value> indices;
  };

  RewriterBase &rewriter;
  Block &block;
  const DenseMap<Value, Value> &wishes;
  Location loc = rewriter.getUnknownLoc();
  /// What can be read at this depth, if not the whole value itself.
  DenseMap<Value, Part> readable;
  DenseMap<Value, Destination> destinations;
  /// Stores at the end of the body under construction: after all its loads, so
  /// that a result may share its buffer with an operand.
  SmallVector<Store> stores;
  /// Whole values, for opaque ops and for the bodies that read at any place.
  IRMapping whole;
};

} // namespace

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
        stores.push_back({result, scalar,
                          indices(part.kept, generic.getIndexingMapMatchingResult(result),
                                  placed.node)});
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
    part.value =
        tensor::InsertOp::create(rewriter, loc, store.scalar, part.value, store.indices);
  }
  stores.truncate(from);
}

//===----------------------------------------------------------------------===//
// Loops
//===----------------------------------------------------------------------===//

static bool isOutermost(const Node &node) { return llvm::none_of(node.ivs, [](Value iv) { return iv; }); }

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
      sizes.push_back(extentOf(carry.node, cast<AffineDimExpr>(map.getResult(position)).getPosition()));
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
  carry.init = tensor::ExtractSliceOp::create(rewriter, loc, type.clone(shape), part.value,
                                              offsets, sizes, strides);
}

std::vector<Carry> Emitter::carriesOf(const Stage &stage) {
  std::vector<Carry> carries;
  for (const Placed &placed : stage.nodes) {
    if (!placed.original)
      continue;
    bool reduces = placed.node.reducesNext();
    for (OpResult value : placed.node.op->getResults()) {
      Carry carry{value, placed.node, false, placed.escapes, {}, {}, {}};
      if (auto it = destinations.find(value); it != destinations.end())
        carry.outer = it->second;
      carry.kept = keptPositions(placed.node, value);
      if (carry.outer && (carry.outer->accumulating || !reduces)) {
        carry.init = carry.outer->part.value;
        carry.kept = carry.outer->part.kept;
      } else if (reduces) {
        carry.accumulates = true;
        beginAccumulator(carry);
      } else if (!placed.escapes) {
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

void Emitter::emitLoop(const Stage &stage) {
  loc = stage.nodes.front().node.op->getLoc();
  std::vector<Carry> carries = carriesOf(stage);
  SmallVector<Value> inits = llvm::map_to_vector(carries, [](const Carry &c) { return c.init; });
  const Node &first = stage.nodes.front().node;
  auto loop = scf::ForOp::create(rewriter, loc, index(0), extentOf(first, first.dims.front()),
                                 index(1), inits);
  auto outerReadable = readable;
  for (auto [carry, argument] : llvm::zip(carries, loop.getRegionIterArgs())) {
    bool accumulating = carry.accumulates || (carry.outer && carry.outer->accumulating);
    destinations[carry.value] = {{argument, carry.kept}, accumulating};
    // What is overwritten in place is read through the loop, too.
    for (const Placed &placed : stage.nodes)
      for (Value operand : placed.node.op->getOperands())
        if (!carry.accumulates && partOf(operand).value == carry.init)
          readable[operand] = {argument, carry.kept};
  }
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
  for (auto [carry, result] : llvm::zip(carries, loop.getResults()))
    finish(carry, result);
}

/// Hands the result of a loop to what follows.
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
  outer.part.value = tensor::InsertSliceOp::create(rewriter, loc, result, outer.part.value,
                                                   offsets, sizes, strides);
}

void Emitter::emitBody(ArrayRef<Node> nodes, bool outermost) {
  size_t pending = stores.size();
  for (const Stage &stage : scheduleStages(nodes, outermost)) {
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

/// Makes whole tensors of the results of an outermost stage.
void Emitter::keepWhole(const Stage &stage) {
  for (const Placed &placed : stage.nodes) {
    if (placed.node.isOpaque() || !placed.original || !placed.escapes)
      continue;
    for (OpResult result : placed.node.op->getResults()) {
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

/// Lets `op` and what is nested in it use the new values.
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
    // What needs nothing stays where it is, before everything else.
    if (op.getNumOperands() == 0 && op.getNumRegions() == 0)
      continue;
    nodes.push_back(makeNode(&op));
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

void fuseIntoLoops(RewriterBase &rewriter, Block &block,
                   const DenseMap<Value, Value> &destinations) {
  Emitter(rewriter, block, destinations).run();
}

} // namespace zero
