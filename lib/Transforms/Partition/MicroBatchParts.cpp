//===- MicroBatchParts.cpp - cut a micro-batch into parts -----------------===//

#include "MicroBatchParts.h"

#include "dialects/Zero/Zero.h"
#include "zero/Analysis/ParameterUses.h"
#include "zero/Analysis/StepOps.h"

#include <algorithm>

using namespace mlir;

namespace zero {

namespace {
class PartCutter {
public:
  explicit PartCutter(const MicroBatchBody &body)
      : body(body), symbols(body.step->getParentOfType<ModuleOp>()),
        forward(findForwardOps(body.step)) {
    findValues();
  }

  std::vector<size_t> run();

private:
  /// A value that differs between micro-batches, made by one op and last read by another.
  struct Crossing {
    size_t made = 0;
    int64_t bytes = 0;
  };

  void findValues();
  std::pair<size_t, bool> lastUse(Value value) const;
  bool isParameters(Value value);
  llvm::SmallDenseSet<Value> newParameters(Operation *op);
  bool varies(Operation *op) const;
  void pass(size_t index);
  void cutBefore(size_t index);

  const MicroBatchBody &body;
  SymbolTable symbols;
  llvm::DenseSet<Operation *> forward;
  llvm::DenseMap<Operation *, size_t> positions;
  std::vector<int64_t> made;                      ///< bytes that each op makes
  std::vector<SmallVector<Crossing, 1>> lastRead; ///< the values that each op reads last

  std::vector<size_t> begins{0};
  llvm::DenseSet<Value> parameters; ///< that the current part reads
  int64_t held = 0;                 ///< bytes of these, and of sums of gradients that it begins
  size_t newest = 0;                ///< the op that read the last of them first
  /// Bytes that cross a cut before each op of the part, of those that the part makes: values that
  /// cross the cut before it, too, are there for all micro-batches anyway.
  std::vector<int64_t> crossing{0};
};
} // namespace

/// The last op of the body that reads `value`, and whether forward makes it for an op behind
/// forward.
std::pair<size_t, bool> PartCutter::lastUse(Value value) const {
  const bool isForward = forward.contains(value.getDefiningOp());
  size_t last = 0;
  bool isSaved = false;
  for (Operation *user : value.getUsers()) {
    if (isView(user)) {
      auto [ofView, saved] = lastUse(user->getResult(0));
      last = std::max(last, ofView);
      isSaved |= saved;
    } else if (auto it = positions.find(user); it != positions.end()) {
      last = std::max(last, it->second);
      isSaved |= isForward && !forward.contains(user);
    }
  }
  return {last, isSaved};
}

/// Leaves out values that forward saves for backward: they cross every cut in between.
void PartCutter::findValues() {
  for (auto [index, op] : llvm::enumerate(body.ops))
    positions[op] = index;
  made.resize(body.ops.size());
  lastRead.resize(body.ops.size());
  for (auto [index, op] : llvm::enumerate(body.ops)) {
    if (isView(op))
      continue;
    for (Value result : op->getResults()) {
      if (!body.varying.contains(result))
        continue;
      auto [last, isSaved] = lastUse(result);
      if (isSaved || last <= index)
        continue;
      made[index] += tensorBytes(result.getType());
      lastRead[last].push_back({index, tensorBytes(result.getType())});
    }
  }
}

/// Whether `value` is a bucket of parameters, fetched or where it resides.
bool PartCutter::isParameters(Value value) {
  Operation *producer = value.getDefiningOp();
  auto collective = dyn_cast_or_null<CollectiveOpInterface>(producer);
  if ((collective && collective.isFetch()) || isa_and_nonnull<TransferOp>(producer))
    return !body.varying.contains(value);
  auto read = dyn_cast_or_null<ReadOp>(producer);
  auto buffer = read ? symbols.lookup<BufferOp>(read.getSymbol()) : BufferOp();
  return buffer && buffer.getRole() == Role::Parameter;
}

/// The buckets that `op` reads and the current part does not have.
llvm::SmallDenseSet<Value> PartCutter::newParameters(Operation *op) {
  llvm::SmallDenseSet<Value> added;
  if (isa<LaunchOp>(op))
    for (Value operand : op->getOperands())
      if (Value bucket = throughViews(operand);
          isParameters(bucket) && !parameters.contains(bucket))
        added.insert(bucket);
  return added;
}

/// Adds op `index` to the current part.
void PartCutter::pass(size_t index) {
  Operation *op = body.ops[index];
  for (Value bucket : newParameters(op)) {
    newest = index;
    parameters.insert(bucket);
    held += tensorBytes(bucket.getType());
  }
  if (isa<ReserveOp>(op))
    held += tensorBytes(op->getResult(0).getType());
  int64_t bytes = crossing.back() + made[index];
  for (const Crossing &value : lastRead[index])
    if (value.made >= begins.back())
      bytes -= value.bytes;
  crossing.push_back(bytes);
}

/// Whether `op` runs for each micro-batch. A fetch does not; it belongs to the part that reads it.
bool PartCutter::varies(Operation *op) const {
  return op->getNumResults() == 0 || body.varying.contains(op->getResult(0));
}

/// Op `index` reads other parameters: decides whether a part begins there or, after the op that
/// first read the last ones, where fewer bytes cross.
void PartCutter::cutBefore(size_t index) {
  const size_t begin = begins.back();
  size_t best = 0;
  for (size_t cut = index; cut > newest; --cut)
    if (!body.joined[cut] && varies(body.ops[cut - 1]) &&
        (best == 0 || crossing[cut - begin] < crossing[best - begin]))
      best = cut;
  if (best == 0 || (body.microBatches - 1) * crossing[best - begin] > held)
    return;
  begins.push_back(best);
  parameters.clear();
  held = 0;
  crossing = {0};
  for (size_t again = best; again < index; ++again)
    pass(again);
}

std::vector<size_t> PartCutter::run() {
  for (size_t index = 0; index < body.ops.size(); ++index) {
    if (!parameters.empty() && !newParameters(body.ops[index]).empty())
      cutBefore(index);
    pass(index);
  }
  return std::move(begins);
}

std::vector<size_t> cutIntoParts(const MicroBatchBody &body) { return PartCutter(body).run(); }

} // namespace zero
