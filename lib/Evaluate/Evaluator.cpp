//===- Evaluator.cpp - results of nodes on constants ----------------------===//

#include "zero/Evaluate/Evaluator.h"

#include "llvm/ADT/STLExtras.h"

using llvm::ArrayRef;
using llvm::StringRef;

namespace zero::evaluate {

std::optional<Dims> Node::getInts(StringRef name) const {
  std::optional<Attribute> found = attribute(name);
  return found ? std::optional(std::move(found->ints)) : std::nullopt;
}

int64_t Node::getInt(StringRef name, int64_t fallback) const {
  std::optional<Dims> found = getInts(name);
  return found && !found->empty() ? found->front() : fallback;
}

static bool isSplat(const Values *values) { return values->elements.size() == 1; }

static bool evaluateElements(const Evaluator &evaluator, Node &node, bool &exact) {
  Values &result = node.results.front();
  auto operands = ArrayRef(node.inputs).take_front(evaluator.reads);
  while (!operands.back())
    operands = operands.drop_back();
  llvm::SmallVector<Dims> strides;
  for (const Values *operand : operands) {
    auto own = operand ? broadcastStrides(operand->dims, result.dims) : std::nullopt;
    if (!own)
      return false;
    strides.push_back(*own);
  }
  llvm::SmallVector<int64_t> x(operands.size());
  Element element{evaluator.settingOf(node), operands.front()->type, result.type, {}, x};
  const bool isScalar = evaluator.keepsSplats() && llvm::all_of(operands, isSplat);
  Dims zeros(result.dims.size(), 1);
  forEachIndex(isScalar ? zeros : result.dims, [&](ArrayRef<int64_t> index) {
    for (auto [value, operand, stride] : llvm::zip_equal(x, operands, strides))
      value = operand->at(offsetOf(index, stride));
    element.index = index;
    result.elements.push_back(evaluator.element(element));
  });
  exact = exact && element.exact;
  return true;
}

/// Operands with all their elements.
static bool evaluateWhole(const Evaluator &evaluator, Node &node) {
  if (evaluator.moves && isSplat(node.inputs.front())) {
    for (Values &result : node.results)
      result.elements = node.inputs.front()->elements;
    return true;
  }
  std::vector<Values> full(node.inputs.size());
  for (auto [input, copy] : llvm::zip_equal(node.inputs, full)) {
    if (!input || !isSplat(input) || evaluator.readsShapes)
      continue;
    copy = *input;
    copy.elements.assign(countOf(copy.dims), copy.elements.front());
    input = &copy;
  }
  return evaluator.whole(node) && llvm::all_of(node.results, [](const Values &result) {
           return int64_t(result.elements.size()) == countOf(result.dims);
         });
}

bool evaluate(const Evaluator &evaluator, Node &node, bool &exact) {
  const Values *first = node.input(0);
  if (node.results.empty() || !first || !evaluator.accepts(first->type))
    return false;
  if (evaluator.whole)
    return evaluateWhole(evaluator, node);
  if (evaluator.element)
    return evaluateElements(evaluator, node, exact);
  Values &result = node.results.front();
  result.elements = first->elements;
  return evaluator.same && countOf(first->dims) == countOf(result.dims) &&
         first->type == result.type;
}

} // namespace zero::evaluate
