//===- KernelGroups.cpp - choose the nodes of each kernel -----------------===//

#include "KernelGroups.h"

#include "dialects/Onnx/OwnOperators.h"
#include "dialects/Zero/Schedule.h"
#include "dialects/Zero/Zero.h"
#include "zero/Ops/Axes.h"
#include "zero/Transforms/Precision/HalfFloats.h"

using namespace mlir;

namespace zero {
namespace {

/// The maximal number of operands of all nodes of a kernel, because later passes are not linear in
/// them.
static constexpr unsigned kMostOperands = 128;

/// The maximal number of nodes between a product, or a node over rows, and the addition of its
/// result. The operands of the product are live that much longer.
static constexpr unsigned kNear = 8;

/// The maximal number of nodes between a node that joins a chain and its root.
static constexpr unsigned kChain = 64;

/// The shape of `value` without dimensions of size one.
static SmallVector<int64_t> withoutOnes(ArrayRef<int64_t> shape) {
  return llvm::filter_to_vector(shape, [](int64_t extent) { return extent != 1; });
}

/// The rows over which the nodes of a group are computed: their tensors have one element for each
/// row, or `width` of them.
struct Chain {
  SmallVector<int64_t> rows; ///< without dimensions of size one; empty: no chain
  int64_t width = 0;         ///< 0: not known yet

  bool isRow(Value value) const { return withoutOnes(tensorType(value).getShape()) == rows; }
  bool isFull(Value value) const {
    ArrayRef<int64_t> shape = tensorType(value).getShape();
    return width > 1 && !shape.empty() && shape.back() == width &&
           withoutOnes(shape.drop_back()) == rows;
  }
};

/// Whether `node` reduces rows to one element each: along its last dimension only.
static bool reducesLastAxis(onnx::NodeOp node) {
  using F = ops::Function;
  if (!ops::computes(
          node, {F::ReduceSum, F::ReduceMax, F::ReduceMin, F::ReduceMean, F::ReduceSumSquare}) ||
      node.inputType(0).getRank() == 0)
    return false;
  auto axes = listedAxes(node);
  return axes && axes->size() == 1 && axes->front() == node.inputType(0).getRank() - 1 &&
         node.inputType(0).getShape().back() > 1;
}

class Grouper {
public:
  explicit Grouper(func::FuncOp step)
      : nodes(step.getBody().front().getOps<onnx::NodeOp>().begin(),
              step.getBody().front().getOps<onnx::NodeOp>().end()) {}

  llvm::DenseMap<Operation *, KernelGroup> run();

private:
  ops::Kind kindOf(onnx::NodeOp node) const { return ops::lookup(node)->kind; }
  onnx::NodeOp soleReader(Value &value, SmallVectorImpl<onnx::NodeOp> &views) const;
  bool isFresh(Value value, onnx::NodeOp reader) const;
  std::optional<unsigned> startOf(onnx::NodeOp node) const;
  void growProduct(onnx::NodeOp product);
  bool mayFuseRows(onnx::NodeOp rows, onnx::NodeOp user, Operation *root) const;
  Operation *readersGroup(onnx::NodeOp node) const;
  bool joinsChain(onnx::NodeOp node, Operation *root);
  Chain chainOf(onnx::NodeOp root) const;
  void joinUsers();
  void dropFirstViews();

