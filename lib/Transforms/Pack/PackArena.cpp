//===- PackArena.cpp - assign offsets in the arena ------------------------===//

#include "zero/Analysis/StepFunction.h"
#include "zero/Analysis/StepOps.h"
#include "zero/Analysis/Storage.h"
#include "zero/Planning/Packing.h"
#include "zero/Transforms/Pack/Passes.h"
#include "zero/Transforms/Plan.h"

using namespace mlir;

namespace zero {
#define GEN_PASS_DEF_PACKARENA
#include "include/zero/Transforms/Pack/Passes.h.inc"
} // namespace zero

using namespace zero;

/// `attributes` and one more.
static DictionaryAttr with(DictionaryAttr attributes, StringRef name, Attribute value) {
  NamedAttrList list(attributes);
  list.set(name, value);
  return list.getDictionary(attributes.getContext());
}

/// Writes each root's offset where emit will look for it.
static void writeOffsets(func::FuncOp step, const Storage &storage, ArrayRef<int64_t> placed) {
  Builder builder(step.getContext());
  // Sets all arguments in one call, because their list is as long as the list of inputs.
  SmallVector<DictionaryAttr> arguments;
  step.getAllArgAttrs(arguments);
  arguments.resize(step.getNumArguments(), builder.getDictionaryAttr({}));
  for (auto [index, root] : llvm::enumerate(storage.roots())) {
    if (root.symbol)
      root.symbol->setAttr(kOffsetsAttr, builder.getDenseI64ArrayAttr(placed[index]));
    else if (auto argument = dyn_cast_or_null<BlockArgument>(root.value))
      arguments[argument.getArgNumber()] = with(arguments[argument.getArgNumber()], kOffsetsAttr,
                                                builder.getDenseI64ArrayAttr(placed[index]));
  }
  step.setAllArgAttrs(arguments);
  for (Operation &op : step.getBody().front()) {
    SmallVector<int64_t> offsets;
    bool any = false;
    auto push = [&](int64_t root, bool owner) {
      offsets.push_back(owner ? placed[root] : -1);
      any |= owner;
    };
    for (Value result : op.getResults()) {
      int64_t root = storage.place(result).root;
      push(root, root >= 0 && storage.roots()[root].value == result);
    }
    if (int64_t workspace = storage.workspaceOf(&op); workspace >= 0)
      push(workspace, true);
    if (any)
      op.setAttr(kOffsetsAttr, builder.getDenseI64ArrayAttr(offsets));
  }
}

/// The maximum of the live bytes of one usage, and those at `peak`.
static std::pair<int64_t, int64_t> usageBytes(ArrayRef<Root> roots, Tier tier, Usage usage,
                                              int64_t peak) {
  int64_t most = 0, atPeak = 0;
  for (auto [command, bytes] :
       planning::liveBytes(lifetimesOf(roots, tier, usage), alignmentOf(tier))) {
    most = std::max(most, bytes);
    if (command <= peak)
      atPeak = bytes;
  }
  return {most, atPeak};
}

static ArenaAttr describeArena(func::FuncOp step, const Storage &storage, Tier tier,
                               const planning::Packing &packing) {
  MLIRContext *context = step.getContext();
  std::array<int64_t, kNumUsages> most, atPeak;
  for (unsigned i = 0; i < kNumUsages; ++i)
    std::tie(most[i], atPeak[i]) = usageBytes(storage.roots(), tier, Usage(i), packing.peak);
  auto bytes = [&](const std::array<int64_t, kNumUsages> &by) {
    return RoleBytesAttr::get(context, by[0], by[1], by[2], by[3], by[4]);
  };
  Operation *peak = &*std::next(step.getBody().front().begin(), packing.peak);
  return ArenaAttr::get(context, tier, packing.bytes, packing.lowerBound, packing.optimal,
                        StringAttr::get(context, displayName(peak)), bytes(most), bytes(atPeak));
}

/// The bytes that ranks have on `tier` for the first of several shapes, or 0.
static int64_t firstArenaBytes(ModuleOp module, Tier tier) {
  if (auto arenas = module->getAttrOfType<ArrayAttr>(kFirstArenasAttr))
    for (auto arena : arenas.getAsRange<ArenaAttr>())
      if (arena.getTier() == tier)
        return arena.getPeak();
  return 0;
}

namespace {
struct PackArena : zero::impl::PackArenaBase<PackArena> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    FailureOr<func::FuncOp> step = findStep(module);
    if (failed(step))
      return signalPassFailure();
    const Storage &storage = getAnalysis<Storage>();
    SmallVector<int64_t> offsets(storage.roots().size());
    SmallVector<Attribute> arenas;
    for (Tier tier : kTiers) {
      const planning::Packing packing =
          packRoots(storage.roots(), tier, offsets, firstArenaBytes(module, tier));
      if (packing.offsets.empty() && tier != Tier::Device)
        continue;
      arenas.push_back(describeArena(*step, storage, tier, packing));
    }
    writeOffsets(*step, storage, offsets);
    module->setAttr(kCertificateAttr, ArrayAttr::get(&getContext(), arenas));
    // Only attributes were written.
    markAnalysesPreserved<Storage>();
  }
};
} // namespace
