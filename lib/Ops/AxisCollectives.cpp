//===- AxisCollectives.cpp - collectives along an axis as nodes -----------===//
//
// Nodes of the domain `zero` in which the ranks along an axis of the mesh, of the attributes
// {over, ranks}, exchange values. Each pair below is the other's gradient (Shoeybi et al.,
// Megatron-LM, arXiv 1909.08053, section 3; Korthikanti et al., arXiv 2205.05198, section 4.2):
//
//   AxisCopy(x) -> x                 and AxisSum(x) -> sum over ranks of x
//   AxisGather(x) -> [ranks, ..x]    and AxisScatterSum(x) -> of [ranks, ..], the sum over ranks of
//                                        the part with the rank's number; where every rank has the
//                                        entire gradient (`held`), it takes its part: AxisPart
//   AxisPart(x, coordinate) {dim, parts} -> the rank's shard of x; its gradient is the whole tensor
//
// Sums are in the order of ranks, and of 16-bit floats in f32. There are no kernels for
// collectives: their lowering is an op of the step.
//
//===----------------------------------------------------------------------===//

#include "zero/Ops/AxisCollectives.h"

#include "Lowering.h"
#include "dialects/Zero/Mesh.h"
#include "zero/Ops/Concat.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

#include <numeric>

using namespace mlir;

