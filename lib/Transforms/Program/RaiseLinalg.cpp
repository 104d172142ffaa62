//===- RaiseLinalg.cpp - linalg to nodes --------------------------------===//

#include "zero/Transforms/Program/Passes.h"

using namespace mlir;

namespace zero {
#define GEN_PASS_DEF_RAISELINALG
#include "include/zero/Transforms/Program/Passes.h.inc"

namespace {
struct RaiseLinalg : impl::RaiseLinalgBase<RaiseLinalg> {
  void runOnOperation() override {}
};
} // namespace
} // namespace zero
