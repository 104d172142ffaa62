//===- Fold.cpp - exact shape arithmetic ----------------------------------===//

#include "Fold.h"

using llvm::ArrayRef;
using llvm::StringRef;

namespace zero::importer {

evaluate::Node evaluatedNode(const pb::NodeProto &node) {
  auto attribute = [&node](StringRef name) -> std::optional<evaluate::Attribute> {
    auto it = llvm::find_if(node.attribute(), [&](const auto &a) { return a.name() == name; });
    if (it == node.attribute().end())
      return std::nullopt;
    evaluate::Attribute found{Dims(it->ints().begin(), it->ints().end()), it->s(), std::nullopt};
    if (it->has_i())
      found.ints = {it->i()};
    if (it->has_t())
      found.values = toValues(it->t());
    return found;
  };
  return {attribute, {}, {}};
}

/// Whether shape arithmetic uses integers of `type`.
static bool isOfShapes(evaluate::ElementType type) {
  return type == elementTypeOf(pb::TensorProto::INT64) ||
         type == elementTypeOf(pb::TensorProto::INT32) || type.isBool();
}

/// A float may be a parameter, which is not computed with, and a cast that rounds remains in the
/// step, so that it rounds as the model says.
static bool isFolded(const evaluate::Evaluator &evaluator,
                     ArrayRef<const evaluate::Values *> inputs, evaluate::ElementType result) {
  if (evaluator.readsShapes)
    return true;
  auto isSimple = [](evaluate::ElementType type) { return type.isFloat() || isOfShapes(type); };
  const bool isPassedOn = (evaluator.same || evaluator.converts) &&
                          evaluate::countOf(inputs[0]->dims) == 1 && isSimple(inputs[0]->type) &&
                          isSimple(result);
  const bool isComputed = !evaluator.converts || isOfShapes(result);
  return isPassedOn ||
         (isComputed && llvm::all_of(inputs.take_front(evaluator.reads), [](const auto *input) {
            return !input || isOfShapes(input->type);
          }));
}

std::optional<std::vector<pb::TensorProto>>
foldNode(const evaluate::Evaluator &evaluator, const pb::NodeProto &node,
         ArrayRef<std::optional<evaluate::Values>> inputs, ArrayRef<Dims> dims,
         ArrayRef<int32_t> types) {
  evaluate::Node known = evaluatedNode(node);
  for (auto [shape, type] : llvm::zip_equal(dims, types)) {
    if (elementBytes(type) == 0 || evaluate::countOf(shape) * elementBytes(type) > kInlineBytes)
      return std::nullopt;
    known.results.push_back({elementTypeOf(type), shape, {}});
  }
  for (const std::optional<evaluate::Values> &input : inputs)
    known.inputs.push_back(input ? &*input : nullptr);
  bool exact = true;
  if (dims.empty() || !known.input(0) ||
      !isFolded(evaluator, known.inputs, known.results[0].type) ||
      !evaluate::evaluate(evaluator, known, exact) || !exact)
    return std::nullopt;
  std::vector<pb::TensorProto> tensors;
  for (auto [values, type] : llvm::zip_equal(known.results, types))
    tensors.push_back(fromValues(values, type));
  return tensors;
}

} // namespace zero::importer
