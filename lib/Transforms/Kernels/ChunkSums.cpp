//===- ChunkSums.cpp - sum the blocks of many tensors in one launch -------===//

#include "zero/Analysis/StepFunction.h"
#include "zero/Transforms/Kernels/Passes.h"
#include "zero/Transforms/Step/StepGradients.h"

using namespace mlir;

namespace zero {
#define GEN_PASS_DEF_CHUNKSUMS
#include "include/zero/Transforms/Kernels/Passes.h.inc"
} // namespace zero

using namespace zero;

namespace {
struct ChunkSums : zero::impl::ChunkSumsBase<ChunkSums> {
  void runOnOperation() override {
    FailureOr<func::FuncOp> step = findStep(getOperation());
    if (failed(step))
      return signalPassFailure();
    for (Operation &op : step->getBody().front()) {
      if (auto sum = dyn_cast<SquareSumOp>(op))
        sum.setKernelsAttr(inChunks(sum.getKernels()));
      else if (auto update = dyn_cast<UpdateOp>(op); update && update.getLayerwise())
        update.setLayerwiseAttr(inChunks(*update.getLayerwise()));
    }
    for (StringAttr name : replaced)
      if (Operation *total = getOperation().lookupSymbol(name);
          SymbolTable::symbolKnownUseEmpty(total, getOperation()))
        total->erase();
  }

  /// `kernels` with two in place of the second one, which sums the blocks of a tensor.
  ArrayAttr inChunks(ArrayAttr kernels) {
    if (!ofBlocks) {
      Builder builder(&getContext());
      ofBlocks = build(builder.getF32Type());
      ofChunks = build(builder.getF64Type());
    }
    SmallVector<Attribute> changed(kernels.begin(), kernels.end());
    replaced.insert(cast<FlatSymbolRefAttr>(changed[1]).getAttr());
    changed[1] = ofBlocks;
    changed.insert(changed.begin() + 2, ofChunks);
    return ArrayAttr::get(&getContext(), changed);
  }

  FlatSymbolRefAttr build(Type element) {
    std::string name = element.isF32() ? "chunk_sums_f32" : "chunk_sums_f64";
    name = freeName(SymbolTable(getOperation()), name);
    return FlatSymbolRefAttr::get(buildChunkSums(getOperation(), name, element).getSymNameAttr());
  }

  FlatSymbolRefAttr ofBlocks, ofChunks;
  llvm::SetVector<StringAttr> replaced;
};
} // namespace
