//===- UnrollLoops.cpp - unroll loops of constant trip count ------------===//

#include "zero/Transforms/Program/Passes.h"

using namespace mlir;

namespace zero {
#define GEN_PASS_DEF_UNROLLLOOPS
#include "include/zero/Transforms/Program/Passes.h.inc"

namespace {
struct UnrollLoops : impl::UnrollLoopsBase<UnrollLoops> {
  void runOnOperation() override {}
};
} // namespace
} // namespace zero
