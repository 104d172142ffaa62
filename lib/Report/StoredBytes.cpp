//===- StoredBytes.cpp - bytes of a rank by stored type -------------------===//

#include "dialects/Zero/Zero.h"
#include "zero/Report/PlanSummary.h"

#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/FormatVariadic.h"

#include <map>

using namespace mlir;

namespace zero {

/// By the symbols that hold codes and scales, what elements are stored as.
using CodeNames = llvm::DenseMap<StringAttr, std::string>;

/// Calls `name` what holds `codes`, a state or a parameter, and its scales, which may have codes,
/// too: the buffer of its bucket, or the tensor itself.
template <typename Op>
static void nameCodes(Op codes, const SymbolTable &symbols, const std::string &name,
                      CodeNames &names) {
  names[codes.getHomeAttr() ? codes.getHomeAttr().getAttr() : codes.getSymNameAttr()] = name;
  if (BlocksAttr blocks = codes.getBlocksAttr())
    nameCodes(symbols.lookup<Op>(blocks.getScales().getAttr()), symbols, name, names);
}

/// Names the states or parameters of `module` that are in blocks. Scales count with the codes that
/// they belong to.
template <typename Op>
static void nameAll(ModuleOp module, const SymbolTable &symbols, CodeNames &names) {
  for (auto op : module.getOps<Op>()) {
    BlocksAttr blocks = op.getBlocksAttr();
    const bool isScales = std::is_same_v<Op, ParameterOp> && op.getOf();
    if (blocks && !isScales)
      nameCodes(op, symbols,
                llvm::formatv("{0}-bit blocks of {1}", blocks.getBits(), blocks.getSize()), names);
  }
}

/// The type of the elements of the persistent `symbol`.
static std::string elementTypeOf(Operation *symbol) {
  RankedTensorType type =
      llvm::TypeSwitch<Operation *, RankedTensorType>(symbol).Case<ParameterOp, StateOp, BufferOp>(
          [](auto op) { return op.getTensorType(); });
  return llvm::formatv("{0}", type.getElementType());
}

SmallVector<StoredBytes> bytesByStoredType(ModuleOp module, const Storage &storage) {
  const SymbolTable symbols(module);
  CodeNames codes;
  nameAll<StateOp>(module, symbols, codes);
  nameAll<ParameterOp>(module, symbols, codes);
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
