//===- LoopSchedule.cpp - which loop nests share a loop -------------------===//

#include "LoopSchedule.h"

#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Transforms/RegionUtils.h"
#include "llvm/ADT/SetVector.h"

#include <set>

using namespace mlir;

namespace zero {

int64_t Node::extent() const {
  return linalg::GenericOp(generic).getStaticLoopRanges()[dims.front()];
}

bool Node::reducesNext() const {
  return linalg::GenericOp(generic).getIteratorTypesArray()[dims.front()] ==
         utils::IteratorType::reduction;
}

/// The position in `map` of dimension `dim` itself, if it is there.
static std::optional<unsigned> positionOf(AffineMap map, unsigned dim) {
  return map.getResultPosition(getAffineDimExpr(dim, map.getContext()));
}

/// The dimensions of `extents` that exceed one, as `map` orders them; empty if
/// one of them is missing.
static SmallVector<unsigned> orderOf(AffineMap map, ArrayRef<int64_t> extents) {
  SmallVector<unsigned> order;
  for (AffineExpr expr : map.getResults())
    if (auto dim = dyn_cast<AffineDimExpr>(expr); dim && extents[dim.getPosition()] != 1)
      order.push_back(dim.getPosition());
  unsigned wanted = llvm::count_if(extents, [](int64_t extent) { return extent != 1; });
  return order.size() == wanted ? order : SmallVector<unsigned>();
}

/// The dimension along which most operands are contiguous or constant.
static unsigned bestInnermost(linalg::GenericOp generic, ArrayRef<unsigned> dims) {
  auto score = [&](unsigned dim) {
    return llvm::count_if(generic.getIndexingMapsArray(), [&](AffineMap map) {
      auto position = positionOf(map, dim);
      return !position || *position + 1 == map.getNumResults();
    });
  };
  // The later of equals, which is the innermost already.
  unsigned best = dims.front();
  for (unsigned dim : dims)
    if (score(dim) >= score(best))
      best = dim;
  return best;
}

static SmallVector<unsigned> memoryOrder(linalg::GenericOp generic) {
  SmallVector<int64_t> extents = generic.getStaticLoopRanges();
  SmallVector<AffineMap> maps = generic.getIndexingMapsArray();
  // Results first: contiguous stores matter more than contiguous loads.
  std::rotate(maps.begin(), maps.begin() + generic.getNumDpsInputs(), maps.end());
  for (AffineMap map : maps)
    if (SmallVector<unsigned> order = orderOf(map, extents); !order.empty())
      return order;
  SmallVector<unsigned> order;
  for (auto [dim, extent] : llvm::enumerate(extents))
    if (extent != 1)
      order.push_back(dim);
  if (order.empty())
    return order;
  unsigned innermost = bestInnermost(generic, order);
  llvm::erase(order, innermost);
  order.push_back(innermost);
  return order;
}

Node makeNode(Operation *op) {
  Node node{op, dyn_cast<linalg::GenericOp>(op), {}, {}};
  if (node.generic) {
    node.dims = memoryOrder(node.generic);
    node.ivs.resize(node.generic.getNumLoops());
  }
  return node;
}

Value fillScalar(Value init) {
  if (auto fill = init.getDefiningOp<linalg::FillOp>())
    return fill.value();
  return nullptr;
}

SmallVector<Read> readsOf(const Node &node) {
  SmallVector<Read> reads;
  if (node.isOpaque()) {
    for (Value operand : node.op->getOperands())
      reads.push_back({operand, {}});
  } else {
    linalg::GenericOp generic = node.generic;
    for (OpOperand &operand : generic->getOpOperands()) {
      bool starts = generic.isDpsInit(&operand) && fillScalar(operand.get());
      if (generic.payloadUsesValueFromOperand(&operand) && !starts)
        reads.push_back({operand.get(), generic.getMatchingIndexingMap(&operand)});
    }
  }
  llvm::SetVector<Value> captured;
  getUsedValuesDefinedAbove(node.op->getRegions(), captured);
  for (Value value : captured)
    reads.push_back({value, {}});
  return reads;
}

/// Whether `consumer` may read `value` in the iteration of the next loop in which
/// `producer` computes it.
static bool joins(const Node &producer, Value value, const Node &consumer, AffineMap readMap) {
  if (producer.isOpaque() || consumer.isOpaque() || !readMap)
    return false;
  if (producer.dims.empty() || consumer.dims.empty())
    return producer.dims.empty() && consumer.dims.empty();
  linalg::GenericOp writer = producer.generic, reader = consumer.generic;
  bool startsReduction =
      reader.getNumReductionLoops() > 0 && llvm::is_contained(reader.getDpsInits(), value);
  if (startsReduction || producer.reducesNext())
    return false;
  AffineMap written = writer.getIndexingMapMatchingResult(cast<OpResult>(value));
  auto position = positionOf(written, producer.dims.front());
  if (!position)
    return false;
  auto readDim = dyn_cast<AffineDimExpr>(readMap.getResult(*position));
  return readDim && readDim.getPosition() == consumer.dims.front();
}

/// Whether computing `node` twice costs less than storing and loading its result.
static bool isCheap(linalg::GenericOp generic) {
  unsigned count = 0;
  for (Operation &op : generic.getBody()->without_terminator()) {
    bool slow = op.getNumRegions() > 0 || isa<math::MathDialect>(op.getDialect()) ||
                isa<arith::DivFOp, arith::DivSIOp, arith::RemSIOp, tensor::ExtractOp>(op);
    if (slow || ++count > 4)
      return false;
  }
  return true;
}

namespace {
class Scheduler {
public:
  Scheduler(ArrayRef<Node> nodes, bool outermost);
  std::vector<Stage> run();

private:
  struct Use {
    unsigned node; ///< the user
    bool joined;   ///< may read it in the same iteration
  };

