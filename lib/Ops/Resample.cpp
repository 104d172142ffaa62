//===- Resample.cpp - weighted sums along one axis ------------------------===//
//
// zero: Resample(x) {axis, transposed, input, output, scale, roi_begin, roi_end, mode,
// coordinates, nearest, cubic_a, antialias, exclude_outside}: see Resample.h. Gradient:
// the adjoint, which gathers, too, so that its sums have one order and rows run beside
// each other.
//
// The table is part of the kernel in one of two forms:
//   - if it repeats, as with integer factors, and the axis is contiguous: as the weights
//     of one period, with the few elements at the ends written out;
//   - else as constants, an index and a weight for each tap.
//
//===----------------------------------------------------------------------===//

#include "Resample.h"
#include "Movement.h"
#include "zero/Ops/ResampleMatrix.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

#include <numeric>

using namespace mlir;

namespace zero::ops {

//===----------------------------------------------------------------------===//
// Node
//===----------------------------------------------------------------------===//

static Value createNode(NodeBuilder &builder, Value value, int64_t axis, const AxisResize &resize,
                        bool transposed) {
  SmallVector<int64_t> shape(tensorType(value).getShape());
  shape[axis] = transposed ? resize.input : resize.output;
  // Doubles: a float would move the places.
  auto number = [&](StringRef name, double value) {
    return NamedAttribute(name, builder.getBuilder().getF64FloatAttr(value));
  };
  return builder
      .create(own::Resample, tensorType(value).clone(shape), value,
              {builder.attr("axis", axis), builder.attr("transposed", int64_t(transposed)),
               builder.attr("input", resize.input), builder.attr("output", resize.output),
               number("scale", resize.scale), number("roi_begin", resize.roiBegin),
               number("roi_end", resize.roiEnd), builder.attr("mode", resize.mode),
               builder.attr("coordinates", resize.coordinates),
               builder.attr("nearest", resize.nearest), number("cubic_a", resize.cubicA),
               builder.attr("antialias", int64_t(resize.antialias)),
               builder.attr("exclude_outside", int64_t(resize.excludeOutside))})
      .getResult(0);
}

Value resampleNode(NodeBuilder &builder, Value value, int64_t axis, const AxisResize &resize) {
  return createNode(builder, value, axis, resize, /*transposed=*/false);
}

static AxisResize resizeOf(onnx::NodeOp node) {
  AxisResize resize;
  resize.input = node.getInt("input", 1);
  resize.output = node.getInt("output", 1);
  resize.scale = node.getFloat("scale", 1);
  resize.roiBegin = node.getFloat("roi_begin", 0);
  resize.roiEnd = node.getFloat("roi_end", 1);
  resize.mode = node.getString("mode", "").str();
  resize.coordinates = node.getString("coordinates", "").str();
  resize.nearest = node.getString("nearest", "").str();
  resize.cubicA = node.getFloat("cubic_a", 0);
  resize.antialias = node.getInt("antialias", 0) != 0;
  resize.excludeOutside = node.getInt("exclude_outside", 0) != 0;
  return resize;
}

static LogicalResult resampleGradient(onnx::NodeOp node, ValueRange dy, ArrayRef<bool>,
                                      NodeBuilder &builder, MutableArrayRef<Value> grads) {
  grads[0] = createNode(builder, dy[0], node.getInt("axis", 0), resizeOf(node),
                        node.getInt("transposed", 0) == 0);
  return success();
}

//===----------------------------------------------------------------------===//
// Tables as constants
//===----------------------------------------------------------------------===//

/// Sums of more taps are loops.
static constexpr size_t kMostUnrolled = 8;
/// The most weights of a table inside a kernel.
static constexpr int64_t kMostConstants = int64_t(1) << 20;

namespace {
/// The taps of each row, as many as the longest has, row by row or tap by tap.
struct Columns {
  Columns(ImplicitLocOpBuilder &b, const TapTable &table, Type element) {
    size_t width = table.width();
    indices.resize(width * table.rows.size());
    weights.resize(indices.size(), b.getFloatAttr(element, 0));
    for (auto [row, taps] : llvm::enumerate(table.rows))
      for (size_t tap = 0; tap < width; ++tap) {
        // If there is no tap, any element is read with weight 0.
        const Tap none{taps.empty() ? 0 : taps.front().index, 0};
        const Tap &from = tap < taps.size() ? taps[tap] : none;
        indices[row * width + tap] = int32_t(from.index);
        weights[row * width + tap] = b.getFloatAttr(element, from.weight);
      }
  }

