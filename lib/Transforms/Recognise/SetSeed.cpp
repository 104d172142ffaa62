//===- SetSeed.cpp - the seed of the program's random numbers -------------===//

#include "dialects/Onnx/Onnx.h"
#include "dialects/Zero/Zero.h"
#include "zero/Ops/Random.h"
#include "zero/Transforms/Recognise/Passes.h"

#include "llvm/ADT/DenseSet.h"

using namespace mlir;

namespace zero {
#define GEN_PASS_DEF_SETSEED
#include "include/zero/Transforms/Recognise/Passes.h.inc"
} // namespace zero

/// Renames `node` if another one draws by the same number: names need not differ, and
/// hashes of two may be equal.
static void makeDistinct(zero::onnx::NodeOp node, llvm::DenseSet<uint64_t> &taken) {
  StringRef name = node.getNode();
  std::string own = name.str();
  for (int copy = 2; !taken.insert(zero::randomNodeNumber(own)).second; ++copy)
    own = (name + "#" + Twine(copy)).str();
  if (own != name)
    node.setNode(own);
}

/// Whether initial values of a parameter or a state are drawn.
template <typename OpTy>
static bool drawsValues(ModuleOp module) {
  return llvm::any_of(module.getOps<OpTy>(), [](OpTy op) { return op.getRandom(); });
}

namespace {
struct SetSeed : zero::impl::SetSeedBase<SetSeed> {
  using SetSeedBase::SetSeedBase;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    llvm::DenseSet<uint64_t> taken;
    module.walk([&](zero::onnx::NodeOp node) {
      if (zero::drawsRandom(node))
        makeDistinct(node, taken);
    });
    if (seed != 0 && taken.empty() && !drawsValues<zero::ParameterOp>(module) &&
        !drawsValues<zero::StateOp>(module)) {
      emitError(module.getLoc()) << "--seed=" << uint64_t(seed)
                                 << " has no effect: the model draws no random numbers";
      return signalPassFailure();
    }
    module->setAttr(zero::kSeedAttr, Builder(module.getContext()).getI64IntegerAttr(int64_t(seed)));
  }
};
} // namespace
