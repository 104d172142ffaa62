//===- Attention.cpp - the attention of a block ---------------------------===//

#include "Decoder.h"

#include "dialects/Onnx/Operators.h"
#include "dialects/Onnx/OwnOperators.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

#include <limits>

using namespace mlir;

namespace zero::hf {

static constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// The parts of `value` along its last dimension, of so many elements each.
static SmallVector<Value> split(NodeBuilder &nodes, Value value, ArrayRef<int64_t> widths) {
  RankedTensorType type = tensorType(value);
  SmallVector<Type> types;
  SmallVector<int64_t> shape(type.getShape());
  for (int64_t width : widths) {
    shape.back() = width;
    types.push_back(type.clone(shape));
  }
  auto node = nodes.create(op::Split, types, {value, nodes.indices(widths)},
                           nodes.attr("axis", type.getRank() - 1));
  return SmallVector<Value>(node.getOutputs());
}

static Value concat(NodeBuilder &nodes, ValueRange values, int64_t axis) {
  SmallVector<int64_t> shape(tensorType(values[0]).getShape());
  for (Value more : values.drop_front())
    shape[axis] += tensorType(more).getDimSize(axis);
  return nodes
      .create(op::Concat, tensorType(values[0]).clone(shape), values, nodes.attr("axis", axis))
      .getResult(0);
}

//===----------------------------------------------------------------------===//
// Positions
//===----------------------------------------------------------------------===//

/// 0, 1, ... as int64.
Value Decoder::positions(NodeBuilder &nodes) {
  Type i64 = nodes.getBuilder().getI64Type();
  auto scalar = [&](int64_t value) {
    return nodes.splat(double(value), RankedTensorType::get({}, i64));
  };
  return nodes
      .create(op::Range, RankedTensorType::get(shape.sequence, i64),
              {scalar(0), scalar(shape.sequence), scalar(1)})
      .getResult(0);
}

std::pair<Value, Value> Decoder::ropeTables(int rope) {
  auto [it, isNew] = tables.try_emplace(rope);
  if (!isNew)
    return it->second;
  NodeBuilder nodes = graph.at(nameIn(names.stem, "rotary_emb"));
  const Rope &given = config.ropes[rope];
  Builder &builder = nodes.getBuilder();
  auto type = RankedTensorType::get({1, int64_t(given.frequencies.size())}, builder.getF32Type());
  Value frequencies =
      arith::ConstantOp::create(nodes.getBuilder(), nodes.getLoc(),
                                DenseElementsAttr::get(type, ArrayRef<float>(given.frequencies)));
  Value rows = nodes.cast(places ? places : positions(nodes), builder.getF32Type());
  // They broadcast to [batch, heads, sequence, width].
  rows = places ? nodes.reshape(rows, {shape.batch, 1, shape.sequence, 1})
                : nodes.reshape(rows, {shape.sequence, 1});
  Value angles = nodes.mul(rows, frequencies);
  angles = concat(nodes, {angles, angles}, tensorType(angles).getRank() - 1);
  auto table = [&](onnx::Operator function) {
    Value values = nodes.unary(function, angles);
    return given.factor == 1 ? values
                             : nodes.mul(values, nodes.scalar(given.factor, values.getType()));
  };
  return it->second = {table(op::Cos), table(op::Sin)};
}

Value Decoder::rotate(NodeBuilder &nodes, Value heads, int rope) {
  if (rope < 0)
    return heads;
  auto [cosine, sine] = ropeTables(rope);
  const int64_t width = tensorType(heads).getDimSize(3);
  const int64_t rotated = tensorType(cosine).getShape().back();
  auto turn = [&](Value part) {
    return nodes.create(own::Rotary, part.getType(), {part, cosine, sine}).getResult(0);
  };
  if (rotated == width)
    return turn(heads);
  SmallVector<Value> parts = split(nodes, heads, {rotated, width - rotated});
  return concat(nodes, {turn(parts[0]), parts[1]}, 3);
}

Value Decoder::isNear(NodeBuilder &nodes, int64_t window) {
  if (window == 0 || window >= shape.sequence)
    return nullptr;
  Value keys = positions(nodes);
  Value queries = nodes.reshape(keys, {shape.sequence, 1});
  Value limit =
      nodes.splat(double(window), RankedTensorType::get({}, nodes.getBuilder().getI64Type()));
  return nodes.binary(op::Less, nodes.sub(queries, keys), limit);
}

Value Decoder::isSameDocument(NodeBuilder &nodes) {
  if (!places)
    return nullptr;
  // The column where a document begins tells documents of a sequence apart.
  Value starts = nodes.sub(positions(nodes), places);
  return nodes.binary(op::Equal, nodes.reshape(starts, {shape.batch, 1, shape.sequence, 1}),
                      nodes.reshape(starts, {shape.batch, 1, 1, shape.sequence}));
}

Value Decoder::shownKeys(int64_t window) {
  auto [it, isNew] = masks.try_emplace(window);
  if (!isNew)
    return it->second;
  NodeBuilder nodes = graph.at(nameIn(names.stem, "mask"));
  Value near = isNear(nodes, window), same = isSameDocument(nodes);
  return it->second = near && same ? nodes.binary(op::And, near, same) : near ? near : same;
}

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

std::array<Value, 3> Decoder::project(Value value, const std::string &module) {
  const int64_t width = config.headWidth, heads = config.heads, groups = config.groups;
  const int64_t counts[] = {heads, groups, groups};
  std::array<Value, 3> parts;
  auto split3 = [&](NodeBuilder &nodes, Value joined, ArrayRef<int64_t> widths) {
    llvm::copy(split(nodes, joined, widths), parts.begin());
  };
  if (names.packed.empty()) {
    const StringRef modules[] = {names.query, names.key, names.value};
    for (int i = 0; i < 3; ++i)
      parts[i] = linear(value, nameIn(module, modules[i]), counts[i] * width, config.qkvBias);
  } else {
    const std::string path = nameIn(module, names.packed);
    NodeBuilder nodes = graph.at(path);
    Value joined = linear(value, path, (heads + 2 * groups) * width, config.qkvBias);
    if (config.family->packing == Packing::Heads)
      split3(nodes, nodes.reshape(joined, {shape.batch, shape.sequence, heads, 3 * width}),
             {width, width, width});
    else
      split3(nodes, joined, {heads * width, groups * width, groups * width});
  }
  const StringRef norms[] = {names.queryNorm, names.keyNorm, ""};
  NodeBuilder nodes = graph.at(module);
  for (int i = 0; i < 3; ++i) {
    if (config.family->normalizesWholeRows)
      parts[i] = normalize(parts[i], module, norms[i]);
    parts[i] = nodes.reshape(parts[i], {shape.batch, shape.sequence, counts[i], width});
    if (!config.family->normalizesWholeRows)
      parts[i] = normalize(parts[i], module, norms[i]);
  }
  return parts;
}

Value Decoder::mix(NodeBuilder &nodes, Value query, Value key, Value value, const Layer &layer) {
  SmallVector<Value> operands{query, key, value};
  if (Value shown = shownKeys(layer.window))
    operands.push_back(shown);
  SmallVector<NamedAttribute> attrs{nodes.attr("is_causal", int64_t(1)),
                                    nodes.attr("scale", layer.scale)};
  if (config.scoreCap != 0)
    attrs.push_back(nodes.attr("softcap", config.scoreCap));
  return nodes.create(op::Attention, query.getType(), operands, attrs).getResult(0);
}

/// The weights of keys are dropped, so they have to be a tensor.
Value Decoder::mixWithDropout(const std::string &module, Value query, Value key, Value value,
                              const Layer &layer) {
  NodeBuilder nodes = graph.at(module);
  const int64_t heads = config.heads, groups = config.groups, rows = shape.sequence;
  auto repeat = [&](Value shared) {
    if (heads == groups)
      return shared;
    const int64_t width = config.headWidth;
    Value each = nodes.reshape(shared, {shape.batch, groups, 1, rows, width});
    each = nodes.expand(each, {shape.batch, groups, heads / groups, rows, width});
    return nodes.reshape(each, {shape.batch, heads, rows, width});
  };
  Value scores = nodes.matmul(query, nodes.transposeLast(repeat(key)));
  scores = nodes.mul(scores, nodes.scalar(layer.scale, scores.getType()));
  scores = capped(nodes, scores, config.scoreCap);
  Value hidden = nodes.scalar(-kInfinity, scores.getType());
  Value keys = positions(nodes), queries = nodes.reshape(keys, {rows, 1});
  scores = nodes.where(nodes.binary(op::LessOrEqual, keys, queries), scores, hidden);
  if (Value shown = shownKeys(layer.window))
    scores = nodes.where(shown, scores, hidden);
  Value weights = nodes.softmax(scores, 3);
  weights = graph.dropout(weights, module + ".dropout", config.attentionDropout);
  return nodes.matmul(weights, repeat(value));
}

Value Decoder::attend(Value value, const Layer &layer, const std::string &module) {
  NodeBuilder nodes = graph.at(module);
  std::array<Value, 3> parts = project(value, module);
  for (auto [index, part] : llvm::enumerate(parts)) {
    part = nodes.transpose(part, {0, 2, 1, 3});
    if (index < 2)
      part = rotate(nodes, part, layer.rope);
  }
  auto [query, key, values] = parts;
  Value mixed = config.attentionDropout == 0 ? mix(nodes, query, key, values, layer)
                                             : mixWithDropout(module, query, key, values, layer);
  mixed = nodes.reshape(nodes.transpose(mixed, {0, 2, 1, 3}),
                        {shape.batch, shape.sequence, config.heads * config.headWidth});
  return linear(mixed, nameIn(module, names.output), config.width, config.outputBias);
}

} // namespace zero::hf
