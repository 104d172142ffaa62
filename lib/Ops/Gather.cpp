//===- Gather.cpp ---------------------------------------------------------===//
//
// ONNX: Gather. Indices may be negative; one outside of
// [-extent, extent) is an error, at compile time where the indices are constant.
// Gradient: zero::GatherGrad(dy, indices, [start]) {axis, shape}, which adds the slices
// of dy to those of `start`, or of a tensor of zeros of `shape`, one after the other.
// With {begin, extent} the tensor is rows [begin, begin + its own) of a table of `extent`
// rows, and the slices of other rows are left out. With {padding_idx}, which Gather and
// GatherRows hand on, those of that row of the table are left out, too. With {sorted} the slices
// of a row are found by sorting the indices, and all rows are independent. Its gradient is the
// Gather, with zeros for the slices of `padding_idx`; of rows of a larger table it has none.
//
// zero::GatherRows(rows, indices, [others]) {begin, extent} gathers from these rows of a
// table; where an index is of another row the result is that of `others`, or anything.
// `others` is made by a GatherRows of other rows, so that its gradient may be all of dy:
// it reads of it what is its own.
//
// zero::GatherShard(rows, indices, coordinate) {extent} gathers from the rank's shard of a table of
// `extent` rows, with zeros for rows of other shards: the sum over ranks is the Gather. In its
// gradient, GatherGrad(dy, indices, start or none, coordinate), `begin` depends on the rank.
//
// ONNX Runtime: GatherGrad(shape, indices, dy) {axis} is zero::GatherGrad.
//
//===----------------------------------------------------------------------===//

#include "Movement.h"
#include "Scatter.h"
#include "SortedRows.h"
#include "zero/Ops/CallAttrs.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;

