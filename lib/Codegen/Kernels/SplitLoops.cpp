//===- SplitLoops.cpp - loops whose iterations threads divide -------------===//
//
// A dependence test that looks at memory only, not at how the loops came about: in
// every buffer that the kernel writes there is a dimension that all accesses index by
// the variable of a chosen loop. So an iteration stays within its own slices.
//
//===----------------------------------------------------------------------===//

#include "zero/Codegen/SplitLoops.h"
#include "zero/Codegen/GpuLoops.h"
#include "zero/Codegen/Passes.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "llvm/ADT/MapVector.h"

using namespace mlir;

namespace zero {

/// A loop over fewer iterations is chosen only if there is no longer one.
static constexpr int64_t kWorthwhile = 32;

namespace {
/// By dimension of a buffer: the loop whose variable is the index there, or null.
using Indices = SmallVector<scf::ForOp>;

struct Access {
  Indices loops;
  bool writes;
};

class Splitter {
public:
  explicit Splitter(Operation *root) : root(root) {}
  std::optional<Split> run();

private:
  bool collect();
  bool add(Operation *op, Value buffer, ValueRange indices, bool writes);
  bool choose(scf::ForOp seed);
  bool chooseFor(ArrayRef<Access> accesses);
  bool mayChoose(scf::ForOp loop, scf::ForOp seed) const;
  bool isTemporary(Value buffer) const;
  bool coversAll() const;

