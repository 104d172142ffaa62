//===- Mlp.cpp - activations and the block behind attention ---------------===//

#include "Mlp.h"

#include "Decoder.h"

#include "dialects/Onnx/Operators.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;

namespace zero::hf {

static Value gelu(NodeBuilder &nodes, Value x, StringRef form) {
  return nodes.create(op::Gelu, x.getType(), x, nodes.attr("approximate", form)).getResult(0);
}
static Value geluExact(NodeBuilder &nodes, Value x) { return gelu(nodes, x, "none"); }
static Value geluTanh(NodeBuilder &nodes, Value x) { return gelu(nodes, x, "tanh"); }
static Value relu(NodeBuilder &nodes, Value x) { return nodes.unary(op::Relu, x); }
static Value sigmoid(NodeBuilder &nodes, Value x) { return nodes.unary(op::Sigmoid, x); }
static Value tanh(NodeBuilder &nodes, Value x) { return nodes.unary(op::Tanh, x); }
static Value silu(NodeBuilder &nodes, Value x) { return nodes.mul(x, sigmoid(nodes, x)); }
static Value squaredRelu(NodeBuilder &nodes, Value x) {
  Value positive = relu(nodes, x);
  return nodes.mul(positive, positive);
}
static Value quickGelu(NodeBuilder &nodes, Value x) {
  return nodes.mul(x, sigmoid(nodes, nodes.mul(x, nodes.scalar(1.702, x.getType()))));
}

/// Names of transformers' activations.py.
static constexpr std::pair<StringLiteral, Value (*)(NodeBuilder &, Value)> kActivations[] = {
    {"gelu", geluExact},
    {"gelu_fast", geluTanh},
    {"gelu_new", geluTanh},
    {"gelu_pytorch_tanh", geluTanh},
    {"quick_gelu", quickGelu},
    {"relu", relu},
    {"relu2", squaredRelu},
    {"sigmoid", sigmoid},
    {"silu", silu},
    {"swish", silu},
    {"tanh", tanh}};

bool isActivation(StringRef name) {
  return llvm::any_of(kActivations, [&](const auto &each) { return each.first == name; });
}

std::string listActivations() {
  std::string text;
  for (const auto &[name, function] : kActivations)
    text += (text.empty() ? "" : ", ") + name.str();
  return text;
}

Value Decoder::feedOnce(Value value, const std::string &module) {
  const auto *activation = llvm::find_if(
      kActivations, [&](const auto &each) { return each.first == config.activation; });
  const bool bias = config.mlpBias;
  NodeBuilder nodes = graph.at(nameIn(module, "act_fn"));
  Value gate, up;
  if (!names.gateUp.empty()) {
    Value both = linear(value, nameIn(module, names.gateUp), 2 * config.inner, bias);
    auto half = tensorType(both).clone({shape.batch, shape.sequence, config.inner});
    auto parts =
        nodes.create(op::Split, {half, half}, both,
                     {nodes.attr("axis", int64_t(2)), nodes.attr("num_outputs", int64_t(2))});
    gate = parts.getResult(0);
    up = parts.getResult(1);
  } else {
    up = linear(value, nameIn(module, names.up), config.inner, bias);
    if (!names.gate.empty())
      gate = linear(value, nameIn(module, names.gate), config.inner, bias);
  }
  Value inner =
      gate ? nodes.mul(activation->second(nodes, gate), up) : activation->second(nodes, up);
  return linear(inner, nameIn(module, names.down), config.width, bias);
}

/// Every expert computes all tokens. A token takes the results of its best experts, by the softmax
/// of their scores among all, with a sum of one; the share of all others is zero.
Value Decoder::feedExperts(Value value, const std::string &module) {
  const std::string router = nameIn(module, names.router);
  NodeBuilder nodes = graph.at(router);
  Type i64 = nodes.getBuilder().getI64Type();
  Value scores = nodes.softmax(linear(value, router, config.experts, false), 2);
  auto chosen = tensorType(scores).clone({shape.batch, shape.sequence, config.expertsPerToken});
  auto best =
      nodes.create(op::TopK, {chosen, chosen.clone(i64)},
                   {scores, nodes.indices(config.expertsPerToken)}, nodes.attr("axis", int64_t(2)));
  Value shares = nodes.div(best.getResult(0), nodes.reduceSum(best.getResult(0), 2, true));
  Value sum;
  for (int64_t expert = 0; expert < config.experts; ++expert) {
    const std::string path = nameIn(module, names.experts) + "." + std::to_string(expert);
    Value number = nodes.splat(double(expert), RankedTensorType::get({}, i64));
    Value isChosen = nodes.binary(op::Equal, best.getResult(1), number);
    Value share = nodes.where(isChosen, shares, nodes.scalar(0, shares.getType()));
    Value part = nodes.mul(feedOnce(value, path), nodes.reduceSum(share, 2, true));
    sum = sum ? nodes.add(sum, part) : part;
  }
  return sum;
}

Value Decoder::feed(Value value, const std::string &module) {
  return names.experts.empty() ? feedOnce(value, module) : feedExperts(value, module);
}

} // namespace zero::hf