namespace zero::ops {

static LogicalResult lowerGather(onnx::NodeOp node, ValueRange inputs, OpBuilder &builder,
                                 Lowered &lowered) {
  ImplicitLocOpBuilder b(node.getLoc(), builder);
  RankedTensorType data = node.inputType(0), result = node.outputType(0);
  int64_t axis = normalAxis(node.getInt("axis", 0), data.getRank());
  int64_t extent = data.getDimSize(axis), indexRank = node.inputType(1).getRank();
  if (failed(checkIndices(node, 1, inputs[1], extent, b, lowered)))
    return failure();
  auto map = AffineMap::getMultiDimIdentityMap(result.getRank(), b.getContext())
                 .getSliceMap(axis, indexRank);
  lowered.results.push_back(
      elementwise(b, inputs[1], map, result, [&](ImplicitLocOpBuilder &s, ValueRange elements) {
        SmallVector<Value> at;
        for (int64_t dim = 0; dim < data.getRank(); ++dim) {
          int64_t loop = dim < axis ? dim : dim + indexRank - 1;
          at.push_back(dim == axis ? boundedIndex(s, elements[0], extent)
                                   : linalg::IndexOp::create(s, loop).getResult());
        }
        return tensor::ExtractOp::create(s, inputs[0], at).getResult();
      }));
  return success();
}

/// The first row of the shard of the rank `coordinate`, if a shard has `rows`.
static Value firstRow(ImplicitLocOpBuilder &s, Value coordinate, int64_t rows) {
  Value number = tensor::ExtractOp::create(s, coordinate, ValueRange());
  number = arith::IndexCastOp::create(s, s.getIndexType(), number);
  return arith::MulIOp::create(s, number, arith::ConstantIndexOp::create(s, rows).getResult());
}

/// Index `index` of a table, as a row counted from the first of those of `node`. These are a shard
/// if there is a `coordinate`.
static Value rowFrom(ImplicitLocOpBuilder &s, Value index, onnx::NodeOp node, int64_t rows,
                     Value coordinate = {}) {
  Value row = boundedIndex(s, index, node.getInt("extent", rows));
  if (coordinate)
    return arith::SubIOp::create(s, row, firstRow(s, coordinate, rows));
  int64_t begin = node.getInt("begin", 0);
  return begin ? arith::SubIOp::create(s, row, arith::ConstantIndexOp::create(s, begin)).getResult()
               : row;
}

/// Whether `row`, which may be negative, is one of the first `rows`.
static Value isOneOf(ImplicitLocOpBuilder &s, Value row, int64_t rows) {
  Value end = arith::ConstantIndexOp::create(s, rows);
  return arith::CmpIOp::create(s, arith::CmpIPredicate::ult, row, end);
}

/// The row that `row` is, if it is one of the first `rows`, else some row.
static Value someRow(ImplicitLocOpBuilder &s, Value row, Value isOwn) {
  return arith::SelectOp::create(s, isOwn, row, arith::ConstantIndexOp::create(s, 0));
}

static LogicalResult lowerGatherRows(onnx::NodeOp node, ValueRange inputs, OpBuilder &builder,
                                     Lowered &lowered) {
  ImplicitLocOpBuilder b(node.getLoc(), builder);
  RankedTensorType data = node.inputType(0), result = node.outputType(0);
  int64_t rows = data.getDimSize(0), indexRank = node.inputType(1).getRank();
  bool hasOthers = node.hasInput(2);
  // The first one looks at all indices.
  if (!hasOthers &&
      failed(checkIndices(node, 1, inputs[1], node.getInt("extent", rows), b, lowered)))
    return failure();
  auto identity = AffineMap::getMultiDimIdentityMap(result.getRank(), b.getContext());
  SmallVector<AffineMap> maps{identity.getSliceMap(0, indexRank), identity};
  SmallVector<utils::IteratorType> loops(result.getRank(), utils::IteratorType::parallel);
  Value into = hasOthers ? inputs[2] : empty(b, result); // uses its bytes
  auto body = [&](OpBuilder &inner, Location loc, ValueRange elements) {
    ImplicitLocOpBuilder s(loc, inner);
    Value row = rowFrom(s, elements[0], node, rows), isOwn = isOneOf(s, row, rows);
    SmallVector<Value> at{someRow(s, row, isOwn)};
    for (int64_t dim = 1; dim < data.getRank(); ++dim)
      at.push_back(linalg::IndexOp::create(s, dim + indexRank - 1));
    Value element = tensor::ExtractOp::create(s, inputs[0], at);
    if (hasOthers)
      element = arith::SelectOp::create(s, isOwn, element, elements[1]);
    linalg::YieldOp::create(s, element);
  };
  auto generic =
      linalg::GenericOp::create(b, TypeRange(result), inputs[1], into, maps, loops, body);
  lowered.results.push_back(generic.getResult(0));
  return success();
}

static LogicalResult lowerGatherShard(onnx::NodeOp node, ValueRange inputs, OpBuilder &builder,
                                      Lowered &lowered) {
  ImplicitLocOpBuilder b(node.getLoc(), builder);
  RankedTensorType data = node.inputType(0), result = node.outputType(0);
  const int64_t rows = data.getDimSize(0), indexRank = node.inputType(1).getRank();
  if (failed(checkIndices(node, 1, inputs[1], node.getInt("extent", rows), b, lowered)))
    return failure();
  auto map =
      AffineMap::getMultiDimIdentityMap(result.getRank(), b.getContext()).getSliceMap(0, indexRank);
  auto body = [&](ImplicitLocOpBuilder &s, ValueRange elements) -> Value {
    Value row = rowFrom(s, elements[0], node, rows, inputs[2]), isOwn = isOneOf(s, row, rows);
    SmallVector<Value> at{someRow(s, row, isOwn)};
    for (int64_t dim = 1; dim < data.getRank(); ++dim)
      at.push_back(linalg::IndexOp::create(s, dim + indexRank - 1));
    Value element = tensor::ExtractOp::create(s, inputs[0], at);
    return arith::SelectOp::create(s, isOwn, element, constant(s, element.getType(), 0));
  };
  lowered.results.push_back(elementwise(b, inputs[1], map, result, body));
  return success();
}

/// The gradient of a table of which `node` gathers rows along `axis`.
static Value tableGradient(onnx::NodeOp node, Value dy, NodeBuilder &builder, int64_t axis,
                           ArrayRef<NamedAttribute> more = {}, ValueRange moreInputs = {}) {
  SmallVector<NamedAttribute> attrs(more);
  attrs.push_back(builder.attr("axis", axis));
  attrs.push_back(builder.attr("shape", node.inputType(0).getShape()));
  if (node.getAttrs().contains(kPaddingIndex))
    attrs.push_back(builder.attr(kPaddingIndex, node.getInt(kPaddingIndex, 0)));
  SmallVector<Value> inputs{dy, node.getInputs()[1]};
  llvm::append_range(inputs, moreInputs);
  return builder.create(own::GatherGrad, node.inputType(0), inputs, attrs).getResult(0);
}

static LogicalResult rowsGradient(onnx::NodeOp node, ValueRange dy, ArrayRef<bool> wanted,
                                  NodeBuilder &builder, MutableArrayRef<Value> grads) {
  if (!dy[0])
    return success();
  if (wanted[0])
    grads[0] = tableGradient(node, dy[0], builder, 0,
                             {builder.attr("begin", node.getInt("begin", 0)),
                              builder.attr("extent", node.getInt("extent", 0))});
  if (wanted.size() > 2 && wanted[2])
    grads[2] = dy[0];
  return success();
}

static LogicalResult shardGradient(onnx::NodeOp node, ValueRange dy, ArrayRef<bool> wanted,
                                   NodeBuilder &builder, MutableArrayRef<Value> grads) {
  if (dy[0] && wanted[0])
    grads[0] =
        tableGradient(node, dy[0], builder, 0, builder.attr("extent", node.getInt("extent", 0)),
                      {builder.none(), node.getInputs()[2]});
  return success();
}

static LogicalResult gradient(onnx::NodeOp node, ValueRange dy, ArrayRef<bool> wanted,
                              NodeBuilder &builder, MutableArrayRef<Value> grads) {
  int64_t axis = normalAxis(node.getInt("axis", 0), node.inputType(0).getRank());
  if (wanted[0] && dy[0])
    grads[0] = tableGradient(node, dy[0], builder, axis);
  return success();
}

/// `value` element by element in the type of `element`.
static Value asFloats(ImplicitLocOpBuilder &b, Value value, Type element) {
  return elementwise(b, value, tensorType(value).clone(element),
                     [&](ImplicitLocOpBuilder &in, ValueRange x) -> Value {
                       if (element.isF32())
                         return arith::ExtFOp::create(in, element, x[0]);
                       return arith::TruncFOp::create(in, element, x[0]);
                     });
}

/// Sums rows into 16-bit floats: in f32, a few columns at a time, because an f32 copy of a table of
/// vocabulary size would take too much memory. Starts from `start`, or zeros.
static Value narrowSums(ImplicitLocOpBuilder &b, Value updates, Value start,
                        RankedTensorType result, RowIndex rowIndex, RowCounts rowCounts) {
  constexpr int64_t kMostColumns = 32;
  RankedTensorType given = tensorType(updates);
  int64_t extent = result.getDimSize(1), inner = result.getDimSize(2), columns = 1;
  for (int64_t count = 1; count <= std::min(inner, kMostColumns); ++count)
    if (inner % count == 0)
      columns = count;
  OpFoldResult zero = b.getIndexAttr(0), one = b.getIndexAttr(1), width = b.getIndexAttr(columns);
  auto part = [&](Value block, Value start, int64_t rows) {
    return std::pair<SmallVector<OpFoldResult>, SmallVector<OpFoldResult>>(
        {block, zero, start}, {one, b.getIndexAttr(rows), width});
  };
  SmallVector<OpFoldResult> strides(3, one);
  auto sumPart = [&](ImplicitLocOpBuilder &s, ValueRange point, Value carried) -> Value {
    Value first = arith::MulIOp::create(s, point[1], arith::ConstantIndexOp::create(s, columns));
    auto [from, rows] = part(point[0], first, given.getDimSize(1));
    Value some = tensor::ExtractSliceOp::create(s, given.clone({1, given.getDimSize(1), columns}),
                                                updates, from, rows, strides);
    auto sumType = RankedTensorType::get({1, extent, columns}, s.getF32Type());
    auto [to, sizes] = part(point[0], first, extent);
    auto narrow = sumType.clone(result.getElementType());
    Value before =
        start ? asFloats(s, tensor::ExtractSliceOp::create(s, narrow, carried, to, sizes, strides),
                         s.getF32Type())
              : filled(s, sumType, 0);
    Value sums = addRows(s, before, some, rowIndex, rowCounts);
    Value rounded = asFloats(s, sums, result.getElementType());
    return tensor::InsertSliceOp::create(s, rounded, carried, to, sizes, strides);
  };
  return forEachIndex(b, {result.getDimSize(0), inner / columns}, start ? start : empty(b, result),
                      sumPart);
}

static LogicalResult lowerGatherGrad(onnx::NodeOp node, ValueRange inputs, OpBuilder &builder,
                                     Lowered &lowered) {
  ImplicitLocOpBuilder b(node.getLoc(), builder);
  RankedTensorType result = node.outputType(0);
  ArrayRef<int64_t> shape = result.getShape();
  int64_t axis = node.getInt("axis", 0), extent = shape[axis];
  int64_t blocks = product(shape.take_front(axis)), inner = product(shape.drop_front(axis + 1));
  int64_t rows = node.inputType(1).getNumElements();
  Value indices = reshaped(b, inputs[1], node.inputType(1).clone({rows}));
  Value coordinate = node.hasInput(3) ? inputs[3] : Value();
  auto ownRow = [&](ImplicitLocOpBuilder &s, Value row) {
    return rowFrom(s, tensor::ExtractOp::create(s, indices, row), node, extent, coordinate);
  };
  bool isPart = coordinate || node.getAttrs().contains("begin"),
       isPadded = node.getAttrs().contains(kPaddingIndex);
  int64_t padding = node.getInt(kPaddingIndex, 0) - node.getInt("begin", 0);
  auto rowIndex = [&](ImplicitLocOpBuilder &s, Value, Value row) -> Value {
    Value own = ownRow(s, row);
    return isPart ? someRow(s, own, isOneOf(s, own, extent)) : own;
  };
  auto counts = [&](ImplicitLocOpBuilder &s, Value row) -> Value {
    Value own = ownRow(s, row);
    if (!isPadded)
      return isOneOf(s, own, extent);
    Value padded = arith::ConstantIndexOp::create(s, padding);
    if (coordinate)
      padded = arith::SubIOp::create(s, padded, firstRow(s, coordinate, extent));
    Value isOther = arith::CmpIOp::create(s, arith::CmpIPredicate::ne, own, padded);
    return isPart ? arith::AndIOp::create(s, isOther, isOneOf(s, own, extent)).getResult()
                  : isOther;
  };
  RowCounts rowCounts = isPart || isPadded ? RowCounts(counts) : RowCounts();
  if (node.getAttrs().contains(kSorted) && rows != 0 && result.getNumElements() != 0) {
    SmallVector<int64_t> sliced(shape);
    sliced[axis] = rows;
    Value slices = reshaped(b, inputs[0], result.clone(sliced));
    auto key = [&](ImplicitLocOpBuilder &s, Value row) -> Value {
      Value own = ownRow(s, row);
      return rowCounts ? arith::SelectOp::create(s, rowCounts(s, row), own,
                                                 arith::ConstantIndexOp::create(s, extent))
                             .getResult()
                       : own;
    };
    lowered.results.push_back(
        addSortedRows(b, slices, node.hasInput(2) ? inputs[2] : Value(), result, axis, key));
    return success();
  }
  Value updates = reshaped(b, inputs[0], result.clone({blocks, rows, inner}));
  auto sumsType = result.clone({blocks, extent, inner});
  Value start = node.hasInput(2) ? reshaped(b, inputs[2], sumsType) : Value();
  Value sums =
      result.getElementTypeBitWidth() == 16
          ? narrowSums(b, updates, start, sumsType, rowIndex, rowCounts)
          : addRows(b, start ? start : filled(b, sumsType, 0), updates, rowIndex, rowCounts);
  lowered.results.push_back(reshaped(b, sums, result));
  return success();
}

/// `slices`, gathered by `indices` from a dimension `axis` of `extent`, with zeros for those of
/// `row`.
static Value withoutRow(NodeBuilder &builder, Value slices, Value indices, int64_t axis,
                        int64_t extent, int64_t row) {
  RankedTensorType type = tensorType(indices);
  auto isAt = [&](int64_t index) {
    return builder.binary(op::Equal, indices, builder.scalar(double(index), type));
  };
  SmallVector<int64_t> shape(type.getShape());
  shape.resize(tensorType(slices).getRank() - axis, 1);
  Value isRow = builder.reshape(builder.binary(op::Or, isAt(row), isAt(row - extent)), shape);
  return builder.where(isRow, builder.scalar(0, slices.getType()), slices);
}

static LogicalResult sumsGradient(onnx::NodeOp node, ValueRange dy, ArrayRef<bool> wanted,
                                  NodeBuilder &builder, MutableArrayRef<Value> grads) {
  if (node.hasInput(3) || node.getAttrs().contains("begin"))
    return nodeError(node) << "expected sums of all rows of a table, got those of a part, which "
                              "have no gradient";
  if (wanted.size() > 2 && wanted[2])
    grads[2] = dy[0];
  if (!wanted[0])
    return success();
  const int64_t axis = node.getInt("axis", 0);
  Value indices = node.getInputs()[1];
  grads[0] =
      builder.create(op::Gather, node.inputType(0), {dy[0], indices}, builder.attr("axis", axis))
          .getResult(0);
  if (node.getAttrs().contains(kPaddingIndex))
    grads[0] = withoutRow(builder, grads[0], indices, axis, node.outputType(0).getDimSize(axis),
                          node.getInt(kPaddingIndex, 0));
  return success();
}

static LogicalResult expandGrad(onnx::NodeOp node, NodeBuilder &builder,
                                SmallVectorImpl<Value> &results) {
  RankedTensorType type = node.outputType(0);
  results.push_back(
      builder
          .create(own::GatherGrad, type, {node.getInputs()[2], node.getInputs()[1]},
                  {builder.attr("axis", normalAxis(node.getInt("axis", 0), type.getRank())),
                   builder.attr("shape", type.getShape())})
          .getResult(0));
  return success();
}

/// Elements of the slices, and indices. The rows of a table are whole.
static Factors gatherFactors(onnx::NodeOp node) {
  const int64_t rank = node.inputType(0).getRank(), indices = node.inputType(1).getRank();
  const int64_t axis = normalAxis(node.getInt("axis", 0), rank);
  FactorBuilder factors(node);
  auto add = [&](int64_t inData, int64_t inIndices, int64_t inSlices) {
    // The third operand of a GatherRows has the slices of other rows.
    factors.add({inData, inIndices, node.is(own::GatherRows) ? inSlices : -1}, inSlices);
  };
  for (int64_t dim = 0; dim < rank; ++dim)
    if (dim != axis)
      add(dim, -1, dim < axis ? dim : dim + indices - 1);
  for (int64_t dim = 0; dim < indices; ++dim)
    add(-1, dim, axis + dim);
  return factors.take();
}

/// dy, indices, start -> the table: a sum over the indices.
static Factors gatherGradFactors(onnx::NodeOp node) {
  const int64_t rank = node.outputType(0).getRank(), indices = node.inputType(1).getRank();
  const int64_t axis = normalAxis(node.getInt("axis", 0), rank);
  FactorBuilder factors(node);
  for (int64_t dim = 0; dim < rank; ++dim)
    if (dim != axis)
      factors.add({dim < axis ? dim : dim + indices - 1, -1, dim}, dim);
  for (int64_t dim = 0; dim < indices; ++dim)
    factors.add({axis + dim, dim}, {}, FactorKind::Sum, /*addend=*/2);
  return factors.take();
}

/// `dy` without the slices whose index is that of the padding row.
static Value withoutPadding(onnx::NodeOp node, NodeBuilder &nodes, Value rows, Value indices,
                            int64_t extent) {
  if (!node.getAttrs().contains(kPaddingIndex))
    return rows;
  int64_t padding = node.getInt(kPaddingIndex, 0);
  Type element = getElementTypeOrSelf(indices);
  auto is = [&](int64_t row) {
    return nodes.binary(op::Equal, indices, nodes.scalar(double(row), element));
  };
  Value isPadding = nodes.binary(op::Or, is(padding), is(padding - extent));
  SmallVector<int64_t> shape(tensorType(isPadding).getShape());
  shape.resize(tensorType(rows).getRank(), 1);
  return nodes.where(nodes.reshape(isPadding, shape), nodes.scalar(0, rows.getType()), rows);
}

/// GatherGrad(dy, indices, [start]): a scatter of rows, with `axis` in front.
static LogicalResult gatherGradPlainly(onnx::NodeOp node, NodeBuilder &nodes,
                                       SmallVectorImpl<Value> &results) {
  if (node.getAttrs().contains("begin"))
    return success(); // of a tile
  Value dy = node.getInputs()[0], indices = node.getInputs()[1];
  RankedTensorType type = node.outputType(0);
  const int64_t axis = node.getInt("axis", 0), count = tensorType(indices).getRank();
  SmallVector<int64_t> order;
  for (int64_t dim = 0; dim < count; ++dim)
    order.push_back(axis + dim);
  for (int64_t dim = 0; dim < tensorType(dy).getRank(); ++dim)
    if (dim < axis || dim >= axis + count)
      order.push_back(dim);
  Value rows = llvm::is_sorted(order) ? dy : nodes.transpose(dy, order);
  rows = withoutPadding(node, nodes, rows, indices, type.getDimSize(axis));
  // The table with its rows in front, and the way back.
  SmallVector<int64_t> forth{axis}, back, shape;
  for (int64_t dim = 0; dim < type.getRank(); ++dim) {
    if (dim != axis)
      forth.push_back(dim);
    back.push_back(dim < axis ? dim + 1 : dim == axis ? 0 : dim);
  }
  for (int64_t dim : forth)
    shape.push_back(type.getDimSize(dim));
  Value table = nodes.splat(0, type.clone(shape));
  if (node.hasInput(2))
    table = axis == 0 ? node.getInputs()[2] : nodes.transpose(node.getInputs()[2], forth);
  SmallVector<int64_t> tuples(tensorType(indices).getShape());
  tuples.push_back(1);
  Value sums = addAtTuples(nodes, table, nodes.reshape(indices, tuples), rows);
  results.push_back(axis == 0 ? sums : nodes.transpose(sums, back));
  return success();
}

static bool evaluateGather(evaluate::Node &node) {
  const evaluate::Values &data = *node.inputs[0], &indices = *node.inputs[1];
  auto axis = evaluate::fromFront(node.getInt("axis", 0), data.dims.size());
  if (!axis)
    return false;
  const ArrayRef<int64_t> dims = data.dims, elements = data.elements;
  const int64_t extent = dims[*axis], inner = product(dims.drop_front(*axis + 1));
  for (int64_t block = 0, blocks = product(dims.take_front(*axis)); block < blocks; ++block)
    for (int64_t index : indices.elements) {
      auto row = evaluate::fromFront(index, extent);
      if (!row)
        return false;
      llvm::append_range(node.results[0].elements,
                         elements.slice((block * extent + *row) * inner, inner));
    }
  return true;
}

void registerGather() {
  auto gather = [](OpDef def) { return def.moves().dividedBy(gatherFactors); };
  registerAnySign(gather(OpDef{op::Gather, 7, kNewestOpset, Kind::Other, lowerGather, gradient}
                             .linearly(Linear::InFirst)
                             .computing(Function::Lookup)
                             .evaluatedBy({.whole = evaluateGather})));
  registerAnySign(gather({own::GatherRows, 1, 1, Kind::Other, lowerGatherRows, rowsGradient}));
  registerOp(
      gather(OpDef{own::GatherShard, 1, 1, Kind::Other, lowerGatherShard, shardGradient}.computing(
          Function::Lookup)));
  OpDef sums{own::GatherGrad, 1, 1, Kind::Other, lowerGatherGrad, sumsGradient};
  sums.narrow = Narrow::Own;
  registerOp(sums.dividedBy(gatherGradFactors).writtenBy(gatherGradPlainly));
  registerRuntimeOp(own::GatherGrad.type, expandGrad);
}

} // namespace zero::ops
