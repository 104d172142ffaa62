//===- NodeTypes.cpp - element types of operands --------------------------===//

#include "NodeRules.h"

#include "onnx/defs/data_type_utils.h"
#include "onnx/defs/schema.h"
#include "llvm/ADT/StringExtras.h"

using llvm::StringRef;
using llvm::Twine;

namespace zero::importer {

using Formal = pb::OpSchema::FormalParameter;

/// The formal parameter of operand `index`: the last one may stand for many.
static const Formal &formalOf(const pb::OpSchema &schema, int index) {
  return schema.inputs()[std::min<size_t>(index, schema.inputs().size() - 1)];
}

static std::string allowedTypes(const Formal &formal) {
  std::vector<StringRef> names;
  for (const std::string *type : formal.GetTypes())
    if (StringRef name = *type; name.consume_front("tensor(") && name.consume_back(")"))
      names.push_back(name);
  llvm::sort(names);
  return llvm::join(names, ", ");
}

void checkElementTypes(const pb::NodeProto &node, const pb::OpSchema &schema, TypeOf typeOf) {
  llvm::StringMap<int32_t> bound;
  for (int i = 0; i < node.input_size() && !schema.inputs().empty(); ++i) {
    const TensorShape *operand = typeOf(node.input(i));
    if (!operand)
      continue;
    const Formal &formal = formalOf(schema, i);
    const std::string type = typeName(operand->type);
    std::string what = describe(node) + ": operand " + quote(node.input(i));
    const auto *known = pb::Utils::DataTypeUtils::ToType("tensor(" + type + ")");
    if (formal.GetTypes().count(known) == 0)
      fail(what + ": expected a tensor of " + allowedTypes(formal) + ", got " + type);
    if (formal.GetOption() == pb::OpSchema::Variadic && !formal.GetIsHomogeneous())
      continue;
    auto [it, isNew] = bound.try_emplace(formal.GetTypeStr(), operand->type);
    if (it->second != operand->type)
      fail(what + ": expected a tensor of " + typeName(it->second) +
           " as the operands before it, got " + type);
  }
}

} // namespace zero::importer
