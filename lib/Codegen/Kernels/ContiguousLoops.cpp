//===- ContiguousLoops.cpp - collapse loops over contiguous memory --------===//
//
// Two loops that together run through two neighbouring dimensions of every buffer that they access
// are one loop through one dimension. A buffer has one shape in the whole kernel, so that the
// dependence test of SplitLoops.cpp still knows it: its dimensions are merged only if every access
// of it permits that.
//
//===----------------------------------------------------------------------===//

#include "zero/Codegen/ContiguousLoops.h"
#include "zero/Codegen/GpuLoops.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace zero {
namespace {

/// Loops that may become one: `inner` is all that `outer` does.
struct Pair {
  scf::ForOp outer, inner;
};

/// Dimension `first` of a buffer and the next one.
using Dims = std::pair<Value, unsigned>;

/// Of a buffer: the dimensions that each of its merged dimensions consists of.
using Groups = llvm::MapVector<Value, SmallVector<ReassociationIndices>>;

class Collapser {
public:
  Collapser(func::FuncOp kernel, Groups &merged) : kernel(kernel), merged(merged) {}
  /// Collapses some loops; returns false if there are none.
  bool run();

private:
  void collect();
  void addAccess(Operation *op, OpOperand &buffer, ValueRange indices);
  std::optional<unsigned> pairAt(const Dims &dims, ValueRange indices) const;
  bool isValid(unsigned pair) const;
  bool isWhole(const Dims &dims) const;
  void keepValid();
  void applyWith(unsigned seed);
  void mergeDims(const Dims &dims);

  func::FuncOp kernel;
  Groups &merged;
  SmallVector<Pair> pairs;
  SmallVector<bool> valid;
  /// Of each loop variable: the pair that begins or ends with its loop.
  llvm::DenseMap<Value, unsigned> byOuter, byInner;
  /// The loads and stores of each buffer; none of one that anything else uses.
  llvm::MapVector<Value, SmallVector<Operation *>> accesses;
  /// The dimensions that the loops of each pair run through.
  SmallVector<llvm::SetVector<Dims>> dimsOf;
};

} // namespace

/// The value that `index` is a copy of.
static Value original(Value index) {
  while (auto apply = index.getDefiningOp<affine::AffineApplyOp>()) {
    if (!apply.getAffineMap().isIdentity() || apply.getNumOperands() != 1)
      break;
    index = apply.getOperand(0);
  }
  return index;
}

static ValueRange indicesOf(Operation *access) {
  if (auto load = dyn_cast<memref::LoadOp>(access))
    return load.getIndices();
  return cast<memref::StoreOp>(access).getIndices();
}

/// The inner loop of `loop` if both can become one; else null.
static scf::ForOp innerOf(scf::ForOp loop) {
  scf::ForOp inner = innerLoopOf(loop);
  bool fits = inner && constantIterationsOf(loop) &&
              llvm::all_of(inner.getResults(), [](Value value) { return value.hasOneUse(); });
  return fits ? inner : scf::ForOp();
}

/// Whether only loads and stores access `buffer`, at the indices of its type.
static bool isPlain(Value buffer) {
  auto type = cast<MemRefType>(buffer.getType());
  return type.getLayout().isIdentity() && llvm::all_of(buffer.getUses(), [](OpOperand &use) {
           if (auto store = dyn_cast<memref::StoreOp>(use.getOwner()))
             return store.getMemref() == use.get();
           return isa<memref::LoadOp>(use.getOwner());
         });
}

void Collapser::collect() {
  auto add = [&](Value buffer) {
    if (isa<MemRefType>(buffer.getType()) && isPlain(buffer))
      llvm::append_range(accesses[buffer], buffer.getUsers());
  };
  llvm::for_each(kernel.getArguments(), add);
  kernel.walk([&](Operation *op) {
    if (auto alloc = dyn_cast<memref::AllocOp>(op))
      return add(alloc);
    auto outer = dyn_cast<scf::ForOp>(op);
    if (scf::ForOp inner = outer ? innerOf(outer) : scf::ForOp()) {
      byOuter[outer.getInductionVar()] = byInner[inner.getInductionVar()] = pairs.size();
      pairs.push_back({outer, inner});
    }
  });
  valid.assign(pairs.size(), true);
  dimsOf.resize(pairs.size());
  for (auto &[buffer, list] : accesses)
    for (Operation *access : list)
      for (unsigned dim = 0; dim + 1 < indicesOf(access).size(); ++dim)
        if (std::optional<unsigned> pair = pairAt({buffer, dim}, indicesOf(access)))
          dimsOf[*pair].insert({buffer, dim});
}

/// The pair whose loops run through `dims` by `indices`.
std::optional<unsigned> Collapser::pairAt(const Dims &dims, ValueRange indices) const {
  auto [buffer, first] = dims;
  auto outer = byOuter.find(original(indices[first]));
  auto inner = byInner.find(original(indices[first + 1]));
  if (outer == byOuter.end() || inner == byInner.end() || outer->second != inner->second ||
      !valid[outer->second])
    return std::nullopt;
  scf::ForOp loop = pairs[outer->second].inner;
  auto type = cast<MemRefType>(buffer.getType());
  bool fits = !type.isDynamicDim(first) && iterationsOf(loop) == type.getDimSize(first + 1);
  return fits ? std::optional(outer->second) : std::nullopt;
}

/// Whether every access of the buffer runs through `dims` by a pair.
bool Collapser::isWhole(const Dims &dims) const {
  return llvm::all_of(accesses.find(dims.first)->second, [&](Operation *access) {
    return pairAt(dims, indicesOf(access)).has_value();
  });
}

