//===- Decoder.cpp - builds the decoder that a configuration describes ----===//

#include "Decoder.h"

#include "dialects/Onnx/Operators.h"

#include <limits>

using namespace mlir;

namespace zero::hf {

/// The label that does not count.
static constexpr int64_t kIgnored = -100;

std::string Decoder::nameIn(StringRef module, StringRef name) const {
  return module.empty() ? name.str() : (module + "." + name).str();
}

Value Decoder::linear(Value value, const std::string &module, int64_t width, bool hasBias) {
  return graph.linear(value, module, width, hasBias, config.family->storesTransposed);
}

Value Decoder::normalize(Value value, const std::string &module, StringRef name) {
  if (name.empty())
    return value;
  const std::string path = nameIn(module, name);
  NodeBuilder nodes = graph.at(path);
  RankedTensorType type = tensorType(value);
  const int64_t width = type.getShape().back();
  SmallVector<Value> operands{value, graph.parameter(path + ".weight", width)};
  const SmallVector<NamedAttribute> attrs{nodes.attr("axis", int64_t(-1)),
                                          nodes.attr("epsilon", config.epsilon)};
  if (config.family->norm == Norm::Layer) {
    operands.push_back(graph.parameter(path + ".bias", width));
    return nodes.create(op::LayerNormalization, type, operands, attrs).getResult(0);
  }
  if (config.family->norm == Norm::RmsPlusOne)
    operands[1] = nodes.add(operands[1], nodes.scalar(1, type));
  return nodes.create(op::RMSNormalization, type, operands, attrs).getResult(0);
}

static Value scaled(NodeBuilder &nodes, Value value, double factor) {
  return factor == 1 ? value : nodes.mul(value, nodes.scalar(factor, value.getType()));
}

Value Decoder::capped(NodeBuilder &nodes, Value value, double cap) {
  if (cap == 0)
    return value;
  Value limit = nodes.scalar(cap, value.getType());
  return nodes.mul(nodes.unary(op::Tanh, nodes.div(value, limit)), limit);
}

Value Decoder::embed(Value tokens) {
  const std::string module = nameIn(names.stem, names.embedding);
  NodeBuilder nodes = graph.at(module);
  const std::string head = (names.head + ".weight").str();
  Value table = graph.parameter(module + ".weight", {config.vocabulary, config.width},
                                config.isTied ? head : "");
  SmallVector<NamedAttribute> attrs{nodes.attr("axis", int64_t(0))};
  if (config.padding)
    attrs.push_back(nodes.attr("padding_idx", *config.padding));
  auto type = RankedTensorType::get({shape.batch, shape.sequence, config.width},
                                    tensorType(table).getElementType());
  Value value = nodes.create(op::Gather, type, {table, tokens}, attrs).getResult(0);
  value = scaled(nodes, value, config.embeddingScale);
  if (!names.positions.empty()) {
    const std::string place = nameIn(names.stem, names.positions);
    NodeBuilder at = graph.at(place);
    Value rows = graph.parameter(place + ".weight", {config.positions, config.width});
    value = at.add(value, embedPositions(at, rows));
  }
  return graph.dropout(value, nameIn(names.stem, "drop"), config.embeddingDropout);
}

/// The rows of `table` at the positions of tokens.
Value Decoder::embedPositions(NodeBuilder &nodes, Value table) {
  if (places)
    return nodes.gather(table, places, 0);
  if (shape.sequence >= config.positions)
    return table;
  auto taken = tensorType(table).clone({shape.sequence, config.width});
  return nodes
      .create(op::Slice, taken,
              {table, nodes.indices(0), nodes.indices(shape.sequence), nodes.indices(0)})
      .getResult(0);
}

Value Decoder::asSummand(Value value, const std::string &module) {
  value = graph.dropout(value, module + ".dropout", config.residualDropout);
  NodeBuilder nodes = graph.at(module);
  return scaled(nodes, value, config.residualScale);
}

Value Decoder::block(Value value, const Layer &layer, const std::string &module) {
  NodeBuilder nodes = graph.at(module);
  const std::string attention = nameIn(module, names.attention), mlp = nameIn(module, names.mlp);
  Value attended = attend(normalize(value, module, names.beforeAttention), layer, attention);
  attended = asSummand(normalize(attended, module, names.afterAttention), attention);
  Value input = config.isParallel ? value : nodes.add(value, attended);
  Value fed = feed(normalize(input, module, names.beforeMlp), mlp);
  fed = asSummand(normalize(fed, module, names.afterMlp), mlp);
  return config.isParallel ? nodes.add(nodes.add(fed, attended), value) : nodes.add(input, fed);
}

Value Decoder::logits(Value tokens) {
  Value value = embed(tokens);
  const std::string layers = nameIn(names.stem, names.layers);
  for (auto [index, layer] : llvm::enumerate(config.layers))
    value = block(value, layer, layers + "." + std::to_string(index));
  value = normalize(value, names.stem.str(), names.norm);
  NodeBuilder nodes = graph.at(names.head);
  const std::string owner = config.isTied ? nameIn(names.stem, names.embedding) : names.head.str();
  Value table = graph.parameter(owner + ".weight", {config.vocabulary, config.width});
  Value scores = nodes.matmul(value, nodes.transposeLast(table));
  if (config.logitScale != 1)
    scores = nodes.div(scores, nodes.scalar(config.logitScale, scores.getType()));
  return capped(nodes, scores, config.logitCap);
}

Value Decoder::loss(Value logits, Value labels) {
  NodeBuilder nodes = graph.at("loss");
  RankedTensorType type = tensorType(labels);
  auto padded = type.clone({shape.batch, shape.sequence + 1});
  Value ignored = nodes.splat(kIgnored, type.clone(ArrayRef<int64_t>{}));
  if (places) {
    // The first token of a document is not the next one of the document before.
    Value zero = nodes.splat(0, type.clone(ArrayRef<int64_t>{}));
    labels = nodes.where(nodes.binary(op::Equal, places, zero), ignored, labels);
  }
  // The label of a token is the next token.
  Value next =
      nodes.create(op::Pad, padded, {labels, nodes.indices({0, 0, 0, 1}), ignored}).getResult(0);
  next = nodes
             .create(op::Slice, type,
                     {next, nodes.indices(1), nodes.indices(std::numeric_limits<int64_t>::max()),
                      nodes.indices(1)})
             .getResult(0);
  const int64_t rows = shape.batch * shape.sequence;
  Value scores = nodes.reshape(logits, {rows, config.vocabulary});
  auto scalar = RankedTensorType::get({}, tensorType(logits).getElementType());
  return nodes
      .create(op::SoftmaxCrossEntropyLoss, scalar, {scores, nodes.reshape(next, rows)},
              {nodes.attr("reduction", StringRef("mean")), nodes.attr("ignore_index", kIgnored)})
      .getResult(0);
}

} // namespace zero::hf
