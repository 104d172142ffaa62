//===- StoredBytes.cpp - bytes of a rank by stored type -------------------===//

#include "dialects/Zero/Zero.h"
#include "zero/Report/PlanSummary.h"

#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/FormatVariadic.h"

#include <map>

using namespace mlir;

namespace zero {

/// What the codes of states are stored as, by the symbols that hold them: the buffers of their
/// buckets, or the states themselves. Scales count with the codes that they belong to.
static llvm::DenseMap<StringAttr, std::string> namesOfCodes(ModuleOp module) {
  llvm::DenseMap<StringAttr, std::string> names;
  const SymbolTable symbols(module);
  auto holderOf = [](StateOp state) {
    return state.getHomeAttr() ? state.getHomeAttr().getAttr() : state.getSymNameAttr();
  };
  for (auto state : module.getOps<StateOp>()) {
    BlocksAttr blocks = state.getBlocksAttr();
    if (!blocks)
      continue;
    std::string name = llvm::formatv("{0}-bit blocks of {1}", blocks.getBits(), blocks.getSize());
    names[holderOf(symbols.lookup<StateOp>(blocks.getScales().getAttr()))] = name;
    names[holderOf(state)] = std::move(name);
  }
  return names;
}

/// The type of the elements of the persistent `symbol`.
static std::string elementTypeOf(Operation *symbol) {
  RankedTensorType type =
      llvm::TypeSwitch<Operation *, RankedTensorType>(symbol).Case<ParameterOp, StateOp, BufferOp>(
          [](auto op) { return op.getTensorType(); });
  return llvm::formatv("{0}", type.getElementType());
}

SmallVector<StoredBytes> bytesByStoredType(ModuleOp module, const Storage &storage) {
  const llvm::DenseMap<StringAttr, std::string> codes = namesOfCodes(module);
  std::map<std::pair<Usage, std::string>, int64_t> bytes;
  for (const Root &root : storage.roots()) {
    if (!root.symbol || root.usage == Usage::Working)
      continue;
    auto coded = codes.find(SymbolTable::getSymbolName(root.symbol));
    std::string type = coded == codes.end() ? elementTypeOf(root.symbol) : coded->second;
    bytes[{root.usage, std::move(type)}] += llvm::alignTo(root.bytes, alignmentOf(root.tier));
  }
  SmallVector<StoredBytes> rows;
  for (const auto &[key, sum] : bytes)
    rows.push_back({key.first, key.second, sum});
  llvm::stable_sort(rows, [](const StoredBytes &a, const StoredBytes &b) {
    return a.usage == b.usage ? a.bytes > b.bytes : a.usage < b.usage;
  });
  return rows;
}

} // namespace zero