  SmallVector<onnx::NodeOp> nodes;
  /// Number of each node in program order.
  llvm::DenseMap<Operation *, unsigned> positions;
  /// The group of each node that is in one, under its last node.
  llvm::DenseMap<Operation *, Operation *> rootOf;
  llvm::DenseMap<Operation *, KernelGroup> groups;
  /// The rows of each group that is not complete yet, by its root.
  llvm::DenseMap<Operation *, Chain> chains;
};

} // namespace

/// Whether both run in the prologue, or none.
static bool runTogether(Operation *a, Operation *b) { return segmentOf(a) == segmentOf(b); }

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

/// The only node that reads `value`, possibly through reshapes. Sets `value` to the operand of this
/// node, and `views` to the nodes that reshape it.
onnx::NodeOp Grouper::soleReader(Value &value, SmallVectorImpl<onnx::NodeOp> &views) const {
  while (value.hasOneUse()) {
    auto reader = dyn_cast<onnx::NodeOp>(*value.user_begin());
    if (!reader || kindOf(reader) != ops::Kind::View)
      return reader;
    views.push_back(reader);
    value = reader.getOutputs()[0];
  }
  return {};
}

/// Whether a node has made `value` for `reader` alone, so that it may be overwritten.
bool Grouper::isFresh(Value value, onnx::NodeOp reader) const {
  while (value.hasOneUse()) {
    auto producer = value.getDefiningOp<onnx::NodeOp>();
    if (!producer)
      return false;
    if (kindOf(producer) != ops::Kind::View)
      return runTogether(producer, reader);
    value = producer.getInputs()[0];
  }
  return false;
}

/// The operand of `node` from which a sum, or rows from several tables, start, if it may be
/// computed in place.
std::optional<unsigned> Grouper::startOf(onnx::NodeOp node) const {
  bool starts = node.isAnyOf({own::GatherGrad, own::GatherRows}) && node.hasInput(2) &&
                isFresh(node.getInputs()[2], node);
  return starts ? std::optional(2u) : std::nullopt;
}

static bool isLibraryFloat(RankedTensorType type) {
  return type.getElementType().isF32() || isHalfFloat(type);
}

/// Whether `summand` is a row that `sum` adds to each row of `product`'s result.
static bool isRow(onnx::NodeOp product, onnx::NodeOp sum, Value summand) {
  RankedTensorType row = tensorType(summand), result = product.outputType(0);
  RankedTensorType a = product.inputType(0), b = product.inputType(1);
  auto batch = [](RankedTensorType type) {
    return ShapedType::getNumElements(type.getShape().drop_back(2));
  };
  // Each row of the result is one of A's, or the library would take others for rows.
  return a.getRank() > 1 && b.getRank() > 1 && batch(a) == batch(result) && row.getRank() > 0 &&
         row.getShape().back() == row.getNumElements() &&
         row.getShape().back() == result.getShape().back() &&
         row.getShape().back() == sum.outputType(0).getShape().back();
}

/// Whether `sum` adds something to `value` that the library can add in f32.
static bool isSum(onnx::NodeOp sum, Value value, Value summand) {
  RankedTensorType type = sum.outputType(0);
  Operation *producer = summand.getDefiningOp();
  return ops::computes(sum, ops::Function::Add) &&
         type.getShape() == tensorType(value).getShape() && isLibraryFloat(type) &&
         !(producer && producer->hasTrait<OpTrait::ConstantLike>());
}

/// Fuses additions to the result of `product` into it: first a row, then a tensor of the result's
/// shape, in whose place it accumulates if no other op reads it.
void Grouper::growProduct(onnx::NodeOp product) {
  KernelGroup group{{product}, {}};
  SmallVector<onnx::NodeOp> views;
  Value value = product.getOutputs()[0];
  bool hasRow = product.hasInput(2), isWhole = false;
  while (!isWhole) {
    onnx::NodeOp sum = soleReader(value, views);
    if (!sum || rootOf.contains(sum) || !runTogether(product, sum) ||
        positions.lookup(sum) > positions.lookup(product) + kNear)
      break;
    unsigned side = sum.getInputs()[0] == value ? 1 : 0;
    Value summand = sum.getNumOperands() == 2 ? sum.getInputs()[side] : Value();
    if (!summand || !isSum(sum, value, summand))
      break;
    isWhole = summand.getType() == sum.getOutputs()[0].getType();
    if (!isWhole && (hasRow || !isRow(product, sum, summand)))
      break;
    hasRow = true;
    llvm::append_range(group.nodes, views);
    group.nodes.push_back(sum);
    views.clear();
    value = sum.getOutputs()[0];
    if (isWhole && isFresh(summand, sum))
      group.inPlace = side;
  }
  if (group.nodes.size() == 1)
    return;
  Operation *root = group.nodes.back();
  for (onnx::NodeOp node : group.nodes)
    rootOf[node] = root;
  groups[root] = std::move(group);
}

//===----------------------------------------------------------------------===//
// Elementwise nodes and rows
//===----------------------------------------------------------------------===//

/// The one node that uses `node`'s first result, or null.
static onnx::NodeOp singleUser(onnx::NodeOp node) {
  Value result = node.getOutputs()[0];
  if (result.use_empty() || !llvm::all_equal(result.getUsers()))
    return {};
  return dyn_cast<onnx::NodeOp>(*result.user_begin());
}

/// Whether `producer` may be computed inside the kernel of its user: element by
/// element, and no element twice.
static bool mayFuse(onnx::NodeOp producer, ops::Kind kind, onnx::NodeOp user, ops::Kind userKind) {
  if (kind != ops::Kind::Elementwise || producer.getNumResults() != 1 ||
      !runTogether(producer, user))
    return false;
  if (userKind != ops::Kind::Elementwise && userKind != ops::Kind::Rows)
    return false;
  int64_t elements = producer.outputType(0).getNumElements();
  if (userKind == ops::Kind::Elementwise)
    return elements == user.outputType(0).getNumElements();
  return llvm::any_of(user.getInputs(), [&](Value input) {
    return input == producer.getOutputs()[0] && elements > 1;
  });
}

/// Whether `rows`, which normalises rows, may be computed inside the kernel with root
/// `root` of its user: over the same rows, close by, and its other results are read later.
bool Grouper::mayFuseRows(onnx::NodeOp rows, onnx::NodeOp user, Operation *root) const {
  if (kindOf(rows) != ops::Kind::Rows || kindOf(user) != ops::Kind::Elementwise ||
      !runTogether(rows, user) || positions.lookup(root) > positions.lookup(rows) + kNear)
    return false;
  auto shape = rows.outputType(0).getShape();
  return shape == rows.inputType(0).getShape() && shape == user.outputType(0).getShape() &&
         llvm::all_of(rows.getOutputs().drop_front(), [&](Value result) {
           return llvm::all_of(result.getUsers(),
                               [&](Operation *reader) { return root->isBeforeInBlock(reader); });
         });
}

/// The rows of a group that begins with `root`.
Chain Grouper::chainOf(onnx::NodeOp root) const {
  bool isReduction = reducesLastAxis(root);
  if ((kindOf(root) != ops::Kind::Elementwise && !isReduction) || root.getNumResults() != 1)
    return {};
  ArrayRef<int64_t> shape =
      isReduction ? root.inputType(0).getShape() : root.outputType(0).getShape();
  if (shape.empty() || llvm::is_contained(shape, 0))
    return {};
  Chain chain{withoutOnes(shape.drop_back()), shape.back()};
  if (chain.width == 1)
    chain.width = 0;
  return chain;
}

/// The group that `node` may join because all nodes that read its results are in it, or are behind
/// its root; null if there is none. So no node of the group waits for one outside of it.
Operation *Grouper::readersGroup(onnx::NodeOp node) const {
  Operation *root = nullptr;
  for (Operation *reader : node->getUsers())
    if (Operation *of = rootOf.lookup(reader); of && (!root || of->isBeforeInBlock(root)))
      root = of;
  if (!root || chains.lookup(root).rows.empty() || !runTogether(node, cast<onnx::NodeOp>(root)) ||
      positions.lookup(root) > positions.lookup(node) + kChain)
    return nullptr;
  bool isLast = llvm::all_of(node->getUsers(), [&](Operation *reader) {
    return rootOf.lookup(reader) == root || root->isBeforeInBlock(reader);
  });
  return isLast ? root : nullptr;
}

/// Whether `node` may be computed row by row in the group of `root`, whose rows it then shares.
bool Grouper::joinsChain(onnx::NodeOp node, Operation *root) {
  Chain &chain = chains[root];
  Value result = node.getResult(0);
  // Kernels do not round values of 16 bits inside, so their borders may not depend on who else
  // reads a value, as with recomputation.
  if (node.getNumResults() != 1 || llvm::any_of(node->getOperandTypes(), isHalfFloat) ||
      llvm::any_of(node->getResultTypes(), isHalfFloat))
    return false;
  if (kindOf(node) == ops::Kind::Elementwise)
    return chain.isFull(result) || chain.isRow(result);
  if (kindOf(node) == ops::Kind::View)
    return chain.isRow(result) && chain.isRow(node.getInputs().front());
  if (!reducesLastAxis(node) || !chain.isRow(result))
    return false;
  if (chain.width == 0)
    chain.width = node.inputType(0).getShape().back();
  return chain.isFull(node.getInputs().front());
}

/// Lets elementwise nodes join the kernel of their only user, and one node over rows that
/// of elementwise users. Nodes that reduce rows, and what is computed from their results row by
/// row, join the kernel of all of their users, so that rows are read once: a softmax or a
/// normalization that is written as primitives, and its gradient, is one kernel.
void Grouper::joinUsers() {
  llvm::DenseMap<Operation *, unsigned> operandsOf;
  llvm::DenseSet<Operation *> haveRows;
  for (onnx::NodeOp node : llvm::reverse(nodes)) {
    if (rootOf.contains(node))
      continue;
    if (Operation *root = readersGroup(node);
        root && operandsOf.lookup(root) + node->getNumOperands() <= kMostOperands &&
        joinsChain(node, root)) {
      rootOf[node] = root;
      operandsOf[root] += node->getNumOperands();
      continue;
    }
    if (kindOf(node) == ops::Kind::View || kindOf(node) == ops::Kind::Exchange)
      continue;
    Operation *root = node;
    if (onnx::NodeOp user = singleUser(node))
      if (auto it = operandsOf.find(rootOf.lookup(user));
          it != operandsOf.end() && it->second + node->getNumOperands() <= kMostOperands &&
          (mayFuse(node, kindOf(node), user, kindOf(user)) ||
           (!haveRows.contains(it->first) && mayFuseRows(node, user, it->first))))
        root = it->first;
    rootOf[node] = root;
    operandsOf[root] += node->getNumOperands();
    if (root == node)
      chains[root] = chainOf(node);
    if (kindOf(node) == ops::Kind::Rows && !reducesLastAxis(node))
      haveRows.insert(root);
  }
  dropFirstViews();
}

/// Removes views of values from outside from their groups: they need no kernel.
void Grouper::dropFirstViews() {
  for (onnx::NodeOp node : nodes) {
    auto it = rootOf.find(node);
    if (it == rootOf.end() || kindOf(node) != ops::Kind::View || groups.contains(it->second))
      continue;
    Operation *producer = node.getInputs().front().getDefiningOp();
    if (!producer || rootOf.lookup(producer) != it->second)
      rootOf.erase(it);
  }
}

llvm::DenseMap<Operation *, KernelGroup> Grouper::run() {
  for (onnx::NodeOp node : nodes)
    positions[node] = positions.size();
  // The later of two products that are added takes the sum: the other one is there.
  for (onnx::NodeOp node : llvm::reverse(nodes))
    if (kindOf(node) == ops::Kind::Product)
      growProduct(node);
  llvm::DenseSet<Operation *> complete;
  for (auto &[root, group] : groups)
    complete.insert(root);
  joinUsers();
  for (onnx::NodeOp node : nodes)
    if (auto it = rootOf.find(node); it != rootOf.end() && !complete.contains(it->second)) {
      KernelGroup &group = groups[it->second];
      group.nodes.push_back(node);
      group.inPlace = startOf(node);
    }
  return std::move(groups);
}

onnx::NodeOp KernelGroup::main() const {
  const auto *heavy = llvm::find_if(nodes, [](onnx::NodeOp node) {
    ops::Kind kind = ops::lookup(node)->kind;
    return kind == ops::Kind::Product || kind == ops::Kind::Rows;
  });
  return heavy == nodes.end() ? nodes.back() : *heavy;
}

SmallVector<Value> KernelGroup::readOutside() const {
  llvm::SmallPtrSet<Operation *, 8> members;
  for (onnx::NodeOp node : nodes)
    members.insert(node);
  SmallVector<Value> results;
  for (onnx::NodeOp node : nodes)
    for (Value result : node.getOutputs())
      if (llvm::any_of(result.getUsers(), [&](Operation *op) { return !members.contains(op); }))
        results.push_back(result);
  return results;
}

llvm::DenseMap<Operation *, KernelGroup> groupNodes(func::FuncOp step) {
  return Grouper(step).run();
}

} // namespace zero
