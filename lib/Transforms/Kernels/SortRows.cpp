//===- SortRows.cpp - let gradients of tables sort their indices ----------===//

#include "dialects/Onnx/OwnOperators.h"
#include "zero/Ops/CallAttrs.h"
#include "zero/Transforms/Kernels/Passes.h"

using namespace mlir;

namespace zero {
#define GEN_PASS_DEF_SORTROWS
#include "include/zero/Transforms/Kernels/Passes.h.inc"

namespace {
struct SortRows : impl::SortRowsBase<SortRows> {
  void runOnOperation() override {
    getOperation().walk([](onnx::NodeOp node) {
      if (!node.is(own::GatherGrad))
        return;
      NamedAttrList attrs(node.getAttrs());
      attrs.set(ops::kSorted, UnitAttr::get(node.getContext()));
      node.setAttrsAttr(attrs.getDictionary(node.getContext()));
    });
  }
};
} // namespace

} // namespace zero
