//===- AssignBuckets.cpp - assign parameters to buckets -------------------===//

#include "dialects/Zero/Mesh.h"
#include "dialects/Zero/Part.h"
#include "dialects/Zero/UpdateAttrs.h"
#include "zero/Analysis/ParameterUses.h"
#include "zero/Analysis/SameSteps.h"
#include "zero/Analysis/StepFunction.h"
#include "zero/Analysis/StepOps.h"
#include "zero/Planning/Buckets.h"
#include "zero/Planning/Homes.h"
#include "zero/Transforms/Place/Passes.h"
#include "zero/Transforms/Plan.h"
#include "zero/Transforms/StateHomes.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/StringExtras.h"

#include <map>

using namespace mlir;

namespace zero {
#define GEN_PASS_DEF_ASSIGNBUCKETS
#include "include/zero/Transforms/Place/Passes.h.inc"
} // namespace zero

using namespace zero;

namespace {

/// Converts parameters and their uses to the data structures of lib/Planning.
class ItemBuilder {
public:
  explicit ItemBuilder(func::FuncOp step) : uses(findParameterUses(step)) {
    int64_t position = 0;
    for (Operation &op : step.getBody().front()) {
      positions[&op] = position++;
      if (auto update = dyn_cast<UpdateOp>(op))
        updates[update.getParameterAttr().getAttr()] = {update, numberOf(update)};
      if (auto gradient = dyn_cast<GradientOp>(op))
        if (LaunchOp direction = directionOf(gradient))
          directions[gradient.getParameterAttr().getAttr()] = direction.getKernelAttr();
    }
    for (auto &[symbol, use] : uses)
      if (!use.forward.empty())
        firstUses.push_back(positions[use.forward.front()]);
    llvm::sort(firstUses);
  }

  /// Parameters in order of first use; those that the step never reads last.
  SmallVector<ParameterOp> order(ModuleOp module, const SymbolTable &symbols) {
    SmallVector<ParameterOp> parameters;
    llvm::DenseSet<Operation *> seen;
    for (auto &[symbol, use] : uses)
      if (auto parameter = symbols.lookup<ParameterOp>(symbol)) {
        parameters.push_back(parameter);
        seen.insert(parameter);
      }
    for (auto parameter : module.getOps<ParameterOp>())
      if (!seen.contains(parameter))
        parameters.push_back(parameter);
    return parameters;
  }

  planning::BucketItem build(ParameterOp parameter) {
    RankedTensorType type = parameter.getTensorType();
    const ParameterUse &use = uses[parameter.getSymNameAttr()];
    bool readInBackward = !use.backward.empty();
    planning::BucketItem item;
    item.elements = type.getNumElements();
    item.elementBytes = elementBytes(type);
    item.shape = number({type, shardOf(parameter)}) << 32;
    const auto [update, way] = updates.lookup(parameter.getSymNameAttr());
    const bool sharded = parameter.getPlacement() && parameter.getPlacement()->isSharded();
    if (auto operations = parameter->getAttrOfType<FloatAttr>(kStepOperationsAttr)) {
      item.isOwnable = true;
      item.operations = operations.getValueAsDouble();
      item.shape |= wayOfStep(item.shape, update);
    }
    // Where parameters are not gathered it matters not where they are read.
    const bool anyUse = item.isOwnable && !sharded;
    // What steps of tensors need of a bucket is gathered along tensor at once.
    const bool gathersShards = item.isOwnable && shardOf(parameter);
    item.kind = (number({type.getElementType(), {}}) << 32 | way) * 16 + gathersShards * 8 +
                sharded * 4 + (readInBackward && !anyUse) * 2 + parameter.getFrozen();
    item.alone = (isUsedFarApart(use) && !anyUse) || partOf(parameter);
    return item;
  }

private:
  /// The launch that computes the direction of `gradient` if an optimizer of matrices updates its
  /// parameter, or null.
  static LaunchOp directionOf(GradientOp gradient) {
    SmallVector<Operation *> users(gradient->getUsers());
    while (!users.empty()) {
      Operation *user = users.pop_back_val();
      if (user->hasAttr(kDirectionAttr))
        return cast<LaunchOp>(user);
      if (isReshape(user))
        llvm::append_range(users, user->getUsers());
    }
    return {};
  }

  /// A number for each type, of shards for each way to cut, by first use: reproducible, unlike a
  /// pointer.
  uint64_t number(std::pair<Type, Attribute> type) {
    return numbers.try_emplace(type, numbers.size()).first->second;
  }

