//===- Evaluate.cpp - constants of the IR as plain structs ----------------===//

#include "zero/Ops/Evaluate.h"
#include "zero/Ops/OpTable.h"

#include "llvm/ADT/SmallVectorExtras.h"

using namespace mlir;

namespace zero::ops {

std::optional<evaluate::ElementType> elementTypeOf(Type type) {
  const bool isFloat = type.isF16() || type.isBF16() || type.isF32() || type.isF64();
  if (isFloat)
    return evaluate::ElementType::floats(cast<FloatType>(type).getFloatSemantics());
  auto integer = dyn_cast<IntegerType>(type);
  if (!integer || !llvm::is_contained({1u, 8u, 16u, 32u, 64u}, integer.getWidth()) ||
      integer.isSigned() || (integer.getWidth() == 1 && !integer.isSignless()))
    return std::nullopt;
  return evaluate::ElementType{integer.getWidth(), integer.isUnsigned() || integer.getWidth() == 1};
}

evaluate::Values valuesOf(DenseElementsAttr elements) {
  evaluate::Values values{
      *elementTypeOf(elements.getElementType()), evaluate::Dims(elements.getType().getShape()), {}};
  auto add = [&](const APInt &bits) {
    values.elements.push_back(evaluate::elementOfBits(values.type, bits.getZExtValue()));
  };
  if (elements.isSplat())
    add(values.type.isFloat() ? elements.getSplatValue<APFloat>().bitcastToAPInt()
                              : elements.getSplatValue<APInt>());
  else if (values.type.isFloat())
    for (const APFloat &value : elements.getValues<APFloat>())
      add(value.bitcastToAPInt());
  else
    for (const APInt &value : elements.getValues<APInt>())
      add(value);
  return values;
}

DenseElementsAttr attrOf(const evaluate::Values &values, RankedTensorType type) {
  auto bits = llvm::map_to_vector(values.elements, [&](int64_t element) {
    return APInt(values.type.width, uint64_t(element), /*isSigned=*/false, /*implicitTrunc=*/true);
  });
  if (!values.type.isFloat())
    return DenseElementsAttr::get(type, bits);
  return DenseElementsAttr::get(type, llvm::map_to_vector(bits, [&](const APInt &value) {
                                  return APFloat(*values.type.format, value);
                                }));
}

evaluate::Node evaluatedNode(onnx::NodeOp node) {
  auto attribute = [node](StringRef name) mutable -> std::optional<evaluate::Attribute> {
    Attribute attr = node.getAttrs().get(name);
    if (!attr)
      return std::nullopt;
    evaluate::Attribute found;
    if (auto integer = dyn_cast<IntegerAttr>(attr))
      found.ints = {integer.getInt()};
    else if (auto integers = dyn_cast<DenseI64ArrayAttr>(attr))
      found.ints = evaluate::Dims(integers.asArrayRef());
    else if (auto text = dyn_cast<StringAttr>(attr))
      found.text = text.str();
    else if (auto elements = dyn_cast<DenseElementsAttr>(attr))
      found.values = valuesOf(elements);
    return found;
  };
  return {attribute, {}, {}};
}

/// The type and the shape of `value`; nothing if it is no tensor of elements that are evaluated.
static std::optional<evaluate::Values> withoutElements(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  auto element = type ? elementTypeOf(type.getElementType()) : std::nullopt;
  if (!element)
    return std::nullopt;
  return evaluate::Values{*element, evaluate::Dims(type.getShape()), {}};
}

SmallVector<DenseElementsAttr> evaluateNode(onnx::NodeOp node, ArrayRef<DenseElementsAttr> operands,
                                            bool &exact) {
  const OpDef *def = lookup(node);
  if (!def || !def->evaluator)
    return {};
  evaluate::Node known = evaluatedNode(node);
  std::vector<std::optional<evaluate::Values>> values;
  values.reserve(operands.size());
  for (auto [input, elements] : llvm::zip_equal(node.getInputs(), operands)) {
    const bool isGiven = !isa<NoneType>(input.getType());
    values.push_back(withoutElements(input));
    if (isGiven && (!values.back() || (!elements && !def->evaluator.readsShapes)))
      return {};
    if (elements)
      values.back() = valuesOf(elements);
    known.inputs.push_back(isGiven ? &*values.back() : nullptr);
  }
  for (Value result : node.getOutputs()) {
    auto own = withoutElements(result);
    if (!own)
      return {};
    known.results.push_back(*own);
  }
  if (!evaluate::evaluate(def->evaluator, known, exact))
    return {};
  return llvm::map_to_vector(llvm::zip_equal(known.results, node.getOutputs()), [](auto result) {
    return attrOf(std::get<0>(result), cast<RankedTensorType>(std::get<1>(result).getType()));
  });
}

} // namespace zero::ops