namespace zero {

static constexpr StringLiteral kOver = "over", kRanks = "ranks", kHeld = "held", kDim = "dim",
                               kParts = "parts";

static SmallVector<NamedAttribute> attributesOf(NodeBuilder &builder, const AxisRanks &ranks) {
  return {builder.attr(kOver, ranks.name), builder.attr(kRanks, ranks.count)};
}

static AxisRanks ranksOf(onnx::NodeOp node) {
  return {node.getString(kOver, "").str(), node.getInt(kRanks, 1)};
}

Value enterShards(NodeBuilder &builder, Value value, const AxisRanks &ranks) {
  return builder.create(own::AxisCopy, value.getType(), value, attributesOf(builder, ranks))
      .getResult(0);
}

Value sumOverAxis(NodeBuilder &builder, Value value, const AxisRanks &ranks) {
  return builder.create(own::AxisSum, value.getType(), value, attributesOf(builder, ranks))
      .getResult(0);
}

Value coordinateOf(NodeBuilder &builder, const AxisRanks &ranks) {
  return builder.programInput(kCoordinatePrefix.str() + ranks.name,
                              builder.getBuilder().getI64Type());
}

/// [ranks, ..] with the first dimension in front of dimension `dim` of the others, and merged.
static Value mergeRanks(NodeBuilder &builder, Value gathered, int64_t dim) {
  SmallVector<int64_t> shape(tensorType(gathered).getShape()), order(shape.size());
  const int64_t ranks = shape.front();
  std::iota(order.begin(), order.end(), 0);
  std::rotate(order.begin(), order.begin() + 1, order.begin() + 1 + dim);
  shape.erase(shape.begin());
  shape[dim] *= ranks;
  if (llvm::any_of(ArrayRef(shape).take_front(dim), [](int64_t extent) { return extent != 1; }))
    gathered = builder.transpose(gathered, order);
  return builder.reshape(gathered, shape);
}

/// `value` with dimension `dim` divided by ranks, which become the first dimension.
static Value splitRanks(NodeBuilder &builder, Value value, int64_t dim, int64_t ranks) {
  SmallVector<int64_t> shape(tensorType(value).getShape());
  shape[dim] /= ranks;
  shape.insert(shape.begin() + dim, ranks);
  SmallVector<int64_t> order(shape.size());
  std::iota(order.begin(), order.end(), 0);
  std::rotate(order.begin(), order.begin() + dim, order.begin() + dim + 1);
  if (llvm::any_of(ArrayRef(shape).take_front(dim), [](int64_t extent) { return extent != 1; }))
    return builder.transpose(builder.reshape(value, shape), order);
  std::rotate(shape.begin(), shape.begin() + dim, shape.begin() + dim + 1);
  return builder.reshape(value, shape);
}

ops::Cut cutFrom(ShardAttr shard) {
  return {shard.getDim(), SmallVector<int64_t>(shard.getParts())};
}

/// [ranks, ..] of shards as the whole tensor. One of several parts is joined part by part.
static Value joinShards(NodeBuilder &builder, Value gathered, const ops::Cut &cut) {
  if (cut.parts.empty())
    return mergeRanks(builder, gathered, cut.dim);
  const int64_t ranks = tensorType(gathered).getDimSize(0);
  auto sizes = llvm::map_to_vector(cut.parts, [&](int64_t part) { return part / ranks; });
  SmallVector<Value> whole;
  for (Value part : splitNode(builder, gathered, sizes, cut.dim + 1))
    whole.push_back(mergeRanks(builder, part, cut.dim));
  return concatNode(builder, whole, cut.dim);
}

Value gatherShards(NodeBuilder &builder, Value value, const ops::Cut &cut, const AxisRanks &ranks,
                   HeldGradient gradient) {
  SmallVector<int64_t> shape(tensorType(value).getShape());
  shape.insert(shape.begin(), ranks.count);
  SmallVector<NamedAttribute> attrs = attributesOf(builder, ranks);
  attrs.push_back(builder.attr(kHeld, int64_t(gradient == HeldGradient::Whole)));
  Value all =
      builder.create(own::AxisGather, tensorType(value).clone(shape), value, attrs).getResult(0);
  return joinShards(builder, all, cut);
}

Value takeShard(NodeBuilder &builder, Value value, const ops::Cut &cut, const AxisRanks &ranks) {
  SmallVector<NamedAttribute> attrs = attributesOf(builder, ranks);
  attrs.push_back(builder.attr(kDim, cut.dim));
  if (!cut.parts.empty())
    attrs.push_back(builder.attr(kParts, cut.parts));
  auto shape = ops::shardShape(tensorType(value), cut, ranks.count);
  return builder
      .create(own::AxisPart, tensorType(value).clone(*shape), {value, coordinateOf(builder, ranks)},
              attrs)
      .getResult(0);
}

Value scatterSum(NodeBuilder &builder, Value value, const ops::Cut &cut, const AxisRanks &ranks) {
  auto shape = ops::shardShape(tensorType(value), cut, ranks.count);
  Value parts = splitRanks(builder, value, cut.dim, ranks.count);
  return builder
      .create(own::AxisScatterSum, tensorType(value).clone(*shape), parts,
              attributesOf(builder, ranks))
      .getResult(0);
}

Value takeTokens(NodeBuilder &builder, Value value, const ops::Cut &cut, const AxisRanks &ranks) {
  return takeTokensOf(builder, value, cut, ranks, coordinateOf(builder, ranks));
}

Value takeTokensOf(NodeBuilder &builder, Value value, const ops::Cut &cut, const AxisRanks &ranks,
                   Value coordinate) {
  SmallVector<int64_t> first, step; // The index of each of the rank's tokens: first + rank * step.
  int64_t begin = 0;
  const int64_t extent = tensorType(value).getDimSize(cut.dim);
  for (int64_t part : cut.parts.empty() ? SmallVector<int64_t>{extent} : cut.parts) {
    const int64_t chunk = part / (2 * ranks.count);
    for (int64_t token = 0; token < 2 * chunk; ++token) {
      const bool isLate = token >= chunk;
      first.push_back(begin + token + (isLate ? (2 * ranks.count - 2) * chunk : 0));
      step.push_back(isLate ? -chunk : chunk);
    }
    begin += part;
  }
  Value shift = builder.mul(builder.indices(step), coordinate);
  return builder.gather(value, builder.add(builder.indices(first), shift), cut.dim);
}

namespace ops {

static GroupAttr groupOf(onnx::NodeOp node) {
  MLIRContext *context = node.getContext();
  return GroupAttr::get(context, FlatSymbolRefAttr::get(context, node.getString(kOver, "")));
}

/// Sums of 16-bit floats are computed in f32.
static TypeAttr arithmeticOf(Value value) {
  Type element = tensorType(value).getElementType();
  return element.getIntOrFloatBitWidth() < 32 ? TypeAttr::get(Float32Type::get(value.getContext()))
                                              : TypeAttr();
}

static void name(Operation *op, onnx::NodeOp node) { op->setAttr(kNameAttr, node.getNodeAttr()); }

static LogicalResult lowerCopy(onnx::NodeOp, ValueRange inputs, OpBuilder &, Lowered &lowered) {
  lowered.results.push_back(inputs[0]);
  return success();
}

static LogicalResult lowerSum(onnx::NodeOp node, ValueRange inputs, OpBuilder &builder,
                              Lowered &lowered) {
  auto sum = AllReduceOp::create(builder, node.getLoc(), inputs[0], arithmeticOf(inputs[0]),
                                 groupOf(node));
  name(sum, node);
  lowered.results.push_back(sum.getResult());
  return success();
}

static LogicalResult lowerGather(onnx::NodeOp node, ValueRange inputs, OpBuilder &builder,
                                 Lowered &lowered) {
  auto gather =
      AllGatherOp::create(builder, node.getLoc(), node.outputType(0), inputs[0], groupOf(node));
  name(gather, node);
  lowered.results.push_back(gather.getResult());
  return success();
}

static LogicalResult lowerScatterSum(onnx::NodeOp node, ValueRange inputs, OpBuilder &builder,
                                     Lowered &lowered) {
  auto sum = ReduceScatterOp::create(builder, node.getLoc(), node.outputType(0), inputs[0],
                                     arithmeticOf(inputs[0]), groupOf(node));
  name(sum, node);
  lowered.results.push_back(sum.getResult());
  return success();
}

/// The index in the whole dimension of index `own` of the shard of the rank `coordinate`.
static Value wholeIndex(ImplicitLocOpBuilder &s, Value own, Value coordinate,
                        ArrayRef<int64_t> parts, int64_t ranks) {
  auto number = [&](int64_t value) { return arith::ConstantIndexOp::create(s, value).getResult(); };
  Value result;
  int64_t begin = 0; // of the part, in the whole dimension
  for (int64_t part : parts) {
    const int64_t share = part / ranks;
    Value offset = arith::MulIOp::create(s, coordinate, number(share));
    offset = arith::AddIOp::create(s, offset, number(begin - begin / ranks));
    Value index = arith::AddIOp::create(s, own, offset);
    if (!result) {
      result = index;
    } else {
      Value isLater =
          arith::CmpIOp::create(s, arith::CmpIPredicate::uge, own, number(begin / ranks));
      result = arith::SelectOp::create(s, isLater, index, result);
    }
    begin += part;
  }
  return result;
}

static LogicalResult lowerPart(onnx::NodeOp node, ValueRange inputs, OpBuilder &builder,
                               Lowered &lowered) {
  ImplicitLocOpBuilder b(node.getLoc(), builder);
  RankedTensorType result = node.outputType(0);
  const int64_t dim = node.getInt(kDim, 0), ranks = node.getInt(kRanks, 1);
  SmallVector<int64_t> parts =
      node.getInts(kParts).value_or(SmallVector<int64_t>{node.inputType(0).getDimSize(dim)});
  auto body = [&](ImplicitLocOpBuilder &s, ValueRange) -> Value {
    Value coordinate = tensor::ExtractOp::create(s, inputs[1], ValueRange());
    coordinate = arith::IndexCastOp::create(s, s.getIndexType(), coordinate);
    SmallVector<Value> at;
    for (int64_t d = 0; d < result.getRank(); ++d)
      at.push_back(linalg::IndexOp::create(s, d));
    at[dim] = wholeIndex(s, at[dim], coordinate, parts, ranks);
    return tensor::ExtractOp::create(s, inputs[0], at);
  };
  lowered.results.push_back(elementwise(b, ValueRange(), result, body));
  return success();
}

static LogicalResult copyGradient(onnx::NodeOp node, ValueRange dy, ArrayRef<bool> wanted,
                                  NodeBuilder &builder, MutableArrayRef<Value> grads) {
  if (dy[0] && wanted[0])
    grads[0] = sumOverAxis(builder, dy[0], ranksOf(node));
  return success();
}

static LogicalResult sumGradient(onnx::NodeOp, ValueRange dy, ArrayRef<bool>, NodeBuilder &,
                                 MutableArrayRef<Value> grads) {
  grads[0] = dy[0];
  return success();
}

static LogicalResult gatherGradient(onnx::NodeOp node, ValueRange dy, ArrayRef<bool> wanted,
                                    NodeBuilder &builder, MutableArrayRef<Value> grads) {
  if (!dy[0] || !wanted[0])
    return success();
  const AxisRanks ranks = ranksOf(node);
  if (!node.getInt(kHeld, 0)) {
    grads[0] =
        builder.create(own::AxisScatterSum, node.inputType(0), dy[0], attributesOf(builder, ranks))
            .getResult(0);
    return success();
  }
  Value part = takeShard(builder, dy[0], Cut{0}, ranks);
  grads[0] = builder.reshape(part, node.inputType(0).getShape());
  return success();
}

static LogicalResult scatterGradient(onnx::NodeOp node, ValueRange dy, ArrayRef<bool> wanted,
                                     NodeBuilder &builder, MutableArrayRef<Value> grads) {
  if (!dy[0] || !wanted[0])
    return success();
  SmallVector<NamedAttribute> attrs = attributesOf(builder, ranksOf(node));
  attrs.push_back(builder.attr(kHeld, int64_t(1)));
  grads[0] = builder.create(own::AxisGather, node.inputType(0), dy[0], attrs).getResult(0);
  return success();
}

static LogicalResult partGradient(onnx::NodeOp node, ValueRange dy, ArrayRef<bool> wanted,
                                  NodeBuilder &builder, MutableArrayRef<Value> grads) {
  if (!dy[0] || !wanted[0])
    return success();
  Cut cut{node.getInt(kDim, 0), node.getInts(kParts).value_or(SmallVector<int64_t>())};
  grads[0] = gatherShards(builder, dy[0], cut, ranksOf(node), HeldGradient::Whole);
  return success();
}

void registerAxisCollectives() {
  registerAnySign({own::AxisCopy, 1, 1, Kind::View, lowerCopy, copyGradient});
  registerOp({own::AxisSum, 1, 1, Kind::Exchange, lowerSum, sumGradient});
  registerOp(OpDef{own::AxisGather, 1, 1, Kind::Exchange, lowerGather, gatherGradient}.moves());
  registerOp({own::AxisScatterSum, 1, 1, Kind::Exchange, lowerScatterSum, scatterGradient});
  registerAnySign(OpDef{own::AxisPart, 1, 1, Kind::Other, lowerPart, partGradient}.moves());
}

} // namespace ops
} // namespace zero
