//===- DeduplicateKernels.cpp - deduplicate equal kernels -----------------===//

#include "zero/Transforms/Kernels/Passes.h"

#include "mlir/IR/OperationSupport.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/Hashing.h"

using namespace mlir;

namespace zero {
#define GEN_PASS_DEF_DEDUPLICATEKERNELS
#include "include/zero/Transforms/Kernels/Passes.h.inc"
} // namespace zero

using namespace zero;

/// A hash of `kernel`'s body that sees operands by number and enters regions.
/// Over uniqued pointers: for use within one process only.
static llvm::hash_code hashKernel(func::FuncOp kernel) {
  llvm::DenseMap<Value, unsigned> numbers;
  auto number = [&](ValueRange values) {
    for (Value value : values)
      numbers.try_emplace(value, numbers.size());
  };
  llvm::hash_code hash = llvm::hash_value(kernel.getFunctionType().getAsOpaquePointer());
  kernel.getBody().walk<WalkOrder::PreOrder>([&](Operation *op) {
    hash = llvm::hash_combine(hash, op->getName().getAsOpaquePointer(), op->hashProperties(),
                              op->getNumResults());
    for (Value operand : op->getOperands())
      hash = llvm::hash_combine(hash, numbers.lookup(operand));
    for (Type type : op->getResultTypes())
      hash = llvm::hash_combine(hash, type.getAsOpaquePointer());
    number(op->getResults());
    for (Region &region : op->getRegions())
      for (Block &block : region)
        number(block.getArguments());
  });
  return hash;
}

static bool sameKernel(func::FuncOp a, func::FuncOp b) {
  auto flags = OperationEquivalence::IgnoreLocations | OperationEquivalence::IgnoreDiscardableAttrs;
  return a.getFunctionType() == b.getFunctionType() && a.getArgAttrsAttr() == b.getArgAttrsAttr() &&
         OperationEquivalence::isRegionEquivalentTo(&a.getBody(), &b.getBody(), flags);
}

namespace {
struct DeduplicateKernels : zero::impl::DeduplicateKernelsBase<DeduplicateKernels> {
  void runOnOperation() override {
    llvm::DenseMap<size_t, SmallVector<func::FuncOp, 1>> seen;
    llvm::DenseMap<StringAttr, FlatSymbolRefAttr> replacement;
    for (auto kernel : llvm::make_early_inc_range(getOperation().getOps<func::FuncOp>())) {
      if (!kernel->hasAttr(kKernelAttr))
        continue;
      auto &candidates = seen[size_t(hashKernel(kernel))];
      auto same = llvm::find_if(candidates, [&](func::FuncOp o) { return sameKernel(o, kernel); });
      if (same == candidates.end()) {
        candidates.push_back(kernel);
        continue;
      }
      replacement[kernel.getSymNameAttr()] = FlatSymbolRefAttr::get(same->getSymNameAttr());
      kernel.erase();
    }
    if (replacement.empty())
      return;
    // Launches name kernels, and so do ops that partition makes launches of.
    AttrTypeReplacer replacer;
    replacer.addReplacement([&](FlatSymbolRefAttr symbol) -> std::optional<Attribute> {
      FlatSymbolRefAttr kept = replacement.lookup(symbol.getAttr());
      return kept ? std::optional<Attribute>(kept) : std::nullopt;
    });
    if (auto step = getOperation().lookupSymbol<func::FuncOp>(kStepName))
      replacer.recursivelyReplaceElementsIn(step);
  }
};
} // namespace