/// Counts the loads and stores that use `variable` or a copy of it; none if anything else does.
static std::optional<unsigned> countUses(Value variable) {
  unsigned count = 0;
  for (OpOperand &use : variable.getUses()) {
    Operation *user = use.getOwner();
    if (isa<memref::LoadOp, memref::StoreOp>(user)) {
      ++count;
      continue;
    }
    if (!isa<affine::AffineApplyOp>(user) || original(user->getResult(0)) != original(variable))
      return std::nullopt;
    std::optional<unsigned> more = countUses(user->getResult(0));
    if (!more)
      return std::nullopt;
    count += *more;
  }
  return count;
}

/// Whether all uses of the loop variables of a pair are accesses of dimensions that can be merged.
bool Collapser::isValid(unsigned index) const {
  unsigned count = 0;
  for (const Dims &dims : dimsOf[index]) {
    if (!isWhole(dims))
      return false;
    for (Operation *access : accesses.find(dims.first)->second)
      count += pairAt(dims, indicesOf(access)) == index;
  }
  Pair pair = pairs[index];
  return count > 0 && countUses(pair.outer.getInductionVar()) == count &&
         countUses(pair.inner.getInductionVar()) == count;
}

/// Removes the pairs that cannot become one loop, until all others can at the same time.
void Collapser::keepValid() {
  for (bool changed = true; changed;) {
    changed = false;
    for (unsigned index = 0; index < pairs.size(); ++index)
      if (valid[index] && !isValid(index)) {
        valid[index] = false;
        changed = true;
      }
  }
}

/// Makes one dimension of `dims`, with the first of the two indices.
void Collapser::mergeDims(const Dims &dims) {
  auto [buffer, first] = dims;
  auto type = cast<MemRefType>(buffer.getType());
  SmallVector<int64_t> shape(type.getShape());
  shape[first] *= shape[first + 1];
  shape.erase(shape.begin() + first + 1);
  buffer.setType(MemRefType::get(shape, type.getElementType(), MemRefLayoutAttrInterface(),
                                 type.getMemorySpace()));
  SmallVector<ReassociationIndices> &groups = merged[buffer];
  if (groups.empty())
    for (int64_t dim = 0; dim < type.getRank(); ++dim)
      groups.push_back({dim});
  llvm::append_range(groups[first], groups[first + 1]);
  groups.erase(groups.begin() + first + 1);
  for (Operation *access : accesses.find(buffer)->second)
    if (auto load = dyn_cast<memref::LoadOp>(access))
      load.getIndicesMutable().erase(first + 1);
    else
      cast<memref::StoreOp>(access).getIndicesMutable().erase(first + 1);
}

/// Erases the copies of `variable`, which nothing uses.
static void eraseCopies(Value variable) {
  for (Operation *copy : llvm::to_vector(variable.getUsers())) {
    eraseCopies(copy->getResult(0));
    copy->erase();
  }
}

/// Makes one loop of `pair`; no access uses the variable of the inner one.
static void merge(const Pair &pair) {
  auto [outer, inner] = pair;
  OpBuilder builder(outer);
  int64_t extent = *iterationsOf(outer) * *iterationsOf(inner);
  Operation *end = outer.getUpperBound().getDefiningOp();
  outer.setUpperBound(arith::ConstantIndexOp::create(builder, outer.getLoc(), extent));
  if (isOpTriviallyDead(end))
    end->erase();
  for (auto [old, carried] : llvm::zip(inner.getRegionIterArgs(), outer.getRegionIterArgs()))
    old.replaceAllUsesWith(carried);
  eraseCopies(inner.getInductionVar());
  outer.getBody()->getTerminator()->erase();
  outer.getBody()->getOperations().splice(outer.getBody()->end(), inner.getBody()->getOperations());
  inner.erase();
}

/// Collapses pair `seed`, and those that access the same dimensions.
void Collapser::applyWith(unsigned seed) {
  llvm::SetVector<unsigned> chosen;
  llvm::SetVector<Dims> dims;
  chosen.insert(seed);
  for (unsigned next = 0; next < chosen.size(); ++next)
    for (const Dims &each : dimsOf[chosen[next]])
      if (dims.insert(each))
        for (Operation *access : accesses.find(each.first)->second)
          chosen.insert(*pairAt(each, indicesOf(access)));
  // From the last dimension on: the numbers of those before do not change.
  SmallVector<Dims> order = dims.takeVector();
  llvm::stable_sort(order, [](const Dims &a, const Dims &b) { return a.second > b.second; });
  for (const Dims &each : order)
    mergeDims(each);
  for (unsigned index : chosen)
    merge(pairs[index]);
}

bool Collapser::run() {
  collect();
  keepValid();
  const auto *seed = llvm::find(valid, true);
  if (seed == valid.end())
    return false;
  applyWith(seed - valid.begin());
  return true;
}

/// Gives the arguments among the buffers `merged` their types again, which launches have, and the
/// accesses a view of them.
static void restoreArguments(func::FuncOp kernel, Groups &merged) {
  OpBuilder builder = OpBuilder::atBlockBegin(&kernel.getBody().front());
  for (BlockArgument argument : kernel.getArguments()) {
    auto groups = merged.find(argument);
    if (groups == merged.end())
      continue;
    Type flat = argument.getType();
    argument.setType(kernel.getFunctionType().getInput(argument.getArgNumber()));
    auto view = memref::CollapseShapeOp::create(builder, argument.getLoc(), cast<MemRefType>(flat),
                                                argument, groups->second);
    argument.replaceAllUsesExcept(view, view);
  }
}

void collapseContiguousLoops(func::FuncOp kernel) {
  Groups merged;
  while (Collapser(kernel, merged).run())
    ;
  restoreArguments(kernel, merged);
}

} // namespace zero
