//===- InitialValues.cpp - values of an initialization graph --------------===//
//
// The values may be large, so they are not computed here: a value is bytes of the file, or one
// number that all its elements are, or how its elements are drawn.
//
//===----------------------------------------------------------------------===//

#include "InitialValues.h"

#include "Fold.h"

#include "llvm/ADT/StringSet.h"
#include "llvm/ADT/bit.h"
#include "llvm/Support/xxhash.h"

#include <cmath>

using llvm::StringRef;
using llvm::Twine;

namespace zero::importer {

/// Nodes between a value and its constants.
static constexpr size_t kMaxDepth = 1000;

static bool isRandom(StringRef type) {
  type.consume_back("Like");
  return type == "RandomNormal" || type == "RandomUniform";
}

namespace {
class Initializer {
public:
  Initializer(Model &model, pb::GraphProto &graph, const TensorRanges &ranges)
      : model(model), graph(graph), ranges(ranges) {
    for (int i = 0; i < graph.initializer_size(); ++i)
      tensors.insert({graph.initializer(i).name(), i});
    for (int i = 0; i < graph.node_size(); ++i)
      for (const std::string &output : graph.node(i).output())
        if (!producers.insert({output, i}).second)
          fail("initialization: two nodes define " + quote(output));
  }

  /// The value `name`, read by `user`.
  const Constant &evaluate(StringRef name, const Twine &user) {
    if (auto known = values.find(name); known != values.end())
      return known->second;
    auto tensor = tensors.find(name);
    auto producer = producers.find(name);
    if (tensor == tensors.end() && producer == producers.end())
      fail(user + ": nothing defines " + quote(name));
    if (!open.insert(name).second)
      fail("initialization: the graph has a cycle through " + quote(name));
    if (open.size() > kMaxDepth)
      fail(user + ": expected a value of at most " + Twine(kMaxDepth) + " nodes");
    Constant value =
        tensor != tensors.end() ? readInitializer(tensor->second) : computeNode(producer->second);
    open.erase(name);
    return values[name] = std::move(value);
  }

private:
  Constant readInitializer(int index) {
    pb::TensorProto &tensor = *graph.mutable_initializer(index);
    return readTensor(model, tensor, ranges.initializers.at(index),
                      "initializer " + quote(tensor.name()));
  }

  Constant computeNode(int index) {
    pb::NodeProto &node = *graph.mutable_node(index);
    const bool isStandard = node.domain().empty() || node.domain() == "ai.onnx";
    if (isStandard && node.op_type() == "Constant") {
      pb::TensorProto tensor = constantValue(node);
      return readTensor(model, tensor, ranges.nodeValues.at(index), describe(node));
    }
    if (isStandard && node.op_type() == "Identity" && node.input_size() == 1)
      return evaluate(node.input(0), describe(node));
    if (isStandard && node.op_type() == "ConstantOfShape" && node.input_size() == 1)
      return filled(node);
    if (isStandard && isRandom(node.op_type()))
      return drawn(node);
    fail(describe(node) + ": expected Constant, ConstantOfShape, Identity, RandomNormal or "
                          "RandomUniform in an initialization graph");
  }

  Constant filled(const pb::NodeProto &node) {
    Constant result;
    result.type = pb::TensorProto::FLOAT;
    result.splat = 0.0;
    for (const pb::AttributeProto &attribute : node.attribute()) {
      if (attribute.name() != "value" || !attribute.has_t())
        continue;
      const pb::TensorProto &tensor = attribute.t();
      result.type = tensor.data_type();
      if (countElements(result.type, dimsOf(tensor), describe(node)) != 1)
        fail(describe(node) + ": expected a value of one element");
      result.splat = firstNumber(tensor);
    }
    result.dims = shapeFor(node);
    result.elements = countElements(result.type, result.dims, describe(node));
    return result;
  }

  /// The values of a RandomNormal or RandomUniform node, or of one that draws like its operand is.
  Constant drawn(const pb::NodeProto &node) {
    const evaluate::Node e = evaluatedNode(node);
    const bool isLike = node.op_type().ends_with("Like");
    auto number = [&](const char *name, float fallback) -> double {
      for (const pb::AttributeProto &attribute : node.attribute())
        if (attribute.name() == name)
          return attribute.f();
      return fallback;
    };
    Constant result;
    if (isLike && node.input_size() == 1) {
      const Constant &like = evaluate(node.input(0), describe(node));
      result.type = like.type;
      result.dims = like.dims;
    } else if (auto shape = e.getInts("shape"); !isLike && shape) {
      result.type = pb::TensorProto::FLOAT;
      result.dims = *shape;
    } else {
      fail(describe(node) + ": expected a shape");
    }
    result.type = int32_t(e.getInt("dtype", result.type));
    if (!isFloat(result.type))
      fail(describe(node) + ": expected floats, got " + typeName(result.type));
    result.elements = countElements(result.type, result.dims, describe(node));
    RandomValues &random = result.random.emplace();
    random.isNormal = StringRef(node.op_type()).starts_with("RandomNormal");
    random.first = random.isNormal ? number("mean", 0) : number("low", 0);
    random.second = random.isNormal ? number("scale", 1) : number("high", 1);
    if (!std::isfinite(random.first) || !std::isfinite(random.second))
      fail(describe(node) + ": expected finite numbers");
    random.stream = llvm::xxh3_64bits(node.output(0)) ^
                    uint64_t(llvm::bit_cast<uint32_t>(float(number("seed", 0)))) << 32;
    return result;
  }

  /// The numbers that the first operand of `node` holds.
  Dims shapeFor(const pb::NodeProto &node) {
    const Constant &shape = evaluate(node.input(0), describe(node));
    std::optional<evaluate::Values> ints = shape.value ? toInts(*shape.value) : std::nullopt;
    if (!ints)
      fail(describe(node) + ": expected integers as the shape " + quote(node.input(0)));
    return Dims(ints->elements.begin(), ints->elements.end());
  }

  Model &model;
  pb::GraphProto &graph;
  const TensorRanges &ranges;
  llvm::StringMap<int> tensors, producers;
  llvm::StringMap<Constant> values;
  llvm::StringSet<> open;
};
} // namespace

static std::string print(const Constant &constant) {
  std::string text = typeName(constant.type) + " [";
  for (auto [i, dim] : llvm::enumerate(constant.dims))
    text += (i ? "," : "") + std::to_string(dim);
  return text + "]";
}

/// Gives `target` the value `value`, of the same type.
static void assign(Constant &target, const Constant &value) {
  target.data = value.data;
  target.value = value.value;
  target.splat = value.splat;
  target.random = value.random;
  target.transposed = value.transposed;
}

void initialize(Model &model, pb::TrainingInfoProto &info, const TensorRanges &ranges,
                const llvm::StringMap<Constant *> &constants) {
  Initializer initializer(model, *info.mutable_initialization(), ranges);
  for (const pb::StringStringEntryProto &pair : info.initialization_binding()) {
    Constant &target = *constants.lookup(pair.key());
    const Constant &value = initializer.evaluate(pair.value(), "initialization_binding");
    if (value.type != target.type || value.dims != target.dims)
      fail("initialization_binding " + quote(pair.key()) + " = " + quote(pair.value()) +
           ": expected " + print(target) + ", got " + print(value));
    assign(target, value);
  }
}

} // namespace zero::importer
