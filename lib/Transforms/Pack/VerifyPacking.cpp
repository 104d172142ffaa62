//===- VerifyPacking.cpp - verify that live values are disjoint -----------===//

#include "zero/Analysis/StepFunction.h"
#include "zero/Analysis/Storage.h"
#include "zero/Transforms/Pack/Passes.h"

#include <map>

using namespace mlir;

namespace zero {
#define GEN_PASS_DEF_VERIFYPACKING
#include "include/zero/Transforms/Pack/Passes.h.inc"
} // namespace zero

using namespace zero;

namespace {

/// A root with the offset that the program gives it.
struct Placed {
  const Root *root;
  int64_t offset;
};

struct VerifyPacking : zero::impl::VerifyPackingBase<VerifyPacking> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    FailureOr<func::FuncOp> step = findStep(module);
    if (failed(step) || !module->hasAttr(kCertificateAttr)) {
      module.emitError() << "expected " << kCertificateAttr << "; run zero-pack-arena first";
      return signalPassFailure();
    }
    const Storage &storage = getAnalysis<Storage>();
    for (Tier tier : kTiers) {
      SmallVector<Placed> placed;
      for (auto [index, root] : llvm::enumerate(storage.roots()))
        if (root.tier == tier)
          placed.push_back({&root, rootOffset(*step, storage, index)});
      ArenaAttr arena = certificateOf(module, tier);
      const int64_t peak = arena ? arena.getPeak() : 0;
      if (failed(checkOverlap(*step, placed, peak)))
        return signalPassFailure();
    }
  }

  /// Sweeps over the step with the live roots ordered by offset.
  static LogicalResult checkOverlap(func::FuncOp step, ArrayRef<Placed> placed, int64_t peak) {
    SmallVector<std::tuple<int64_t, bool, const Placed *>> events;
    for (const Placed &p : placed) {
      if (p.root->bytes == 0)
        continue;
      if (p.offset < 0 || p.offset + p.root->bytes > peak)
        return step.emitError() << "a value of " << p.root->bytes << " bytes at offset " << p.offset
                                << " is outside the arena of " << peak;
      events.push_back({p.root->begin, true, &p});
      events.push_back({p.root->end + 1, false, &p});
    }
    // Ends before begins at the same position.
    llvm::sort(events, [](auto &a, auto &b) {
      return std::tie(std::get<0>(a), std::get<1>(a)) < std::tie(std::get<0>(b), std::get<1>(b));
    });
    std::map<int64_t, const Placed *> live;
    for (auto [position, begins, p] : events) {
      if (!begins) {
        live.erase(p->offset);
        continue;
      }
      auto next = live.lower_bound(p->offset);
      const Placed *clash = nullptr;
      if (next != live.end() && next->first < p->offset + p->root->bytes)
        clash = next->second;
      if (next != live.begin() && !clash)
        if (const Placed *before = std::prev(next)->second;
            before->offset + before->root->bytes > p->offset)
          clash = before;
      if (clash)
        return report(step, *p, *clash);
      live[p->offset] = p;
    }
    return success();
  }

  static LogicalResult report(func::FuncOp step, const Placed &a, const Placed &b) {
    auto where = [&](const Placed &p) {
      return p.root->value ? p.root->value.getLoc() : step.getLoc();
    };
    InFlightDiagnostic error = emitError(where(a))
                               << a.root->bytes << " bytes at offset " << a.offset
                               << " are written while other values are live there";
    error.attachNote(where(b)) << b.root->bytes << " bytes at offset " << b.offset;
    return error;
  }
};

} // namespace