  /// A number for each way to update: kernels and scalars.
  uint64_t numberOf(UpdateOp update) {
    std::vector<const void *> key{
        update.getKernelAttr().getAsOpaquePointer(),
        directions.lookup(update.getParameterAttr().getAttr()).getAsOpaquePointer()};
    for (Value scalar : update.getScalars())
      key.push_back(scalar.getAsOpaquePointer());
    return waysToUpdate.try_emplace(std::move(key), waysToUpdate.size() + 1).first->second;
  }

  /// A number for each way to compute the step of a tensor of `shape`.
  uint64_t wayOfStep(uint64_t shape, UpdateOp update) {
    SmallVector<UpdateOp> &ways = steps[shape];
    auto *known = llvm::find_if(ways, [&](UpdateOp way) { return haveSameSteps(way, update); });
    if (known == ways.end()) {
      ways.push_back(update);
      return ways.size() - 1;
    }
    return uint64_t(known - ways.begin());
  }

  /// Whether another parameter is used for the first time between two forward
  /// uses: then a gather of this one should not stay open across both.
  bool isUsedFarApart(const ParameterUse &use) {
    for (size_t i = 1; i < use.forward.size(); ++i) {
      int64_t from = positions[use.forward[i - 1]], to = positions[use.forward[i]];
      auto between = llvm::upper_bound(firstUses, from);
      if (between != firstUses.end() && *between < to)
        return true;
    }
    return false;
  }

  llvm::MapVector<StringAttr, ParameterUse> uses;
  llvm::DenseMap<Operation *, int64_t> positions;
  SmallVector<int64_t> firstUses; // ascending
  llvm::DenseMap<std::pair<Type, Attribute>, uint64_t> numbers;
  std::map<std::vector<const void *>, uint64_t> waysToUpdate; // only looked up, never walked
  llvm::DenseMap<StringAttr, std::pair<UpdateOp, uint64_t>> updates;
  llvm::DenseMap<uint64_t, SmallVector<UpdateOp>> steps; ///< one of each way, by shape
  /// Of parameters that an optimizer of matrices updates: the kernels of their directions.
  llvm::DenseMap<StringAttr, FlatSymbolRefAttr> directions;
};

/// Buckets become symbols, whose names contain their numbers.
static LogicalResult checkNames(ModuleOp module) {
  for (auto symbol : module.getOps<SymbolOpInterface>()) {
    StringRef number = symbol.getName();
    if (number.consume_front("bucket") && !number.empty() && llvm::isDigit(number.front()))
      return emitError(symbol.getLoc())
             << "initializer '" << symbol.getName()
             << "': expected another name, those of buckets are reserved";
  }
  return success();
}

/// Tensors and slices begin at multiples of this many elements: no block of a state is in two.
static int64_t alignmentOf(ModuleOp module, const SymbolTable &symbols) {
  int64_t alignment = kTensorAlignment;
  for (auto state : module.getOps<StateOp>())
    if (state.getOf() && !state->hasAttr(kWholeAttr))
      alignment = std::max(alignment, unitOf(state, symbols.lookup<ParameterOp>(*state.getOf())));
  return alignment;
}

struct AssignBuckets : zero::impl::AssignBucketsBase<AssignBuckets> {
  using AssignBucketsBase::AssignBucketsBase;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    FailureOr<func::FuncOp> step = findStep(module);
    auto ranks = module->getAttrOfType<IntegerAttr>(kRanksAttr);
    if (!ranks)
      module.emitError() << "expected " << kRanksAttr << "; run zero-place-state first";
    if (failed(step) || !ranks || failed(checkNames(module)))
      return signalPassFailure();
    if (auto homes = module->getAttrOfType<DictionaryAttr>(kStateHomesAttr)) {
      if (failed(takeStateHomes(module, homes)))
        signalPassFailure();
      return;
    }

    const SymbolTable symbols(module);
    ItemBuilder builder(*step);
    SmallVector<ParameterOp> parameters = builder.order(module, symbols);
    std::vector<planning::BucketItem> items;
    for (ParameterOp parameter : parameters)
      items.push_back(builder.build(parameter));
    const PlanAttr plan = planOf(module);
    const int64_t most = plan ? plan.getBucketBytes() : limit;
    const int64_t alignment = alignmentOf(module, symbols);
    const planning::Owners owners = findOwners(module, items, ranks.getInt(), most, alignment);
    planning::Buckets buckets =
        planning::planBuckets(items, ranks.getInt(), most, alignment, owners);
    write(module, symbols, parameters, buckets);
    writeOwners(parameters, owners);
    writeWholeStates(module, parameters, buckets, owners);
  }