  void linkUses();
  bool fits(const Node &node, unsigned stage) const;
  void place(unsigned index);
  void moveToUsers(unsigned index);
  bool escapes(unsigned index) const;

  ArrayRef<Node> nodes;
  bool outermost;
  llvm::DenseMap<Operation *, unsigned> indexOf;
  /// Of each node: what uses it, and what it uses.
  std::vector<SmallVector<Use>> uses, dependences;
  /// The stages in which each node is computed; the first one stores its results.
  std::vector<std::set<unsigned>> placement;
  std::vector<Stage> stages;
};
} // namespace

Scheduler::Scheduler(ArrayRef<Node> nodes, bool outermost)
    : nodes(nodes), outermost(outermost), uses(nodes.size()), dependences(nodes.size()),
      placement(nodes.size()) {
  for (auto [index, node] : llvm::enumerate(nodes))
    indexOf[node.op] = index;
}

void Scheduler::linkUses() {
  for (auto [index, node] : llvm::enumerate(nodes))
    for (const Read &read : readsOf(node)) {
      auto producer = indexOf.find(read.value.getDefiningOp());
      if (!read.value.getDefiningOp() || producer == indexOf.end())
        continue;
      bool joined = joins(nodes[producer->second], read.value, node, read.map);
      uses[producer->second].push_back({unsigned(index), joined});
      dependences[index].push_back({producer->second, joined});
    }
}

bool Scheduler::fits(const Node &node, unsigned stage) const {
  if (node.isOpaque() || stages[stage].kind == Stage::Kind::Opaque)
    return false;
  if (node.dims.empty())
    return stages[stage].kind == Stage::Kind::Scalar;
  return stages[stage].kind == Stage::Kind::Loop && stages[stage].extent == node.extent();
}

void Scheduler::place(unsigned index) {
  const Node &node = nodes[index];
  unsigned stage = 0;
  for (Use dependence : dependences[index]) {
    unsigned producer = *placement[dependence.node].begin();
    stage = std::max(stage, dependence.joined ? producer : producer + 1);
  }
  while (stage < stages.size() && !fits(node, stage))
    ++stage;
  if (stage >= stages.size()) {
    stage = stages.size();
    Stage::Kind kind = node.isOpaque()     ? Stage::Kind::Opaque
                       : node.dims.empty() ? Stage::Kind::Scalar
                                           : Stage::Kind::Loop;
    stages.push_back({kind, kind == Stage::Kind::Loop ? node.extent() : 1, {}});
  }
  placement[index].insert(stage);
}

/// An elementwise node is computed where it is used, if that is one place or it
/// is cheap: then its result need not be stored.
void Scheduler::moveToUsers(unsigned index) {
  const Node &node = nodes[index];
  if (node.isOpaque() || uses[index].empty() ||
      linalg::GenericOp(node.generic).getNumReductionLoops() > 0)
    return;
  std::set<unsigned> wanted;
  for (Use use : uses[index])
    for (unsigned stage : placement[use.node]) {
      if (!use.joined || !fits(node, stage))
        return;
      wanted.insert(stage);
    }
  if (wanted.size() == 1 || isCheap(node.generic))
    placement[index] = wanted;
}

bool Scheduler::escapes(unsigned index) const {
  for (Use use : uses[index])
    for (unsigned stage : placement[use.node])
      if (!placement[index].count(stage))
        return true;
  return outermost && llvm::any_of(nodes[index].op->getUsers(),
                                   [&](Operation *user) { return !indexOf.contains(user); });
}

std::vector<Stage> Scheduler::run() {
  linkUses();
  for (unsigned index = 0; index < nodes.size(); ++index)
    place(index);
  for (unsigned index = nodes.size(); index-- > 0;)
    moveToUsers(index);
  for (auto [index, node] : llvm::enumerate(nodes)) {
    bool original = true;
    for (unsigned stage : placement[index]) {
      stages[stage].nodes.push_back({node, escapes(index), original});
      original = false;
    }
  }
  llvm::erase_if(stages, [](const Stage &stage) { return stage.nodes.empty(); });
  return std::move(stages);
}

std::vector<Stage> scheduleStages(ArrayRef<Node> nodes, bool outermost) {
  return Scheduler(nodes, outermost).run();
}

} // namespace zero