  std::vector<int32_t> indices;
  std::vector<Attribute> weights;
};
} // namespace

static Value constantOf(ImplicitLocOpBuilder &b, ArrayRef<int64_t> shape,
                        ArrayRef<int32_t> values) {
  auto type = RankedTensorType::get(shape, b.getI32Type());
  return arith::ConstantOp::create(b, DenseElementsAttr::get(type, values));
}

static Value constantOf(ImplicitLocOpBuilder &b, ArrayRef<int64_t> shape, Type element,
                        ArrayRef<Attribute> values) {
  auto type = RankedTensorType::get(shape, element);
  return arith::ConstantOp::create(b, DenseElementsAttr::get(type, values));
}

/// weight * x[outer, index, inner] at the loops' position, whose last one is `inner`.
static Value tapAt(ImplicitLocOpBuilder &b, Value x, Value index, Value weight, int64_t inner) {
  Value position = arith::IndexCastOp::create(b, b.getIndexType(), index);
  SmallVector<Value> at{linalg::IndexOp::create(b, 0), position, linalg::IndexOp::create(b, inner)};
  return arith::MulFOp::create(b, tensor::ExtractOp::create(b, x, at), weight);
}

/// `table` applied to x [outer, axis, inner], one loop over the result.
static Value sumTaps(ImplicitLocOpBuilder &b, Value x, RankedTensorType result,
                     const TapTable &table) {
  Type element = result.getElementType();
  Columns columns(b, table, element);
  size_t width = table.width();
  int64_t rows = table.rows.size();
  auto map = AffineMap::get(3, 0, b.getAffineDimExpr(1));
  SmallVector<Value> operands;
  for (size_t tap = 0; tap < width; ++tap) {
    std::vector<int32_t> indices;
    std::vector<Attribute> weights;
    for (size_t at = tap; at < columns.indices.size(); at += width) {
      indices.push_back(columns.indices[at]);
      weights.push_back(columns.weights[at]);
    }
    operands.push_back(constantOf(b, rows, indices));
    operands.push_back(constantOf(b, rows, element, weights));
  }
  SmallVector<AffineMap> maps(operands.size(), map);
  return elementwise(b, operands, maps, result, [&](ImplicitLocOpBuilder &s, ValueRange taps) {
    Value sum = tapAt(s, x, taps[0], taps[1], 2);
    for (size_t tap = 1; tap < width; ++tap)
      sum = arith::AddFOp::create(s, sum, tapAt(s, x, taps[2 * tap], taps[2 * tap + 1], 2));
    return sum;
  });
}

/// The same with a loop over the taps of each element.
static Value loopTaps(ImplicitLocOpBuilder &b, Value x, RankedTensorType result,
                      const TapTable &table) {
  Type element = result.getElementType();
  Columns columns(b, table, element);
  SmallVector<int64_t> shape{int64_t(table.rows.size()), int64_t(table.width())};
  // Loops: outer, row, tap, inner.
  auto all = b.getMultiDimIdentityMap(4);
  SmallVector<AffineMap> maps{all.getSubMap({1, 2}), all.getSubMap({1, 2}),
                              all.getSubMap({0, 1, 3})};
  SmallVector<utils::IteratorType> loops(4, utils::IteratorType::parallel);
  loops[2] = utils::IteratorType::reduction;
  SmallVector<Value> operands{constantOf(b, shape, columns.indices),
                              constantOf(b, shape, element, columns.weights)};
  auto generic = linalg::GenericOp::create(
      b, TypeRange(result), operands, filled(b, result, 0), maps, loops,
      [&](OpBuilder &inner, Location loc, ValueRange taps) {
        ImplicitLocOpBuilder s(loc, inner);
        Value product = tapAt(s, x, taps[0], taps[1], 3);
        linalg::YieldOp::create(s, arith::AddFOp::create(s, taps[2], product).getResult());
      });
  return generic.getResult(0);
}

//===----------------------------------------------------------------------===//
// Tables that repeat
//===----------------------------------------------------------------------===//

namespace {
/// Rows [first, end) form groups of `rows` rows. Each group reads the elements of the previous
/// group moved by `step`.
struct Period {
  int64_t rows, step, first, end;

