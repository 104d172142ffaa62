//===- PackArena.cpp - every value's place in one arena -------------------===//

#include "zero/Analysis/StepFunction.h"
#include "zero/Analysis/Storage.h"
#include "zero/Planning/Packing.h"
#include "zero/Transforms/Passes.h"

using namespace mlir;

namespace zero {
#define GEN_PASS_DEF_PACKARENA
#include "include/zero/Transforms/Passes.h.inc"
} // namespace zero

using namespace zero;

/// `attributes` and one more.
static DictionaryAttr with(DictionaryAttr attributes, StringRef name, Attribute value) {
  NamedAttrList list(attributes);
  list.set(name, value);
  return list.getDictionary(attributes.getContext());
}

/// Writes each root's offset where emit will look for it.
static void writeOffsets(func::FuncOp step, const Storage &storage,
                         const planning::Packing &packing) {
  Builder builder(step.getContext());
  // All arguments at once: their list is as long as there are inputs.
  SmallVector<DictionaryAttr> arguments;
  step.getAllArgAttrs(arguments);
  arguments.resize(step.getNumArguments(), builder.getDictionaryAttr({}));
  for (auto [index, root] : llvm::enumerate(storage.roots())) {
    if (root.symbol)
      root.symbol->setAttr(kOffsetsAttr, builder.getDenseI64ArrayAttr(packing.offsets[index]));
    else if (auto argument = dyn_cast_or_null<BlockArgument>(root.value))
      arguments[argument.getArgNumber()] =
          with(arguments[argument.getArgNumber()], kOffsetsAttr,
               builder.getDenseI64ArrayAttr(packing.offsets[index]));
  }
  step.setAllArgAttrs(arguments);
  for (Operation &op : step.getBody().front()) {
    SmallVector<int64_t> offsets;
    bool any = false;
    auto push = [&](int64_t root, bool owner) {
      offsets.push_back(owner ? packing.offsets[root] : -1);
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

/// The most bytes of one usage that are live at once, and those at `peak`.
static std::pair<int64_t, int64_t> usageBytes(ArrayRef<Root> roots, Usage usage, int64_t peak) {
  int64_t most = 0, atPeak = 0;
  for (auto [command, bytes] : planning::liveBytes(lifetimesOf(roots, usage), kArenaAlignment)) {
    most = std::max(most, bytes);
    if (command <= peak)
      atPeak = bytes;
  }
  return {most, atPeak};
}

static DictionaryAttr certificate(func::FuncOp step, const Storage &storage,
                                  const planning::Packing &packing) {
  Builder builder(step.getContext());
  NamedAttrList attrs;
  attrs.set("peak", builder.getI64IntegerAttr(packing.bytes));
  attrs.set("lower_bound", builder.getI64IntegerAttr(packing.lowerBound));
  attrs.set("optimal", builder.getBoolAttr(packing.optimal));
  attrs.set("peak_at", builder.getStringAttr(
                           displayName(&*std::next(step.getBody().front().begin(), packing.peak))));
  for (unsigned i = 0; i < kNumUsages; ++i) {
    auto [most, atPeak] = usageBytes(storage.roots(), Usage(i), packing.peak);
    attrs.set(usageName(Usage(i)), builder.getDenseI64ArrayAttr({most, atPeak}));
  }
  return attrs.getDictionary(step.getContext());
}

namespace {
struct PackArena : zero::impl::PackArenaBase<PackArena> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    FailureOr<func::FuncOp> step = findStep(module);
    if (failed(step))
      return signalPassFailure();
    Storage storage(module, *step);
    planning::Packing packing = planning::pack(lifetimesOf(storage.roots()), kArenaAlignment);
    writeOffsets(*step, storage, packing);
    module->setAttr(kCertificateAttr, certificate(*step, storage, packing));
  }
};
} // namespace
