//===- Attributes.cpp - attributes of nodes -------------------------------===//

#include "Build.h"

#include "mlir/IR/Builders.h"

using namespace mlir;

namespace zero::importer {

static Attribute convertTensor(const pb::NodeProto &node, const pb::TensorProto &tensor,
                               MLIRContext *context) {
  if (tensor.data_location() == pb::TensorProto::EXTERNAL)
    fail(describe(node) + ": an attribute with external data is not supported");
  if (countElements(tensor.data_type(), dimsOf(tensor), describe(node)) *
          elementBytes(tensor.data_type()) >
      kInlineBytes)
    fail(describe(node) + ": expected an attribute of at most 64 KiB");
  return toElements(tensor, context);
}

/// Converts an attribute; null for one that is omitted.
static Attribute convert(const pb::NodeProto &node, const pb::AttributeProto &attribute,
                         Builder &builder) {
  switch (attribute.type()) {
  case pb::AttributeProto::INT:
    return builder.getI64IntegerAttr(attribute.i());
  case pb::AttributeProto::FLOAT:
    return builder.getF32FloatAttr(attribute.f());
  case pb::AttributeProto::STRING:
    return builder.getStringAttr(attribute.s());
  case pb::AttributeProto::INTS:
    return builder.getDenseI64ArrayAttr(
        SmallVector<int64_t>(attribute.ints().begin(), attribute.ints().end()));
  case pb::AttributeProto::FLOATS:
    return builder.getDenseF32ArrayAttr(
        SmallVector<float>(attribute.floats().begin(), attribute.floats().end()));
  case pb::AttributeProto::STRINGS:
    return builder.getStrArrayAttr(
        SmallVector<StringRef>(attribute.strings().begin(), attribute.strings().end()));
  case pb::AttributeProto::TENSOR:
    return convertTensor(node, attribute.t(), builder.getContext());
  case pb::AttributeProto::GRAPH:
  case pb::AttributeProto::GRAPHS:
    return {};
  default:
    fail(describe(node) + ": attribute " + quote(attribute.name()) +
         " is of a type that is not "
         "supported");
  }
}

DictionaryAttr convertAttributes(const pb::NodeProto &node, ArrayRef<pb::AttributeProto> more,
                                 MLIRContext *context) {
  Builder builder(context);
  NamedAttrList attributes;
  auto add = [&](const pb::AttributeProto &attribute) {
    if (attribute.name().empty() || attributes.get(attribute.name()))
      fail(describe(node) + ": attribute " + quote(attribute.name()) +
           " is given twice or unnamed");
    if (Attribute value = convert(node, attribute, builder))
      attributes.append(attribute.name(), value);
  };
  llvm::for_each(node.attribute(), add);
  llvm::for_each(more, add);
  return attributes.getDictionary(context);
}

} // namespace zero::importer
