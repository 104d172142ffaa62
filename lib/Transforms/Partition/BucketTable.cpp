//===- BucketTable.cpp - the buckets that `place` chose -------------------===//

#include "BucketTable.h"

#include "dialects/Zero/Mesh.h"
#include "dialects/Zero/Part.h"
#include "zero/Analysis/SameSteps.h"

using namespace mlir;

namespace zero {

BucketTable::BucketTable(ModuleOp module) : symbols(module) {
  const Mesh mesh(module);
  ArrayRef<int64_t> elements = module->getAttrOfType<DenseI64ArrayAttr>(kBucketsAttr).asArrayRef();
  table.resize(elements.size());
  llvm::DenseMap<StringAttr, unsigned> numbers;
  for (auto [number, bucket] : llvm::enumerate(table)) {
    bucket.name = "bucket" + std::to_string(number);
    bucket.elements = elements[number];
    numbers[StringAttr::get(module.getContext(), bucket.name)] = number;
  }
  auto shards = [&](std::optional<PlacementAttr> placement) {
    return placement ? mesh.shardsOf(*placement) : 1;
  };
  auto tier = [](std::optional<PlacementAttr> placement) {
    return placement ? placement->getTier() : Tier::Device;
  };
  llvm::DenseMap<StringAttr, unsigned> bucketOf;
  for (auto parameter : module.getOps<ParameterOp>()) {
    unsigned number = numbers.lookup(parameter.getHomeAttr().getAttr());
    Bucket &bucket = table[number];
    bucketOf[parameter.getSymNameAttr()] = number;
    bucket.members.push_back(parameter);
    bucket.elementType = parameter.getTensorType().getElementType();
    bucket.parameterShards = shards(parameter.getPlacement());
    bucket.gradientShards = shards(parameter.getGradient());
    bucket.parameterTier = tier(parameter.getPlacement());
    bucket.gradientTier = tier(parameter.getGradient());
  }
  for (Bucket &bucket : table) {
    bucket.group = mesh.sliceGroup(mesh.dataRanks());
    bucket.parameterGroup = mesh.sliceGroup(bucket.parameterShards);
    bucket.ownerGroup = mesh.sliceGroup(mesh.dataRanks(), bucket.parameterShards);
    llvm::sort(bucket.members,
               [](ParameterOp a, ParameterOp b) { return *a.getStart() < *b.getStart(); });
  }
  for (auto state : module.getOps<StateOp>()) {
    if (!state.getOfAttr())
      continue;
    Bucket &bucket = table[bucketOf.lookup(state.getOfAttr().getAttr())];
    const bool isWhole = state->hasAttr(kWholeAttr);
    if (isWhole && !state.getHome()) // all ranks have it
      continue;
    bucket.stateShards = shards(state.getPlacement());
    if (isWhole) {
      wholeStates[state.getOfAttr().getAttr()].push_back(state);
      continue;
    }
    bucket.stateTier = tier(state.getPlacement());
    std::string suffix = state.getSuffix();
    if (llvm::none_of(bucket.states, [&](const BucketState &s) { return s.suffix == suffix; }))
      bucket.states.push_back({suffix, state.getTensorType().getElementType(),
                               unitOf(state, symbols.lookup<ParameterOp>(*state.getOf()))});
  }
  module.walk([&](Operation *op) {
    if (auto read = dyn_cast<ReadOp>(op))
      reads[read.getSymbolAttr().getAttr()].push_back(read);
    else if (auto gradient = dyn_cast<GradientOp>(op))
      gradients[gradient.getParameterAttr().getAttr()] = gradient;
    else if (auto update = dyn_cast<UpdateOp>(op))
      updates[update.getParameterAttr().getAttr()] = update;
    else if (auto write = dyn_cast<WriteOp>(op))
      writes[write.getSymbolAttr().getAttr()] = write;
  });
  for (Bucket &bucket : table)
    if (bucket.hasOwners())
      bucket.haveSameSteps = llvm::all_of(bucket.members, [&](ParameterOp member) {
        return zero::haveSameSteps(updateOf(bucket.members.front()), updateOf(member));
      });
}

ArrayRef<ReadOp> BucketTable::readsOf(ParameterOp parameter) const {
  auto it = reads.find(parameter.getSymNameAttr());
  return it == reads.end() ? ArrayRef<ReadOp>() : ArrayRef<ReadOp>(it->second);
}

GradientOp BucketTable::gradientOf(ParameterOp parameter) const {
  return gradients.lookup(parameter.getSymNameAttr());
}

ArrayRef<StateOp> BucketTable::wholeStatesOf(ParameterOp parameter) const {
  auto it = wholeStates.find(parameter.getSymNameAttr());
  return it == wholeStates.end() ? ArrayRef<StateOp>() : ArrayRef<StateOp>(it->second);
}

UpdateOp BucketTable::updateOf(ParameterOp parameter) const {
  return updates.lookup(parameter.getSymNameAttr());
}

} // namespace zero
