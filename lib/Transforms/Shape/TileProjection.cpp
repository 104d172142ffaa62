//===- TileProjection.cpp - compute logits in tiles of rows ---------------===//

#include "ProjectionRegion.h"
#include "RowTiles.h"

#include "dialects/Onnx/OwnOperators.h"
#include "zero/Analysis/StepFunction.h"
#include "zero/Analysis/StepOps.h"
#include "zero/Ops/OpTable.h"
#include "zero/Transforms/Shape/Passes.h"

#include "mlir/IR/Remarks.h"

using namespace mlir;

namespace zero {
#define GEN_PASS_DEF_TILEPROJECTION
#include "include/zero/Transforms/Shape/Passes.h.inc"
} // namespace zero

using namespace zero;

namespace {
/// Writes the nodes of a region once for each tile.
class Tiler {
public:
  Tiler(ProjectionRegion &region, int64_t rowsPerTile)
      : region(region), step(rowsPerTile), atLoss(region.loss),
        builder(atLoss, region.loss.getLoc(), region.loss.getNode()) {}

  void run();

private:
  void writeTile(int64_t start, int64_t count);
  onnx::NodeOp copyNode(RegionNode from);
  Value operandOf(RegionNode from, unsigned index);
  Value rowsOf(Value value);
  RankedTensorType tileType(Value value);
  void addUp(Value of, Value part);
  void replaceResults();

  ProjectionRegion &region;
  int64_t step;
  OpBuilder atLoss;
  NodeBuilder builder;
  int64_t start = 0, count = 0; ///< rows of the tile being written
  llvm::DenseMap<Value, Value> tiles;
  llvm::DenseMap<Value, Value> totals;
  llvm::DenseMap<Value, SmallVector<Value>> pieces; ///< tiles of values that are needed in full
  SmallVector<int64_t> starts;
};
} // namespace

RankedTensorType Tiler::tileType(Value value) {
  RankedTensorType type = tensorType(value);
  int64_t width = rowElements(value, region.rows);
  bool isVector = type.getRank() == 1;
  return isVector ? type.clone({count}) : type.clone({count, width});
}

/// The tile's rows of an outer value, as a view.
Value Tiler::rowsOf(Value value) {
  Value &slice = tiles[value];
  if (!slice)
    slice = MemberOp::create(atLoss, region.loss.getLoc(), tileType(value), value,
                             atLoss.getI64IntegerAttr(start * rowElements(value, region.rows)));
  return slice;
}

/// Whether operand `index` of a node is an outer value that has rows.
static bool hasRows(RegionNode from, unsigned index) {
  if (from.node.is(own::CrossEntropySum))
    return index == 1;
  if (from.node.is(own::CrossEntropyGrad))
    return index == 2;
  if (ops::lookup(from.node)->kind != ops::Kind::Product)
    return false;
  return index == 0 || from.kind == RegionNode::Kind::Columns;
}

Value Tiler::operandOf(RegionNode from, unsigned index) {
  Value value = from.node.getInputs()[index];
  if (region.tiled.contains(value))
    return tiles.lookup(value);
  if (hasRows(from, index))
    return rowsOf(value);
  // The axes of a sum: a tile is a matrix.
  bool isAxes = ops::computes(from.node, ops::Function::ReduceSum) && index == 1;
  return isAxes ? builder.indices({0}) : value;
}

/// A sum of tiles is exact enough in f32 only.
static RankedTensorType sumType(RankedTensorType type) {
  return type.getElementTypeBitWidth() == 16 ? type.clone(Float32Type::get(type.getContext()))
                                             : type;
}

onnx::NodeOp Tiler::copyNode(RegionNode from) {
  auto operands = llvm::map_to_vector(llvm::seq<unsigned>(0, from.node.getInputs().size()),
                                      [&](unsigned index) { return operandOf(from, index); });
  auto copy = cast<onnx::NodeOp>(atLoss.clone(*from.node));
  copy.getInputsMutable().assign(operands);
  for (auto [result, old] : llvm::zip_equal(copy.getOutputs(), from.node.getOutputs()))
    result.setType(llvm::is_contained(region.sums, old) ? sumType(tensorType(old)) : tileType(old));
  return copy;
}

void Tiler::addUp(Value of, Value part) {
  Value &total = totals[of];
  total = total ? builder.add(part, total) : part;
}