  /// Owners of matrices and tensors where states are sharded. Below stage 2 each rank has all
  /// gradients until the update, so buckets of many layers need no more memory.
  static planning::Owners findOwners(ModuleOp module,
                                     const std::vector<planning::BucketItem> &items, int64_t ranks,
                                     int64_t limit, int64_t alignment) {
    const auto stage = module->getAttrOfType<IntegerAttr>(kStageAttr);
    if (!stage || stage.getInt() == 0)
      return {};
    return planning::planOwners(items, {ranks, stage.getInt() == 1 ? INT64_MAX : limit, alignment});
  }

  static void writeOwners(ArrayRef<ParameterOp> parameters, const planning::Owners &owners) {
    for (auto [each, owner] : llvm::zip(parameters, owners.items)) {
      ParameterOp parameter = each;
      if (owner.rank >= 0)
        parameter->setAttr(kOwnerAttr,
                           Builder(parameter.getContext()).getI64IntegerAttr(owner.rank));
    }
  }

  /// The homes of states that owners have whole are named after the bucket of the first one in
  /// them.
  static void writeWholeStates(ModuleOp module, ArrayRef<ParameterOp> parameters,
                               const planning::Buckets &buckets, const planning::Owners &owners) {
    if (owners.items.empty())
      return;
    llvm::DenseMap<StringAttr, size_t> items;
    for (auto [index, parameter] : llvm::enumerate(parameters))
      items[ParameterOp(parameter).getSymNameAttr()] = index;
    SmallVector<StateOp> states;
    std::vector<planning::WholeState> whole;
    for (auto state : module.getOps<StateOp>()) {
      if (!state->hasAttr(kWholeAttr))
        continue;
      const size_t item = items.lookup(state.getOfAttr().getAttr());
      const planning::Owner &owner = owners.items[item];
      if (owner.rank < 0) { // all ranks have it
        state.setPlacementAttr(PlacementAttr::get(module.getContext(), {}, Tier::Device));
        continue;
      }
      states.push_back(state);
      whole.push_back({owner.rank, owner.group, state.getTensorType().getNumElements(), item});
    }
    const planning::Homes homes = planning::planHomes(whole, kTensorAlignment);
    SmallVector<FlatSymbolRefAttr> names(homes.slices.size());
    llvm::DenseMap<int64_t, unsigned> taken;
    Builder builder(module.getContext());
    for (auto [index, each] : llvm::enumerate(states)) {
      StateOp state = each;
      const auto [home, start] = homes.states[index];
      if (!names[home]) {
        const int64_t bucket = buckets.slots[items.lookup(state.getOfAttr().getAttr())].bucket;
        names[home] = FlatSymbolRefAttr::get(
            module.getContext(),
            ("bucket" + Twine(bucket) + ".whole" + Twine(taken[bucket]++)).str());
      }
      state.setHomeAttr(names[home]);
      state.setStartAttr(builder.getI64IntegerAttr(whole[index].rank * homes.slices[home] + start));
      state->setAttr(kSliceAttr, builder.getI64IntegerAttr(homes.slices[home]));
    }
  }

  static void write(ModuleOp module, const SymbolTable &symbols, ArrayRef<ParameterOp> parameters,
                    const planning::Buckets &buckets) {
    Builder builder(module.getContext());
    auto home = [&](const planning::BucketSlot &slot, StringRef suffix) {
      std::string name = ("bucket" + Twine(slot.bucket) + suffix).str();
      return FlatSymbolRefAttr::get(module.getContext(), name);
    };
    llvm::DenseMap<StringAttr, planning::BucketSlot> slots;
    for (auto [index, slot] : llvm::enumerate(buckets.slots)) {
      ParameterOp parameter = parameters[index];
      slots[parameter.getSymNameAttr()] = slot;
      parameter.setHomeAttr(home(slot, ""));
      parameter.setStartAttr(builder.getI64IntegerAttr(slot.start));
    }
    for (auto state : module.getOps<StateOp>()) {
      if (!state.getOfAttr() || state->hasAttr(kWholeAttr))
        continue;
      StringAttr of = state.getOfAttr().getAttr();
      const planning::BucketSlot &slot = slots[of];
      state.setHomeAttr(home(slot, state.getSuffix()));
      const int64_t unit = unitOf(state, symbols.lookup<ParameterOp>(of));
      state.setStartAttr(builder.getI64IntegerAttr(slot.start / unit));
    }
    ArrayRef<int64_t> elements(buckets.elements);
    module->setAttr(kBucketsAttr, builder.getDenseI64ArrayAttr(elements));
  }
};

} // namespace
