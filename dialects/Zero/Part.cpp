//===- Part.cpp - parameters that are parts of a model's tensor -----------===//

#include "dialects/Zero/Part.h"

#include "dialects/Zero/ExporterAttrs.h"

#include "mlir/IR/Builders.h"

using namespace mlir;

namespace zero {

PartAttr partOf(ParameterOp parameter) { return parameter->getAttrOfType<PartAttr>(kPartAttr); }

StringRef modelName(ParameterOp parameter) {
  PartAttr part = partOf(parameter);
  return part ? part.getOf() : parameter.getSymName();
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

int64_t unitOf(StateOp state, ParameterOp parameter) {
  const int64_t own = state.getTensorType().getNumElements();
  return own == 0 ? 1 : parameter.getTensorType().getNumElements() / own;
}

} // namespace zero