  Operation *root;
  /// Accesses of each buffer.
  llvm::MapVector<Value, SmallVector<Access>> accesses;
  /// The view through which each buffer is accessed.
  llvm::DenseMap<Value, Value> views;
  SmallVector<scf::ForOp> loops;
  Split split;
};
} // namespace

/// Iterations of `loop`, or ShapedType::kDynamic when they are the length of the launch.
static std::optional<int64_t> extentOf(scf::ForOp loop) {
  if (!isConstantIntValue(loop.getLowerBound(), 0) || !isConstantIntValue(loop.getStep(), 1))
    return std::nullopt;
  if (loop.getUpperBound().getDefiningOp<memref::DimOp>())
    return ShapedType::kDynamic;
  return getConstantIntValue(loop.getUpperBound());
}

/// The loop that `index` is the variable of, or null.
static scf::ForOp loopOf(Value index) {
  if (auto apply = index.getDefiningOp<affine::AffineApplyOp>())
    if (apply.getAffineMap().isIdentity() && apply.getNumOperands() == 1)
      index = apply.getOperand(0);
  auto loop = scf::getForInductionVarOwner(index);
  return loop && extentOf(loop) ? loop : scf::ForOp();
}

/// The indices into the source of `view`, given those into `view`.
static Indices indicesBelow(memref::SubViewOp view, const Indices &loops) {
  Indices below;
  llvm::SmallBitVector dropped = view.getDroppedDims();
  unsigned next = 0;
  for (auto [dim, offset] : llvm::enumerate(view.getMixedOffsets())) {
    auto variable = dyn_cast<Value>(offset);
    bool isWhole =
        isConstantIntValue(offset, 0) && isConstantIntValue(view.getMixedStrides()[dim], 1);
    bool isOne = isConstantIntValue(view.getMixedSizes()[dim], 1);
    scf::ForOp inner = dropped[dim] ? scf::ForOp() : loops[next++];
    below.push_back(variable && isOne ? loopOf(variable) : isWhole ? inner : scf::ForOp());
  }
  return below;
}

/// Records an access; returns false if the accessed memory is unknown.
bool Splitter::add(Operation *op, Value buffer, ValueRange indices, bool writes) {
  Indices loops = llvm::map_to_vector(indices, loopOf);
  while (auto view = buffer.getDefiningOp<memref::SubViewOp>()) {
    loops = indicesBelow(view, loops);
    buffer = view.getSource();
  }
  Value memory = memoryOf(buffer);
  auto argument = dyn_cast<BlockArgument>(memory);
  // A buffer that a loop carries may be any.
  if (argument && !isa<func::FuncOp>(argument.getOwner()->getParentOp()))
    return false;
  accesses[memory].push_back({loops, writes});
  // Two shapes of the same memory: their indices say nothing about each other.
  if (views.try_emplace(memory, buffer).first->second != buffer)
    for (Access &access : accesses[memory])
      llvm::fill(access.loops, scf::ForOp());
  return true;
}

/// Lists accesses and loops; false if there is an op whose effects are not known.
bool Splitter::collect() {
  // Outermost loops first: their slices are the largest.
  WalkResult known = root->walk<WalkOrder::PreOrder>([&](Operation *op) {
    bool good = true;
    if (isa<func::FuncOp>(op))
      return WalkResult::advance();
    if (auto loop = dyn_cast<scf::ForOp>(op))
      loops.push_back(loop);
    else if (auto load = dyn_cast<memref::LoadOp>(op))
      good = add(op, load.getMemref(), load.getIndices(), false);
    else if (auto store = dyn_cast<memref::StoreOp>(op))
      good = add(op, store.getMemref(), store.getIndices(), true);
    else
      good = isa<memref::AllocOp>(op) || op->hasTrait<OpTrait::HasRecursiveMemoryEffects>() ||
             isMemoryEffectFree(op);
    return good ? WalkResult::advance() : WalkResult::interrupt();
  });
  accesses.remove_if([](const auto &entry) {
    return llvm::none_of(entry.second, [](const Access &access) { return access.writes; });
  });
  return !known.wasInterrupted();
}

/// Whether `loop` may run parts of its iterations beside the chosen ones.
bool Splitter::mayChoose(scf::ForOp loop, scf::ForOp seed) const {
  return loop && loop.getNumResults() == 0 && extentOf(loop) == extentOf(seed) &&
         llvm::none_of(split.loops, [&](scf::ForOp other) {
           return other->isProperAncestor(loop) || loop->isProperAncestor(other);
         });
}

/// Chooses loops for all `accesses` of a buffer: those that index one dimension.
bool Splitter::chooseFor(ArrayRef<Access> accesses) {
  scf::ForOp seed = split.loops.front();
  for (unsigned dim = 0; dim < accesses.front().loops.size(); ++dim) {
    size_t before = split.loops.size();
    bool good = llvm::all_of(accesses, [&](const Access &access) {
      bool may = dim < access.loops.size() && mayChoose(access.loops[dim], seed);
      if (may && !llvm::is_contained(split.loops, access.loops[dim]))
        split.loops.push_back(access.loops[dim]);
      return may;
    });
    if (good)
      return true;
    split.loops.truncate(before);
  }
  return false;
}

/// Whether each iteration of a chosen loop has its own `buffer`.
bool Splitter::isTemporary(Value buffer) const {
  Operation *alloc = buffer.getDefiningOp();
  return alloc &&
         llvm::any_of(split.loops, [&](scf::ForOp loop) { return loop->isAncestor(alloc); });
}

/// Whether every loop is divided among threads, so that no thread executes a full loop.
bool Splitter::coversAll() const {
  return llvm::all_of(loops, [&](scf::ForOp loop) {
    return llvm::any_of(split.loops, [&](scf::ForOp chosen) {
      return chosen->isAncestor(loop) || loop->isAncestor(chosen);
    });
  });
}

bool Splitter::choose(scf::ForOp seed) {
  split = {{seed}, false};
  if (seed.getNumResults() != 0 || accesses.empty())
    return false;
  for (auto &[buffer, list] : accesses) {
    if (isTemporary(buffer))
      split.hasTemporaries = true;
    else if (!chooseFor(list))
      return false;
  }
  return coversAll();
}

std::optional<Split> Splitter::run() {
  if (!collect())
    return std::nullopt;
  std::optional<Split> best;
  int64_t most = 1;
  for (scf::ForOp loop : loops) {
    std::optional<int64_t> extent = extentOf(loop);
    if (!extent)
      continue;
    bool isDynamic = *extent == ShapedType::kDynamic;
    if ((!isDynamic && *extent <= most) || !choose(loop))
      continue;
    best = split;
    if (isDynamic || *extent >= kWorthwhile)
      break;
    most = *extent;
  }
  return best;
}

/// Strides must not depend on where the iterations of this call end.
static bool hasFixedStrides(func::FuncOp kernel) {
  return llvm::all_of(kernel.getArgumentTypes(), [](Type type) {
    auto buffer = dyn_cast<MemRefType>(type);
    return !buffer || buffer.getRank() == 0 ||
           llvm::none_of(buffer.getShape().drop_front(), ShapedType::isDynamic);
  });
}

std::optional<Split> findSplit(func::FuncOp kernel) {
  return hasFixedStrides(kernel) ? Splitter(kernel).run() : std::nullopt;
}

std::optional<Split> findSplit(scf::ForOp nest) { return Splitter(nest).run(); }

void applySplit(func::FuncOp kernel, const Split &split) {
  Builder builder(kernel.getContext());
  int64_t extent = *extentOf(split.loops.front());
  Block &body = kernel.getBody().front();
  SmallVector<DictionaryAttr> attributes;
  kernel.getAllArgAttrs(attributes);
  attributes.append(2, builder.getDictionaryAttr({}));
  Value begin = body.addArgument(builder.getIndexType(), kernel.getLoc());
  Value end = body.addArgument(builder.getIndexType(), kernel.getLoc());
  for (scf::ForOp loop : split.loops) {
    loop.setLowerBound(begin);
    loop.setUpperBound(end);
  }
  kernel.setFunctionType(builder.getFunctionType(body.getArgumentTypes(), {}));
  kernel.setAllArgAttrs(attributes);
  kernel->setAttr(kExtentAttr,
                  builder.getI64IntegerAttr(ShapedType::isDynamic(extent) ? 1 : extent));
}

} // namespace zero
