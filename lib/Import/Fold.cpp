//===- Fold.cpp - exact shape arithmetic ----------------------------------===//

#include "Fold.h"

#include "runtime/support/checked.h"
#include "llvm/ADT/APFloat.h"
#include "llvm/ADT/APSInt.h"
#include "llvm/ADT/STLExtras.h"

using llvm::ArrayRef;
using llvm::StringRef;

namespace zero::importer {

static const pb::AttributeProto *findAttribute(const pb::NodeProto &node, StringRef name) {
  auto it = llvm::find_if(node.attribute(), [&](const auto &a) { return a.name() == name; });
  return it == node.attribute().end() ? nullptr : &*it;
}

int64_t Evaluation::getInt(StringRef name, int64_t fallback) const {
  const pb::AttributeProto *attribute = findAttribute(node, name);
  return attribute ? attribute->i() : fallback;
}

std::optional<Dims> Evaluation::getInts(StringRef name) const {
  const pb::AttributeProto *attribute = findAttribute(node, name);
  if (!attribute)
    return std::nullopt;
  return Dims(attribute->ints().begin(), attribute->ints().end());
}

int64_t broadcastAt(const Ints &ints, ArrayRef<int64_t> index) {
  int64_t offset = 0;
  index = index.take_back(ints.dims.size());
  for (auto [position, dim] : llvm::zip_equal(index, ints.dims))
    offset = offset * dim + (dim == 1 ? 0 : position);
  return ints.values[offset];
}

static Evaluator evaluatorOf(const pb::NodeProto &node) {
  if (!node.domain().empty())
    return nullptr;
  Evaluator evaluator = arithmeticEvaluator(node.op_type());
  return evaluator ? evaluator : movementEvaluator(node.op_type());
}

bool isFoldable(const pb::NodeProto &node) {
  return evaluatorOf(node) ||
         (node.domain().empty() && (node.op_type() == "ConstantOfShape" ||
                                    node.op_type() == "Shape" || node.op_type() == "Size"));
}

/// The one number in `tensor`.
static llvm::APFloat scalarOf(const pb::TensorProto &tensor) {
  if (auto ints = toInts(tensor)) {
    llvm::APFloat value(llvm::APFloat::IEEEquad());
    llvm::APInt integer(64, ints->values.at(0), /*isSigned=*/true);
    value.convertFromAPInt(integer, true, llvm::APFloat::rmNearestTiesToEven);
    return value;
  }
  std::string bytes = tensorBytes(tensor);
  uint64_t bits = 0;
  for (size_t i = bytes.size(); i-- > 0;)
    bits = bits << 8 | static_cast<uint8_t>(bytes[i]);
  return {semanticsOf(tensor.data_type()), llvm::APInt(8 * bytes.size(), bits)};
}

/// A float that is an integer of `type`, as that integer: a bound that exporters
/// write as 1.0.
static std::optional<pb::TensorProto> castToInteger(const pb::TensorProto &input, int32_t type,
                                                    ArrayRef<int64_t> dims) {
  llvm::APSInt value(64, /*isUnsigned=*/false);
  bool isExact = false;
  scalarOf(input).convertToInteger(value, llvm::APFloat::rmTowardZero, &isExact);
  if (!isExact || type != pb::TensorProto::INT64)
    return std::nullopt;
  return fromInts({type, Dims(dims), {value.getSExtValue()}});
}

/// Folds a cast of one element if it is exact. A cast that rounds remains in the step, so that it
/// rounds as the model says.
static std::optional<pb::TensorProto> castScalar(const pb::TensorProto &input, int32_t type,
                                                 ArrayRef<int64_t> dims) {
  if (isInteger(type) && isFloat(input.data_type()))
    return castToInteger(input, type, dims);
  if (!isFloat(type) || (!isFloat(input.data_type()) && !isInteger(input.data_type())))
    return std::nullopt;
  llvm::APFloat value = scalarOf(input);
  bool loses = false;
  value.convert(semanticsOf(type), llvm::APFloat::rmNearestTiesToEven, &loses);
  if (loses || value.isNaN())
    return std::nullopt;
  uint64_t bits = value.bitcastToAPInt().getZExtValue();
  std::string bytes;
  for (int64_t i = 0; i < elementBytes(type); ++i, bits >>= 8)
    bytes.push_back(static_cast<char>(bits));
  return makeTensor(type, dims, std::move(bytes));
}

/// Folds operations on a float of one element: a change of shape or a cast to a wider type.
static std::optional<pb::TensorProto> foldScalar(const pb::NodeProto &node,
                                                 const pb::TensorProto &input, int32_t type,
                                                 ArrayRef<int64_t> dims) {
  if (node.op_type() == "Cast" || node.op_type() == "CastLike")
    return castScalar(input, type, dims);
  const bool moves = llvm::is_contained({"Identity", "Reshape", "Flatten", "Squeeze", "Unsqueeze"},
                                        StringRef(node.op_type()));
  if (!moves || !isFloat(input.data_type()))
    return std::nullopt;
  return makeTensor(type, dims, tensorBytes(input));
}

static pb::TensorProto constantOfShape(const pb::NodeProto &node, int32_t type,
                                       ArrayRef<int64_t> dims, int64_t elements) {
  std::string element(elementBytes(type), '\0'), bytes;
  if (const pb::AttributeProto *value = findAttribute(node, "value"))
    element = tensorBytes(value->t());
  for (int64_t i = 0; i < elements; ++i)
    bytes += element;
  return makeTensor(type, dims, std::move(bytes));
}

static int64_t elementsOf(ArrayRef<int64_t> dims) { return saturatingProduct<int64_t>(dims); }

static std::optional<std::vector<pb::TensorProto>>
foldInts(const pb::NodeProto &node, ArrayRef<const pb::TensorProto *> inputs, ArrayRef<Dims> dims,
         ArrayRef<int32_t> types) {
  Evaluator evaluate = evaluatorOf(node);
  if (!evaluate)
    return std::nullopt;
  std::vector<std::optional<Ints>> decoded;
  for (const pb::TensorProto *input : inputs) {
    decoded.push_back(input ? toInts(*input) : std::nullopt);
    if (input && !decoded.back())
      return std::nullopt;
  }
  llvm::SmallVector<const Ints *> values;
  for (const std::optional<Ints> &ints : decoded)
    values.push_back(ints ? &*ints : nullptr);
  if (values.empty() || !values[0])
    return std::nullopt;
  Evaluated results = evaluate({node, values, dims, types});
  if (!results)
    return std::nullopt;
  std::vector<pb::TensorProto> tensors;
  for (auto [result, shape, type] : llvm::zip_equal(*results, dims, types)) {
    if (static_cast<int64_t>(result.size()) != elementsOf(shape))
      fail(describe(node) + ": expected a result of " + llvm::Twine(elementsOf(shape)) +
           " elements, got " + llvm::Twine(result.size()));
    tensors.push_back(fromInts({type, shape, std::move(result)}));
  }
  return tensors;
}

std::optional<std::vector<pb::TensorProto>> foldNode(const pb::NodeProto &node,
                                                     ArrayRef<const pb::TensorProto *> inputs,
                                                     ArrayRef<Dims> dims, ArrayRef<int32_t> types) {
  for (auto [shape, type] : llvm::zip_equal(dims, types))
    if (elementsOf(shape) * elementBytes(type) > kInlineBytes)
      return std::nullopt;
  if (!node.domain().empty() || dims.empty())
    return std::nullopt;
  if (node.op_type() == "ConstantOfShape")
    return std::vector{constantOfShape(node, types[0], dims[0], elementsOf(dims[0]))};
  if (auto folded = foldInts(node, inputs, dims, types))
    return folded;
  if (inputs.empty() || !inputs[0] || elementsOf(dimsOf(*inputs[0])) != 1)
    return std::nullopt;
  auto scalar = foldScalar(node, *inputs[0], types[0], dims[0]);
  return scalar ? std::optional(std::vector{std::move(*scalar)}) : std::nullopt;
}

} // namespace zero::importer
