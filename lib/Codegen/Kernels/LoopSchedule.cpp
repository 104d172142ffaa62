//===- LoopSchedule.cpp - which loop nests share a loop -------------------===//

#include "LoopSchedule.h"

#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Transforms/RegionUtils.h"
#include "llvm/ADT/SetVector.h"

#include <map>

using namespace mlir;

namespace zero {

int64_t Node::extent() const {
  return linalg::GenericOp(generic).getStaticLoopRanges()[dims.front()];
}

bool Node::reducesNext() const {
  return !dims.empty() && linalg::GenericOp(generic).getIteratorTypesArray()[dims.front()] ==
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

Node makeNode(Operation *op, LoopStyle style) {
  Node node{op, dyn_cast<linalg::GenericOp>(op), {}, {}};
  if (!node.generic)
    return node;
  node.dims = memoryOrder(node.generic);
  node.ivs.resize(node.generic.getNumLoops());
  if (style == LoopStyle::Gpu) {
    SmallVector<utils::IteratorType> types = node.generic.getIteratorTypesArray();
    auto isParallel = [&](unsigned dim) { return types[dim] == utils::IteratorType::parallel; };
    node.sumsColumns = !std::is_partitioned(node.dims.begin(), node.dims.end(), isParallel);
    std::stable_partition(node.dims.begin(), node.dims.end(), isParallel);
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

/// The loop of `producer` whose iteration computes the elements of `value` that the next iteration
/// of `consumer` reads; none if there is no such loop.
static std::optional<unsigned> sharedLoop(const Node &producer, Value value, const Node &consumer,
                                          AffineMap readMap) {
  AffineMap written =
      linalg::GenericOp(producer.generic).getIndexingMapMatchingResult(cast<OpResult>(value));
  auto position = positionOf(readMap, consumer.dims.front());
  if (!position)
    return std::nullopt;
  auto dim = dyn_cast<AffineDimExpr>(written.getResult(*position));
  if (!dim || !llvm::is_contained(producer.dims, dim.getPosition()))
    return std::nullopt;
  return dim.getPosition();
}

/// `producer` with that loop outermost in whose iteration `consumer` may read `value`;
/// none if it may not.
static std::optional<Node> joined(const Node &producer, Value value, const Node &consumer,
                                  AffineMap readMap) {
  if (producer.isOpaque() || consumer.isOpaque() || !readMap)
    return std::nullopt;
  if (producer.dims.empty() || consumer.dims.empty())
    return producer.dims.empty() && consumer.dims.empty() ? std::optional(producer) : std::nullopt;
  linalg::GenericOp reader = consumer.generic;
  bool startsReduction =
      reader.getNumReductionLoops() > 0 && llvm::is_contained(reader.getDpsInits(), value);
  std::optional<unsigned> loop = sharedLoop(producer, value, consumer, readMap);
  if (startsReduction || !loop)
    return std::nullopt;
  Node turned = producer;
  llvm::erase(turned.dims, *loop);
  turned.dims.insert(turned.dims.begin(), *loop);
  return turned.reducesNext() ? std::nullopt : std::optional(turned);
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
  Scheduler(ArrayRef<Node> nodes, bool outermost, LoopStyle style);
  std::vector<Stage> run();

private:
  struct Use {
    unsigned node; ///< the user
    Value value;
    AffineMap map;
    bool joined; ///< may read it in the same iteration
  };
  /// The stages that compute a node, with its loops as they are open there.
  using Places = std::map<unsigned, Node>;

  void linkUses();
  std::optional<Node> join(const Node &producer, const Use &use, const Node &consumer) const;
  bool fits(const Node &node, unsigned stage) const;
  bool mixes(unsigned index, unsigned stage) const;
  void place(unsigned index);
  void moveToUsers(unsigned index);
  bool isWorthwhile(unsigned index, const Places &wanted) const;
  bool isReadOutside(ValueRange results) const;
  bool sums(unsigned stage) const;
  SmallVector<Value, 2> escaping(unsigned index) const;

  ArrayRef<Node> nodes;
  bool outermost;
  LoopStyle style;
  llvm::DenseMap<Operation *, unsigned> indexOf;
  /// The uses of each node, and its dependences.
  std::vector<SmallVector<Use>> uses, dependences;
  /// The stages in which each node is computed; the first one stores its results.
  std::vector<Places> placement;
  std::vector<Stage> stages;
};
} // namespace

Scheduler::Scheduler(ArrayRef<Node> nodes, bool outermost, LoopStyle style)
    : nodes(nodes), outermost(outermost), style(style), uses(nodes.size()),
      dependences(nodes.size()), placement(nodes.size()) {
  for (auto [index, node] : llvm::enumerate(nodes))
    indexOf[node.op] = index;
}

/// `producer` fused into `consumer`. Only threads of a GPU execute its loops in another order than
/// that of memory: values that they recompute are not stored.
std::optional<Node> Scheduler::join(const Node &producer, const Use &use,
                                    const Node &consumer) const {
  std::optional<Node> turned = joined(producer, use.value, consumer, use.map);
  return turned && (style == LoopStyle::Gpu || turned->dims == producer.dims) ? turned
                                                                              : std::nullopt;
}

void Scheduler::linkUses() {
  for (auto [index, node] : llvm::enumerate(nodes))
    for (const Read &read : readsOf(node)) {
      auto producer = indexOf.find(read.value.getDefiningOp());
      if (!read.value.getDefiningOp() || producer == indexOf.end())
        continue;
      const Node &writer = nodes[producer->second];
      std::optional<Node> turned = joined(writer, read.value, node, read.map);
      bool isJoined = turned && turned->dims == writer.dims;
      uses[producer->second].push_back({unsigned(index), read.value, read.map, isJoined});
      dependences[index].push_back({producer->second, read.value, read.map, isJoined});
    }
}

/// Whether on a GPU the loop of `stage` would have both independent iterations and sums, other
/// loops in it; or neighbours in memory that are iterations here and there results.
bool Scheduler::mixes(unsigned index, unsigned stage) const {
  const Node &node = nodes[index];
  bool joins = llvm::any_of(dependences[index], [&](const Use &dependence) {
    return dependence.joined && placement[dependence.node].count(stage);
  });
  return llvm::any_of(stages[stage].nodes, [&](const Placed &placed) {
    const Node &other = placed.node;
    bool innermost = other.dims.size() == 1 && node.dims.size() == 1;
    return (other.reducesNext() != node.reducesNext() && !innermost) ||
           (outermost && !joins && other.sumsColumns != node.sumsColumns);
  });
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
  for (const Use &dependence : dependences[index]) {
    unsigned producer = placement[dependence.node].begin()->first;
    stage = std::max(stage, dependence.joined ? producer : producer + 1);
  }
  auto mayEnter = [&](unsigned stage) {
    return fits(node, stage) && (style == LoopStyle::Core || !mixes(index, stage));
  };
  while (stage < stages.size() && !mayEnter(stage))
    ++stage;
  if (stage >= stages.size()) {
    stage = stages.size();
    Stage::Kind kind = node.isOpaque()     ? Stage::Kind::Opaque
                       : node.dims.empty() ? Stage::Kind::Scalar
                                           : Stage::Kind::Loop;
    stages.push_back({kind, kind == Stage::Kind::Loop ? node.extent() : 1, {}});
  }
  placement[index].try_emplace(stage, node);
  // Until all nodes have moved to their users: the stage that later nodes would join.
  stages[stage].nodes.push_back({node, {}, true});
}

bool Scheduler::isReadOutside(ValueRange results) const {
  return outermost && llvm::any_of(results, [&](Value result) {
           return llvm::any_of(result.getUsers(),
                               [&](Operation *user) { return !indexOf.contains(user); });
         });
}

/// Whether iterations of `stage` add to something.
bool Scheduler::sums(unsigned stage) const {
  return llvm::any_of(stages[stage].nodes,
                      [](const Placed &placed) { return placed.node.reducesNext(); });
}

/// Iterations that `node` has yet to run, those of a dynamic dimension as one.
static int64_t volumeOf(const Node &node) {
  int64_t volume = 1;
  SmallVector<int64_t> extents = linalg::GenericOp(node.generic).getStaticLoopRanges();
  for (unsigned dim : node.dims)
    volume *= ShapedType::isDynamic(extents[dim]) ? 1 : extents[dim];
  return volume;
}

/// Whether to compute a node in all the stages `wanted`: if there is one stage or the node is
/// cheap. A GPU recomputes a value faster than it reads a stored one.
bool Scheduler::isWorthwhile(unsigned index, const Places &wanted) const {
  if (wanted.size() == 1 || isCheap(nodes[index].generic))
    return true;
  return style == LoopStyle::Gpu && llvm::all_of(uses[index], [&](const Use &use) {
           return volumeOf(nodes[use.node]) <= volumeOf(nodes[index]);
         });
}

/// An elementwise node is computed where it is used, if that is one place or it
/// is cheap: then its result need not be stored.
void Scheduler::moveToUsers(unsigned index) {
  const Node &node = nodes[index];
  if (node.isOpaque() || uses[index].empty() ||
      linalg::GenericOp(node.generic).getNumReductionLoops() > 0)
    return;
  Places wanted;
  bool turns = false;
  for (const Use &use : uses[index])
    for (auto &[stage, user] : placement[use.node]) {
      std::optional<Node> turned = join(node, use, user);
      if (!turned || !fits(*turned, stage))
        return;
      turns |= turned->dims != node.dims || sums(stage);
      if (wanted.try_emplace(stage, *turned).first->second.dims != turned->dims)
        return;
    }
  // A value that others read is stored in its own order, by iterations that do not wait for a sum.
  bool stays = style == LoopStyle::Gpu && turns && isReadOutside(node.op->getResults());
  if (stays || !isWorthwhile(index, wanted))
    return;
  placement[index] = std::move(wanted);
}

/// The results of node `index` that another stage or the rest of the kernel reads.
SmallVector<Value, 2> Scheduler::escaping(unsigned index) const {
  auto isElsewhere = [&](const auto &placed) { return !placement[index].count(placed.first); };
  SmallVector<Value, 2> values;
  for (Value result : nodes[index].op->getResults())
    if (isReadOutside(result) || llvm::any_of(uses[index], [&](const Use &use) {
          return use.value == result && llvm::any_of(placement[use.node], isElsewhere);
        }))
      values.push_back(result);
  return values;
}

std::vector<Stage> Scheduler::run() {
  linkUses();
  for (unsigned index = 0; index < nodes.size(); ++index)
    place(index);
  for (unsigned index = nodes.size(); index-- > 0;)
    moveToUsers(index);
  for (Stage &stage : stages)
    stage.nodes.clear();
  for (unsigned index = 0; index < nodes.size(); ++index) {
    bool original = true;
    for (const auto &[stage, node] : placement[index]) {
      stages[stage].nodes.push_back({node, escaping(index), original});
      original = false;
    }
  }
  llvm::erase_if(stages, [](const Stage &stage) { return stage.nodes.empty(); });
  return std::move(stages);
}

std::vector<Stage> scheduleStages(ArrayRef<Node> nodes, bool outermost, LoopStyle style) {
  return Scheduler(nodes, outermost, style).run();
}

} // namespace zero
