//===- ScalarParameters.cpp - parameters of one element or none -----------===//
//
// A temperature or the gate of a residual branch is an initializer of one element, and so are the
// numbers of a model's formulas. If the exporter does not record which is which, their names say
// it, and zero-select-parameters decides by them. Until then such an initializer is state.
//
//===----------------------------------------------------------------------===//

#include "ModelFile.h"
#include "Tensor.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"

using llvm::StringRef;

namespace zero::importer {

/// Whether a person or a framework may have named a tensor so, and not an exporter.
static bool isGivenName(StringRef name) {
  return !name.empty() && !llvm::isDigit(name.front()) &&
         name.find_first_of("/: \t\n") == StringRef::npos && !name.starts_with_insensitive("const");
}

/// Whether operand `index` of `node` is a number that import or a rule of the operator needs.
/// `integers` names the constants of integers.
static bool isSetting(const pb::NodeProto &node, int index, const llvm::StringSet<> &integers) {
  StringRef type = node.op_type();
  if (!node.domain().empty() && node.domain() != "ai.onnx")
    return false;
  if (type == "Cast")
    return llvm::any_of(node.attribute(), [](const pb::AttributeProto &attribute) {
      return attribute.name() == "to" && isInteger(static_cast<int32_t>(attribute.i()));
    });
  if (type == "CastLike")
    return index > 0 || (node.input_size() > 1 && integers.contains(node.input(1)));
  if (type == "Range" || type == "OneHot" || type == "If" || type == "Loop" || type == "Scan")
    return true;
  return index > 0 && (type == "Clip" || type == "Dropout" || type == "Pad" || type == "Resize" ||
                       type == "Upsample");
}

void keepScalarParameters(Model &model) {
  llvm::StringSet<> integers, settings;
  for (const auto &[name, constant] : model.constants)
    if (isInteger(constant.type))
      integers.insert(name);
  for (const pb::NodeProto &node : model.proto.graph().node())
    for (int i = 0; i < node.input_size(); ++i)
      if (isSetting(node, i, integers))
        settings.insert(node.input(i));
  for (auto &[name, constant] : model.constants) {
    if (!constant.isInitializer || !constant.value || !isFloat(constant.type) ||
        constant.elements > 1 || !isGivenName(name) || settings.contains(name))
      continue;
    if (constant.elements == 1)
      constant.number = firstNumber(*constant.value);
    if (!constant.data)
      constant.splat = constant.number.value_or(0);
    // Nothing may be folded through what may change.
    constant.value.reset();
  }
}

} // namespace zero::importer
