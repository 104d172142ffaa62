//===- ProjectionRegion.cpp - ops along rows of logits --------------------===//

#include "ProjectionRegion.h"

#include "dialects/Onnx/OwnOperators.h"
#include "dialects/Zero/Schedule.h"
#include "zero/Analysis/StepFunction.h"
#include "zero/Ops/OpTable.h"

#include <set>

using namespace mlir;

namespace zero {

int64_t rowElements(Value value, int64_t rows) {
  return rows ? tensorType(value).getNumElements() / rows : 0;
}

/// The node that made `value`, through views, if it is one product of rows with a matrix.
static onnx::NodeOp productOf(Value value) {
  while (auto node = value.getDefiningOp<onnx::NodeOp>()) {
    const ops::OpDef *def = ops::lookup(node);
    if (def && def->kind == ops::Kind::Product)
      return node;
    if (!def || (def->kind != ops::Kind::View && def->kind != ops::Kind::Elementwise))
      break;
    value = node.getInputs()[0];
  }
  return {};
}

namespace {
class Finder {
public:
  Finder(ProjectionRegion &region, const Positions &positions)
      : region(region), positions(positions) {}

  /// Follows the rows from `product` to where they end; false when it cannot.
  bool grow(onnx::NodeOp product);

private:
  using Kind = RegionNode::Kind;

  bool add(onnx::NodeOp node);
  std::optional<Kind> classify(onnx::NodeOp node);
  std::optional<Kind> classifyProduct(onnx::NodeOp node);
  bool isElementwise(onnx::NodeOp node);
  bool sumsRows(onnx::NodeOp node);

  bool isTiled(Value value) const { return region.tiled.contains(value); }
  /// A row of logits, or of their gradient.
  bool isWide(Value value) const {
    return isTiled(value) && rowElements(value, region.rows) == region.classes;
  }
  bool isMatrix(Value value) const {
    auto type = dyn_cast<RankedTensorType>(value.getType());
    return type && type.getRank() == 2 && type.getDimSize(0) == region.rows;
  }
  void give(Value value, bool isEnd);

  ProjectionRegion &region;
  const Positions &positions;
  /// Nodes that read rows, by position.
  std::set<std::pair<int64_t, Operation *>> work;
};
} // namespace

/// Takes note of a result with rows; nothing is followed behind an end.
void Finder::give(Value value, bool isEnd) {
  if (isEnd)
    return region.whole.push_back(value);
  region.tiled.insert(value);
  for (Operation *user : value.getUsers())
    work.insert({positions.lookup(user), user});
}

bool Finder::isElementwise(onnx::NodeOp node) {
  auto fits = [&](Value input) {
    return isWide(input) || (!isTiled(input) && isa<RankedTensorType>(input.getType()) &&
                             tensorType(input).getRank() <= 1);
  };
  return node.getNumResults() == 1 && llvm::all_of(node.getInputs(), fits) &&
         rowElements(node.getOutputs()[0], region.rows) == region.classes &&
         tensorType(node.getOutputs()[0]).getShape().back() == region.classes;
}

/// Whether `node` sums all dimensions but the last and drops them.
bool Finder::sumsRows(onnx::NodeOp node) {
  if (!ops::computes(node, ops::Function::ReduceSum) || !isWide(node.getInputs()[0]) ||
      node.getInt("keepdims", 1) || node.getInputs().size() != 2)
    return false;
  return node.outputType(0).getRank() == 1 && node.outputType(0).getDimSize(0) == region.classes;
}

std::optional<RegionNode::Kind> Finder::classifyProduct(onnx::NodeOp node) {
  Value a = node.getInputs()[0], b = node.getInputs()[1];
  bool transA = node.getInt("transA", 0), transB = node.getInt("transB", 0);
  if (node.is(own::Contract) && transA && !transB && isMatrix(a) && isMatrix(b))
    return Kind::Columns;
  if (transA || isTiled(b) || tensorType(b).getRank() != 2)
    return std::nullopt;
  return isTiled(a) || !region.contains(node) ? std::optional(Kind::Rows) : std::nullopt;
}

std::optional<RegionNode::Kind> Finder::classify(onnx::NodeOp node) {
  const ops::OpDef *def = ops::lookup(node);
  if (!def || isIn(node, Segment::Prologue))
    return std::nullopt;
  ValueRange in = node.getInputs();
  if (node.is(own::CrossEntropySum))
    return isWide(in[0]) && isMatrix(in[0]) && !isTiled(in[1]) ? std::optional(Kind::Rows)
                                                               : std::nullopt;
  if (node.is(own::CrossEntropyGrad)) {
    bool fits = tensorType(in[0]).getRank() == 0 && isWide(in[1]) && isMatrix(in[1]) &&
                !isTiled(in[2]) && isTiled(in[3]);
    return fits ? std::optional(Kind::Rows) : std::nullopt;
  }
  if (def->kind == ops::Kind::Product)
    return classifyProduct(node);
  if (def->kind == ops::Kind::View) {
    ArrayRef<int64_t> shape = tensorType(node.getOutputs()[0]).getShape();
    bool keeps = isWide(in[0]) && !shape.empty() && shape.back() == region.classes;
    return keeps ? std::optional(Kind::View) : std::nullopt;
  }
  if (def->kind == ops::Kind::Elementwise && isElementwise(node))
    return Kind::Rows;
  return sumsRows(node) ? std::optional(Kind::Columns) : std::nullopt;
}

bool Finder::add(onnx::NodeOp node) {
  std::optional<Kind> kind = classify(node);
  if (!kind)
    return false;
  region.members.insert(node);
  region.nodes.push_back({node, *kind});
  if (*kind == Kind::Columns) {
    region.sums.push_back(node.getOutputs()[0]);
    return true;
  }
  if (node.is(own::CrossEntropySum)) {
    llvm::append_range(region.sums, node.getOutputs().take_front(2));
    give(node.getOutputs()[2], /*isEnd=*/false);
    return true;
  }
  // A second product ends the region, because its rows are those of the projected value.
  bool isEnd = region.nodes.size() > 1 && ops::lookup(node)->kind == ops::Kind::Product;
  give(node.getOutputs()[0], isEnd);
  return true;
}

bool Finder::grow(onnx::NodeOp product) {
  if (!add(product))
    return false;
  while (!work.empty()) {
    auto node = dyn_cast<onnx::NodeOp>(work.begin()->second);
    work.erase(work.begin());
    if (!node || (!region.contains(node) && !add(node)))
      return false;
  }
  return region.contains(region.loss);
}

std::optional<ProjectionRegion> findProjection(onnx::NodeOp loss, const Positions &positions) {
  onnx::NodeOp product = productOf(loss.getInputs()[0]);
  if (!product)
    return std::nullopt;
  RankedTensorType scores = loss.inputType(0);
  if (scores.getRank() != 2 || product.outputType(0).getShape().back() != scores.getDimSize(1))
    return std::nullopt;
  ProjectionRegion region;
  region.loss = loss;
  region.rows = scores.getDimSize(0);
  region.classes = scores.getDimSize(1);
  if (!Finder(region, positions).grow(product))
    return std::nullopt;
  return region;
}

} // namespace zero
