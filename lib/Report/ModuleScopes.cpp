//===- ModuleScopes.cpp - the module of the model of a command ------------===//

#include "ModuleScopes.h"

#include "zero/Analysis/StepOps.h"

#include "llvm/ADT/StringExtras.h"

using namespace mlir;

namespace zero {

StringRef scopeOfName(StringRef parameter) {
  size_t begin = 0, end = 0;
  while ((end = parameter.find_first_of("./", begin)) != StringRef::npos) {
    StringRef part = parameter.slice(begin, end);
    if (!part.empty() && llvm::all_of(part, llvm::isDigit))
      return parameter.take_front(end);
    begin = end + 1;
  }
  return parameter.take_front(begin == 0 ? 0 : begin - 1);
}

ModuleScopes::ModuleScopes(ModuleOp module) {
  for (auto parameter : module.getOps<ParameterOp>()) {
    StringRef scope = scopeOfName(parameter.getSymName());
    add(parameter.getSymName(), scope);
    if (auto home = parameter.getHomeAttr()) {
      add(home.getValue(), scope);
      members[{home.getAttr(), parameter.getStart().value_or(0)}] = scope;
    }
  }
  for (auto state : module.getOps<StateOp>()) {
    StringRef scope = state.getOf() ? scopeOfName(*state.getOf()) : StringRef();
    add(state.getSymName(), scope);
    if (auto home = state.getHomeAttr())
      add(home.getValue(), scope);
  }
}

/// A buffer of several scopes has none.
void ModuleScopes::add(StringRef symbol, StringRef scope) {
  auto [it, isNew] = symbols.try_emplace(symbol, scope);
  if (!isNew && it->second != scope)
    it->second = "";
}

/// The scope of the parameter that `value` is, through gathers, transfers, slices and reshapes.
std::optional<StringRef> ModuleScopes::ofValue(Value value) const {
  value = throughReshapes(value);
  std::optional<int64_t> start;
  if (auto member = value.getDefiningOp<MemberOp>()) {
    start = member.getStart();
    value = member.getBucket();
  }
  value = throughTransfers(value);
  if (auto collective = value.getDefiningOp<CollectiveOpInterface>())
    value = throughTransfers(collective.getSource());
  if (auto slice = value.getDefiningOp<OwnSliceOp>())
    value = slice.getInput();
  auto read = value.getDefiningOp<ReadOp>();
  if (!read)
    return std::nullopt;
  if (start)
    if (auto it = members.find({read.getSymbolAttr().getAttr(), *start}); it != members.end())
      return it->second;
  StringRef scope = ofSymbol(read.getSymbol());
  return scope.empty() ? std::nullopt : std::optional(scope);
}

std::optional<StringRef> ModuleScopes::ofCommand(Operation *op) const {
  for (Value operand : op->getOperands())
    if (std::optional<StringRef> scope = ofValue(operand))
      return scope;
  return std::nullopt;
}

} // namespace zero
