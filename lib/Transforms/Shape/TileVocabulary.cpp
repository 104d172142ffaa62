//===- TileVocabulary.cpp - compute a loss in tiles of classes ------------===//

#include "RowTiles.h"
#include "ScheduleLike.h"

#include "dialects/Onnx/OwnOperators.h"
#include "zero/Analysis/StepFunction.h"
#include "zero/Analysis/StepOps.h"
#include "zero/Ops/OpTable.h"
#include "zero/Transforms/Shape/Passes.h"

#include "mlir/IR/Remarks.h"
#include "llvm/ADT/SmallVectorExtras.h"

using namespace mlir;

namespace zero {
#define GEN_PASS_DEF_TILEVOCABULARY
#include "include/zero/Transforms/Shape/Passes.h.inc"
} // namespace zero

using namespace zero;

namespace {
/// Writes one of the two nodes out, part by part and in each part row tile by row tile.
class Tiler {
public:
  Tiler(onnx::NodeOp node, uint64_t limit);

  void writeForward();
  void writeBackward();
  void report();

private:
  struct Classes {
    Value weights;
    int64_t begin, count;
  };
  struct Rows {
    int64_t begin, count;
  };
  Value rowsOf(Value value, Rows rows);
  Value scoresOf(Classes part, Rows rows);
  SmallVector<Value> withWeights(SmallVector<Value> inputs);
  Value product(Value a, Value b, bool transA, bool transB, Type element);
  void addUp(Value &sum, Value part);
  void addGradients(Classes part, Rows rows, Value &ofRows, Value &ofWeights);
  Value join(ArrayRef<Value> pieces, RankedTensorType type);
  SmallVector<NamedAttribute> attributes(StringRef name, int64_t value);

  onnx::NodeOp node;
  OpBuilder at;
  NodeBuilder builder;
  Value slope, lse; ///< of backward
  Value x, labels, classWeights;
  bool transB;
  int64_t classes = 0;
  SmallVector<Classes> parts;
  SmallVector<Rows> tiles;
};
} // namespace

Tiler::Tiler(onnx::NodeOp node, uint64_t limit)
    : node(node), at(node), builder(at, node.getLoc(), node.getNode()),
      transB(node.getInt("transB", 0)) {
  bool isBackward = node.is(own::ProjectionLossGrad);
  unsigned first = isBackward ? 2 : 0;
  if (isBackward) {
    slope = node.getInputs()[0];
    lse = node.getInputs()[1];
  }
  x = node.getInputs()[first];
  labels = node.getInputs()[first + 1];
  classWeights = node.hasInput(first + 2) ? node.getInputs()[first + 2] : Value();
  int64_t widest = 0;
  for (Value weights : node.getInputs().drop_front(first + 3)) {
    int64_t count = tensorType(weights).getDimSize(transB ? 0 : 1);
    parts.push_back({weights, classes, count});
    classes += count;
    widest = std::max(widest, count);
  }
  int64_t all = tensorType(x).getDimSize(0);
  int64_t step = rowsPerTile(all, widest * elementBytes(x.getType()), limit);
  for (int64_t begin = 0; begin < all; begin += step)
    tiles.push_back({begin, std::min(step, all - begin)});
}

/// The tile's rows of `value`: a view.
Value Tiler::rowsOf(Value value, Rows rows) {
  if (tiles.size() == 1)
    return value;
  RankedTensorType type = tensorType(value);
  SmallVector<int64_t> shape(type.getShape());
  int64_t width = type.getNumElements() / shape.front();
  shape.front() = rows.count;
  return MemberOp::create(at, node.getLoc(), type.clone(shape), value,
                          at.getI64IntegerAttr(rows.begin * width));
}

Value Tiler::product(Value a, Value b, bool transA, bool transB, Type element) {
  SmallVector<int64_t> shape{tensorType(a).getDimSize(transA ? 1 : 0),
                             tensorType(b).getDimSize(transB ? 0 : 1)};
  return builder
      .create(own::Contract, RankedTensorType::get(shape, element), {a, b},
              {builder.attr("transA", int64_t(transA)), builder.attr("transB", int64_t(transB))})
      .getResult(0);
}

Value Tiler::scoresOf(Classes part, Rows rows) {
  return product(rowsOf(x, rows), part.weights, false, transB, tensorType(x).getElementType());
}

SmallVector<Value> Tiler::withWeights(SmallVector<Value> inputs) {
  if (classWeights)
    inputs.push_back(classWeights);
  return inputs;
}

/// The attributes of the loss for its labels, and one more attribute.
SmallVector<NamedAttribute> Tiler::attributes(StringRef name, int64_t value) {
  SmallVector<NamedAttribute> attrs{builder.attr(name, value)};
  for (NamedAttribute attr : node.getAttrs())
    if (attr.getName() != "transB")
      attrs.push_back(attr);
  return attrs;
}

void Tiler::addUp(Value &sum, Value part) { sum = sum ? builder.add(part, sum) : part; }

