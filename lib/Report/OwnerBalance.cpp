//===- OwnerBalance.cpp - how evenly ranks share steps of matrices --------===//

#include "dialects/Zero/UpdateAttrs.h"
#include "dialects/Zero/Zero.h"
#include "runtime/support/checked.h"
#include "zero/Report/PlanSummary.h"

#include "llvm/ADT/SmallSet.h"

using namespace mlir;

namespace zero {

std::optional<OwnerBalance> measureOwners(ModuleOp module, int64_t stage, int64_t ranks) {
  if (stage == 0 || ranks == 1)
    return std::nullopt;
  OwnerBalance balance;
  std::vector<double> operations(size_t(ranks), 0);
  ArrayRef<int64_t> buckets;
  if (auto sizes = module->getAttrOfType<DenseI64ArrayAttr>(kBucketsAttr))
    buckets = sizes.asArrayRef();
  llvm::SmallSet<size_t, 8> counted;
  for (auto parameter : module.getOps<ParameterOp>()) {
    auto ofStep = parameter->getAttrOfType<FloatAttr>(kStepOperationsAttr);
    if (!ofStep)
      continue;
    const double all = ofStep.getValueAsDouble();
    balance.operations += all;
    auto owner = parameter->getAttrOfType<IntegerAttr>(kOwnerAttr);
    if (!owner) {
      ++balance.ofAllRanks;
      for (double &each : operations)
        each += all;
      continue;
    }
    ++balance.tensors;
    balance.elements += parameter.getTensorType().getNumElements();
    operations[size_t(owner.getInt())] += all;
    StringRef home = parameter.getHome().value_or("");
    size_t number;
    if (home.consume_front("bucket") && parseInteger(home, number) && number < buckets.size() &&
        counted.insert(number).second)
      balance.stored += buckets[number];
  }
  balance.most = *llvm::max_element(operations);
  return balance.operations > 0 ? std::optional(balance) : std::nullopt;
}

} // namespace zero
