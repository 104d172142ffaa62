//===- StateHomes.cpp - where the program of another shape has state ------===//

#include "zero/Transforms/StateHomes.h"

#include "dialects/Zero/UpdateAttrs.h"
#include "dialects/Zero/Zero.h"

using namespace mlir;

namespace zero {

static constexpr StringLiteral kSizes = "buckets", kSymbols = "symbols";

/// What a place consists of.
static constexpr StringLiteral kOfPlace[] = {"home", "start", "placement", kOwnerAttr, kSliceAttr};

static bool hasHome(Operation &op) { return isa<ParameterOp, StateOp>(op); }

DictionaryAttr stateHomesOf(ModuleOp module) {
  Builder builder(module.getContext());
  SmallVector<NamedAttribute> symbols;
  for (Operation &op : *module.getBody()) {
    if (!hasHome(op))
      continue;
    SmallVector<NamedAttribute> place;
    for (StringRef name : kOfPlace)
      if (Attribute attr = op.getAttr(name))
        place.push_back(builder.getNamedAttr(name, attr));
    symbols.push_back(
        builder.getNamedAttr(SymbolTable::getSymbolName(&op), builder.getDictionaryAttr(place)));
  }
  SmallVector<NamedAttribute> homes{
      builder.getNamedAttr(kSymbols, builder.getDictionaryAttr(symbols))};
  if (Attribute sizes = module->getAttr(kBucketsAttr))
    homes.push_back(builder.getNamedAttr(kSizes, sizes));
  return builder.getDictionaryAttr(homes);
}

LogicalResult takeStateHomes(ModuleOp module, DictionaryAttr homes) {
  auto symbols = homes.getAs<DictionaryAttr>(kSymbols);
  for (Operation &op : *module.getBody()) {
    if (!hasHome(op))
      continue;
    StringAttr name = SymbolTable::getSymbolName(&op);
    auto place = symbols.getAs<DictionaryAttr>(name);
    if (!place)
      return op.emitError() << "'" << name.getValue()
                            << "' is stored for some shapes of the inputs only";
    for (NamedAttribute attr : place)
      op.setAttr(attr.getName(), attr.getValue());
  }
  if (Attribute sizes = homes.get(kSizes))
    module->setAttr(kBucketsAttr, sizes);
  return success();
}

} // namespace zero
