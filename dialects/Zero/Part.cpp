//===- Part.cpp - parameters that are parts of a model's tensor -----------===//

#include "dialects/Zero/Part.h"

#include "dialects/Zero/ExporterAttrs.h"

#include "mlir/IR/Builders.h"

using namespace mlir;

namespace zero {

std::optional<Part> partOf(ParameterOp parameter) {
  auto written = parameter->getAttrOfType<DictionaryAttr>(kPartAttr);
  auto of = written ? written.getAs<StringAttr>("of") : StringAttr();
  if (!of)
    return std::nullopt;
  auto integer = [&](StringRef name) {
    auto number = written.getAs<IntegerAttr>(name);
    return number ? number.getInt() : 0;
  };
  return Part{of.getValue(), integer("axis"), integer("begin"), integer("extent")};
}

void setPart(ParameterOp parameter, const Part &part) {
  Builder builder(parameter.getContext());
  auto entry = [&](StringRef name, int64_t value) {
    return builder.getNamedAttr(name, builder.getI64IntegerAttr(value));
  };
  parameter->setAttr(kPartAttr, builder.getDictionaryAttr(
                                    {builder.getNamedAttr("of", builder.getStringAttr(part.of)),
                                     entry("axis", part.axis), entry("begin", part.begin),
                                     entry("extent", part.extent)}));
}

StringRef modelName(ParameterOp parameter) {
  std::optional<Part> part = partOf(parameter);
  return part ? part->of : parameter.getSymName();
}

SmallVector<StringRef> aliasesOf(Operation *op) {
  auto aliases = op->getAttrOfType<ArrayAttr>(kAliasesAttr);
  return aliases ? llvm::to_vector(aliases.getAsValueRange<StringAttr>())
                 : SmallVector<StringRef>();
}

SmallVector<StringRef> modelNames(ParameterOp parameter) {
  SmallVector<StringRef> names = aliasesOf(parameter);
  names.insert(names.begin(), modelName(parameter));
  return names;
}

} // namespace zero