void Tiler::writeTile(int64_t begin, int64_t rows) {
  start = begin;
  count = rows;
  starts.push_back(begin);
  tiles.clear();
  for (RegionNode from : region.nodes) {
    if (from.kind == RegionNode::Kind::View) {
      tiles[from.node.getOutputs()[0]] = tiles.lookup(from.node.getInputs()[0]);
      continue;
    }
    onnx::NodeOp copy = copyNode(from);
    for (auto [result, old] : llvm::zip_equal(copy.getOutputs(), from.node.getOutputs())) {
      if (llvm::is_contained(region.sums, old))
        addUp(old, result);
      else if (region.tiled.contains(old))
        tiles[old] = result;
      else
        pieces[old].push_back(result);
    }
  }
}

void Tiler::replaceResults() {
  for (Value sum : region.sums)
    sum.replaceAllUsesWith(builder.cast(totals.lookup(sum), tensorType(sum).getElementType()));
  for (Value value : region.whole) {
    RankedTensorType type = tensorType(value);
    SmallVector<int64_t> at = llvm::map_to_vector(
        starts, [&](int64_t row) { return row * rowElements(value, region.rows); });
    Value flat = BucketOp::create(atLoss, region.loss.getLoc(), type.clone({type.getNumElements()}),
                                  pieces[value], at);
    value.replaceAllUsesWith(builder.reshape(flat, type.getShape()));
  }
  for (RegionNode from : llvm::reverse(region.nodes))
    from.node->erase();
}

void Tiler::run() {
  for (int64_t row = 0; row < region.rows; row += step)
    writeTile(row, std::min(step, region.rows - row));
  replaceResults();
}

/// The ops after the loss that tiles need, such as the gradient of the loss, in program order.
/// Returns nothing if one depends on the loss itself.
static std::optional<SmallVector<Operation *>> findLate(ProjectionRegion &region,
                                                        const Positions &positions) {
  int64_t loss = positions.lookup(region.loss);
  SmallVector<Operation *> late, work;
  llvm::DenseSet<Operation *> seen;
  /// Follows an operand; false when it is made by a tile.
  auto follow = [&](Value operand) {
    Operation *producer = operand.getDefiningOp();
    if (producer && region.contains(producer))
      return false;
    if (producer && positions.lookup(producer) > loss && seen.insert(producer).second)
      work.push_back(producer);
    return true;
  };
  for (RegionNode from : region.nodes)
    for (Value operand : from.node.getInputs())
      if (!region.tiled.contains(operand) && !follow(operand))
        return std::nullopt;
  while (!work.empty()) {
    Operation *op = work.pop_back_val();
    if (!isMemoryEffectFree(op) || op->getNumRegions() > 0 ||
        !llvm::all_of(op->getOperands(), follow))
      return std::nullopt;
    late.push_back(op);
  }
  llvm::sort(late,
             [&](Operation *a, Operation *b) { return positions.lookup(a) < positions.lookup(b); });
  return late;
}

static void report(ProjectionRegion &region, int64_t rows) {
  int64_t tiles = llvm::divideCeil(region.rows, rows);
  remark::passed(region.loss.getLoc(), remark::RemarkOpts::name("tiled").category("shape"))
      << ("logits of '" + region.loss.getNode() + "' in " + Twine(tiles) + " tiles of " +
          Twine(rows) + " rows x " + Twine(region.classes) +
          " classes, loss and gradients tile by tile")
             .str();
}

namespace {
struct TileProjection : zero::impl::TileProjectionBase<TileProjection> {
  using Base::Base;

  void runOnOperation() override {
    FailureOr<func::FuncOp> step = findStep(getOperation());
    if (failed(step))
      return signalPassFailure();
    Positions positions;
    SmallVector<onnx::NodeOp> losses;
    for (auto [position, op] : llvm::enumerate(step->getBody().front())) {
      positions[&op] = position;
      if (auto node = dyn_cast<onnx::NodeOp>(op); node && node.is(own::CrossEntropySum))
        losses.push_back(node);
    }
    for (onnx::NodeOp loss : losses)
      tile(loss, positions);
  }

  void tile(onnx::NodeOp loss, const Positions &positions) {
    std::optional<ProjectionRegion> region = findProjection(loss, positions);
    if (!region)
      return;
    int64_t rowBytes = region->classes * elementBytes(loss.getInputs()[0].getType());
    int64_t rows = rowsPerTile(region->rows, rowBytes, bytes);
    if (rows >= region->rows)
      return;
    std::optional<SmallVector<Operation *>> late = findLate(*region, positions);
    if (!late)
      return;
    for (Operation *op : *late)
      op->moveBefore(loss);
    report(*region, rows);
    Tiler(*region, rows).run();
  }
};
} // namespace
