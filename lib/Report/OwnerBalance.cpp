//===- OwnerBalance.cpp - how evenly ranks share steps of matrices --------===//

#include "dialects/Zero/UpdateAttrs.h"
#include "dialects/Zero/Zero.h"
#include "runtime/support/checked.h"
#include "zero/Report/PlanSummary.h"

#include "llvm/ADT/SmallSet.h"

using namespace mlir;

namespace zero {

std::optional<OwnerBalance> measureOwners(ModuleOp module, int64_t ranks) {
  OwnerBalance balance;
  std::vector<double> operations(size_t(ranks), 0);
  ArrayRef<int64_t> buckets;
  if (auto sizes = module->getAttrOfType<DenseI64ArrayAttr>(kBucketsAttr))
    buckets = sizes.asArrayRef();
  llvm::SmallSet<size_t, 8> counted;
  for (auto parameter : module.getOps<ParameterOp>()) {
    auto owner = parameter->getAttrOfType<IntegerAttr>(kOwnerAttr);
    if (!owner)
      continue;
    const RankedTensorType type = parameter.getTensorType();
    ++balance.matrices;
    balance.elements += double(type.getNumElements()) / double(ranks);
    operations[size_t(owner.getInt())] +=
        parameter->getAttrOfType<FloatAttr>(kStepOperationsAttr).getValueAsDouble();
    StringRef home = parameter.getHome().value_or("");
    size_t number;
    if (home.consume_front("bucket") && parseInteger(home, number) && number < buckets.size() &&
        counted.insert(number).second)
      balance.stored += double(buckets[number]) / double(ranks);
  }
  for (double each : operations) {
    balance.most = std::max(balance.most, each);
    balance.mean += each / double(ranks);
  }
  return balance.matrices ? std::optional(balance) : std::nullopt;
}

} // namespace zero