/// `pieces`, tile by tile, as one tensor of `type`.
Value Tiler::join(ArrayRef<Value> pieces, RankedTensorType type) {
  auto given = llvm::map_to_vector(
      pieces, [&](Value piece) { return builder.cast(piece, type.getElementType()); });
  if (given.size() == 1)
    return given.front();
  int64_t width = type.getNumElements() / type.getDimSize(0);
  auto starts = llvm::map_to_vector(tiles, [&](Rows rows) { return rows.begin * width; });
  Value flat =
      BucketOp::create(at, node.getLoc(), type.clone({type.getNumElements()}), given, starts);
  return builder.reshape(flat, type.getShape());
}

void Tiler::writeForward() {
  Operation *before = node->getPrevNode();
  auto perRow = tensorType(node.getOutputs()[2]);
  SmallVector<SmallVector<Value>> states(tiles.size()); // top, sum and own of each tile
  for (Classes part : parts)
    for (auto [state, rows] : llvm::zip_equal(states, tiles)) {
      SmallVector<Value> inputs{scoresOf(part, rows), rowsOf(labels, rows)};
      llvm::append_range(inputs, state);
      SmallVector<Type> types(3, perRow.clone({rows.count}));
      auto made = builder.create(own::LossPart, types, inputs, builder.attr("begin", part.begin));
      state.assign(made.getOutputs().begin(), made.getOutputs().end());
    }
  Value sum, divisor;
  SmallVector<Value> logs;
  for (auto [state, rows] : llvm::zip_equal(states, tiles)) {
    state.push_back(rowsOf(labels, rows));
    SmallVector<Type> types{node.getOutputs()[0].getType(), node.getOutputs()[1].getType(),
                            perRow.clone({rows.count})};
    auto end =
        builder.create(own::LossEnd, types, withWeights(state), attributes("classes", classes));
    addUp(sum, end.getOutputs()[0]);
    addUp(divisor, end.getOutputs()[1]);
    logs.push_back(end.getOutputs()[2]);
  }
  Value all = join(logs, perRow);
  scheduleLike(node, before);
  node.getOutputs().replaceAllUsesWith(ValueRange{sum, divisor, all});
  node.erase();
}

/// A sum of tiles is exact enough in f32 only.
static Type sumElement(Type element) {
  return element.getIntOrFloatBitWidth() == 16 ? Float32Type::get(element.getContext()) : element;
}

/// Adds the gradients of the recomputed scores of `part` and `rows` to those of the rows of x and
/// of the weights of the part. If one of them is not needed it has no user.
void Tiler::addGradients(Classes part, Rows rows, Value &ofRows, Value &ofWeights) {
  Type element = tensorType(x).getElementType();
  Value scores = scoresOf(part, rows);
  SmallVector<Value> inputs{slope, scores, rowsOf(labels, rows), rowsOf(lse, rows)};
  SmallVector<NamedAttribute> attrs = attributes("begin", part.begin);
  attrs.push_back(builder.attr("classes", classes));
  Value grad = builder.create(own::CrossEntropyGrad, scores.getType(), withWeights(inputs), attrs)
                   .getResult(0);
  addUp(ofRows, product(grad, part.weights, false, !transB, sumElement(element)));
  Value mine = rowsOf(x, rows);
  addUp(ofWeights, transB ? product(grad, mine, true, false, sumElement(element))
                          : product(mine, grad, true, false, sumElement(element)));
}

void Tiler::writeBackward() {
  SmallVector<Value> ofRows(tiles.size());
  for (auto [index, part] : llvm::enumerate(parts)) {
    Value ofWeights;
    for (auto [sum, rows] : llvm::zip_equal(ofRows, tiles))
      addGradients(part, rows, sum, ofWeights);
    Value result = node.getOutputs()[1 + index];
    result.replaceAllUsesWith(builder.cast(ofWeights, tensorType(result).getElementType()));
  }
  Value result = node.getOutputs()[0];
  result.replaceAllUsesWith(join(ofRows, tensorType(result)));
  node.erase();
}

void Tiler::report() {
  remark::passed(node.getLoc(), remark::RemarkOpts::name("vocabulary").category("tiles"))
      << ("scores of '" + node.getNode() + "' in " + Twine(parts.size()) + " parts of its " +
          Twine(classes) + " classes, in each " + Twine(tiles.front().count) + " of " +
          Twine(tensorType(x).getDimSize(0)) +
          " rows at a time, recomputed in backward: its projection is tiled")
             .str();
}

namespace {
struct TileVocabulary : zero::impl::TileVocabularyBase<TileVocabulary> {
  using Base::Base;

  void runOnOperation() override {
    FailureOr<func::FuncOp> step = findStep(getOperation());
    if (failed(step))
      return signalPassFailure();
    for (auto node : llvm::make_early_inc_range(step->getBody().getOps<onnx::NodeOp>())) {
      if (node.is(own::ProjectionLoss)) {
        Tiler tiler(node, bytes);
        tiler.report();
        tiler.writeForward();
      } else if (node.is(own::ProjectionLossGrad)) {
        Tiler(node, bytes).writeBackward();
      }
    }
  }
};
} // namespace