  int64_t groups() const { return (end - first) / rows; }
};
} // namespace

/// Code of a group, and of the rows outside of all groups, stays short.
static constexpr int64_t kMostRowsOfGroup = 8, kMostTapsOfGroup = 48, kMostRowsOutside = 32;
/// Doubles may round differently from group to group by up to this much.
static constexpr double kSameWeight = 1e-9;

static bool isShifted(const Taps &a, const Taps &b, int64_t step) {
  return llvm::equal(a, b, [&](const Tap &x, const Tap &y) {
    return x.index + step == y.index && std::abs(x.weight - y.weight) <= kSameWeight;
  });
}

static std::optional<Period> findPeriod(const TapTable &table, int64_t extent) {
  int64_t count = table.rows.size(), common = std::gcd(count, extent);
  Period period{count / common, extent / common, 0, 0};
  if (period.rows > kMostRowsOfGroup || period.rows * int64_t(table.width()) > kMostTapsOfGroup ||
      table.outside.any())
    return std::nullopt;
  // Searches from the middle to both ends, where rows differ.
  auto follows = [&](int64_t row) {
    return isShifted(table.rows[row - period.rows], table.rows[row], period.step);
  };
  period.first = count / 2 / period.rows * period.rows;
  while (period.first > 0 && follows(period.first - 1 + period.rows))
    --period.first;
  period.end = std::min(period.first + period.rows, count);
  while (period.end < count && follows(period.end))
    ++period.end;
  period.end = period.first + (period.end - period.first) / period.rows * period.rows;
  if (count - (period.end - period.first) > kMostRowsOutside || period.groups() < 2)
    return std::nullopt;
  return period;
}

/// The sum of `taps` in row `row` of x, at indices `shift` further on.
static Value sumAt(ImplicitLocOpBuilder &b, Value x, Value row, const Taps &taps, Value shift) {
  Type element = tensorType(x).getElementType();
  Value sum;
  for (const Tap &tap : taps) {
    Value index = arith::ConstantIndexOp::create(b, tap.index);
    if (shift)
      index = arith::AddIOp::create(b, shift, index);
    Value value = tensor::ExtractOp::create(b, x, ValueRange{row, index});
    value = arith::MulFOp::create(b, value, constant(b, element, tap.weight));
    sum = sum ? arith::AddFOp::create(b, sum, value).getResult() : value;
  }
  return sum ? sum : constant(b, element, 0);
}

/// `table`, which has `period`, applied to x [rows, axis].
static Value sumGroups(ImplicitLocOpBuilder &b, Value x, RankedTensorType result,
                       const TapTable &table, const Period &period) {
  auto position = [](ImplicitLocOpBuilder &s, Value group, int64_t step, int64_t offset) -> Value {
    Value start = arith::MulIOp::create(s, group, arith::ConstantIndexOp::create(s, step));
    return arith::AddIOp::create(s, start, arith::ConstantIndexOp::create(s, offset));
  };
  auto oneRow = [&](ImplicitLocOpBuilder &s, ValueRange at, Value carried) -> Value {
    Value row = at.front();
    for (int64_t i = 0; i < int64_t(table.rows.size()); ++i) {
      if (i >= period.first && i < period.end)
        continue;
      Value place = arith::ConstantIndexOp::create(s, i);
      carried = tensor::InsertOp::create(s, sumAt(s, x, row, table.rows[i], Value()), carried,
                                         ValueRange{row, place});
    }
    return forEachIndex(
        s, period.groups(), carried,
        [&](ImplicitLocOpBuilder &in, ValueRange group, Value carriedIn) -> Value {
          Value shift = position(in, group.front(), period.step, 0);
          for (int64_t i = 0; i < period.rows; ++i) {
            Value sum = sumAt(in, x, row, table.rows[period.first + i], shift);
            Value place = position(in, group.front(), period.rows, period.first + i);
            carriedIn = tensor::InsertOp::create(in, sum, carriedIn, ValueRange{row, place});
          }
          return carriedIn;
        });
  };
  return forEachIndex(b, result.getDimSize(0), empty(b, result), oneRow);
}

//===----------------------------------------------------------------------===//
// Lowering
//===----------------------------------------------------------------------===//

/// The taps of each element of the result of `node`.
static TapTable tableOf(onnx::NodeOp node) {
  TapTable table = makeTable(resizeOf(node));
  return node.getInt("transposed", 0) ? table.transposed(node.getInt("input", 1)) : table;
}

static LogicalResult lowerResample(onnx::NodeOp node, ValueRange inputs, OpBuilder &builder,
                                   Lowered &lowered) {
  ImplicitLocOpBuilder b(node.getLoc(), builder);
  RankedTensorType from = node.inputType(0), to = node.outputType(0);
  int64_t axis = node.getInt("axis", 0), extent = from.getDimSize(axis);
  int64_t outer = product(to.getShape().take_front(axis));
  int64_t inner = product(to.getShape().drop_front(axis + 1));
  TapTable table = tableOf(node);
  if (inner == 1)
    if (std::optional<Period> period = findPeriod(table, extent)) {
      auto result = to.clone({outer, to.getDimSize(axis)});
      Value x = reshaped(b, inputs[0], from.clone({outer, extent}));
      lowered.results.push_back(reshaped(b, sumGroups(b, x, result, table, *period), to));
      return success();
    }
  int64_t weights = int64_t(table.width() * table.rows.size());
  if (weights > kMostConstants)
    return nodeError(node) << "resizing " << node.getInt("input", 1) << " elements to "
                           << node.getInt("output", 1) << " takes a table of " << weights
                           << " weights; expected at most " << kMostConstants
                           << ", or a whole factor along the last dimension";
  auto result = to.clone({outer, to.getDimSize(axis), inner});
  Value x = reshaped(b, inputs[0], from.clone({outer, extent, inner}));
  Value y =
      table.width() <= kMostUnrolled ? sumTaps(b, x, result, table) : loopTaps(b, x, result, table);
  lowered.results.push_back(reshaped(b, y, to));
  return success();
}

/// Resample(x) is a product of its axis with a matrix of weights.
static LogicalResult resamplePlainly(onnx::NodeOp node, NodeBuilder &nodes,
                                     SmallVectorImpl<Value> &results) {
  DenseElementsAttr matrix = resampleMatrix(node);
  if (!matrix)
    return success();
  const int64_t axis = node.getInt("axis", 0), last = node.inputType(0).getRank() - 1;
  auto order = llvm::to_vector(llvm::seq<int64_t>(last + 1));
  std::swap(order[axis], order[last]);
  Value x = node.getInputs()[0];
  Value weights = arith::ConstantOp::create(nodes.getBuilder(), nodes.getLoc(), matrix);
  Value made = nodes.matmul(axis == last ? x : nodes.transpose(x, order), weights);
  results.push_back(axis == last ? made : nodes.transpose(made, order));
  return success();
}

void registerResample() {
  registerOp(OpDef{own::Resample, 1, 1, Kind::Other, lowerResample, resampleGradient}
                 .dividedBy(factorsAcrossAxis<0>)
                 .writtenBy(resamplePlainly));
}

} // namespace zero::ops

DenseElementsAttr zero::resampleMatrix(onnx::NodeOp node) {
  const int64_t axis = node.getInt("axis", 0);
  RankedTensorType type = node.inputType(0);
  const int64_t from = type.getDimSize(axis), to = node.outputType(0).getDimSize(axis);
  if (from * to > ops::kMostConstants)
    return {};
  std::vector<double> weights(from * to, 0.0);
  for (auto [column, taps] : llvm::enumerate(ops::tableOf(node).rows))
    for (const ops::Tap &tap : taps)
      weights[tap.index * to + column] += tap.weight;
  SmallVector<Attribute> rounded;
  for (double weight : weights)
    rounded.push_back(FloatAttr::get(type.getElementType(), weight));
  return DenseElementsAttr::get(type.clone({from, to}), rounded);
}
