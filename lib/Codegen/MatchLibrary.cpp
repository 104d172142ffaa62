//===- MatchLibrary.cpp - finds kernels that a library computes -----------===//

#include "LibraryWorkspace.h"
#include "MatmulMatcher.h"
#include "dialects/Zero/Zero.h"
#include "zero/Codegen/Passes.h"

using namespace mlir;

namespace zero {
#define GEN_PASS_DEF_MATCHLIBRARY
#include "include/zero/Codegen/Passes.h.inc"
} // namespace zero

using namespace zero;

static DictionaryAttr describe(Builder &builder, const Matmul &matmul) {
  auto named = [&](StringRef name, Attribute value) { return builder.getNamedAttr(name, value); };
  return builder.getDictionaryAttr({
      named("kind", builder.getStringAttr("matmul")),
      named("m", builder.getI64IntegerAttr(matmul.m)),
      named("n", builder.getI64IntegerAttr(matmul.n)),
      named("k", builder.getI64IntegerAttr(matmul.k)),
      named("batch", builder.getDenseI64ArrayAttr(matmul.batch)),
      named("a_strides", builder.getDenseI64ArrayAttr(matmul.aStrides)),
      named("b_strides", builder.getDenseI64ArrayAttr(matmul.bStrides)),
      named("c_strides", builder.getDenseI64ArrayAttr(matmul.cStrides)),
      named("alpha", builder.getF32FloatAttr(matmul.alpha)),
      named("bias", builder.getBoolAttr(matmul.bias)),
  });
}

/// Brings the arguments of `kernel` into `order`; one may be named twice.
static void reorderArguments(func::FuncOp kernel, ArrayRef<unsigned> order) {
  Block &body = kernel.getBody().front();
  unsigned before = body.getNumArguments();
  for (unsigned index : order) {
    BlockArgument old = body.getArgument(index);
    BlockArgument moved = body.addArgument(old.getType(), old.getLoc());
    old.replaceAllUsesWith(moved);
  }
  body.eraseArguments(0, before);
  kernel.setFunctionType(
      FunctionType::get(kernel.getContext(), body.getArgumentTypes(), kernel.getResultTypes()));
  kernel.removeArgAttrsAttr();
}

namespace {
struct MatchLibrary : zero::impl::MatchLibraryBase<MatchLibrary> {
  void runOnOperation() override {
    Builder builder(&getContext());
    llvm::StringMap<SmallVector<unsigned>> orders;
    for (auto kernel : getOperation().getOps<func::FuncOp>()) {
      if (!isNativeKernel(kernel) || kernel.isDeclaration())
        continue;
      std::optional<MatchedMatmul> matched = matchMatmul(kernel);
      if (!matched)
        continue;
      llvm::Expected<uint64_t> workspace = libraryWorkspace(matched->matmul);
      if (!workspace) {
        kernel.emitError() << "matrix product of kernel '" << kernel.getName()
                           << "': " << llvm::toString(workspace.takeError());
        return signalPassFailure();
      }
      kernel->setAttr(kLibraryAttr, describe(builder, matched->matmul));
      if (*workspace > 0)
        kernel->setAttr(kWorkspaceAttr, builder.getI64IntegerAttr(*workspace));
      auto inOrder = llvm::to_vector(llvm::seq<unsigned>(0, kernel.getNumArguments()));
      if (matched->arguments == inOrder)
        continue;
      reorderArguments(kernel, matched->arguments);
      orders[kernel.getName()] = matched->arguments;
    }
    if (orders.empty())
      return;
    // The library takes A, B and the bias in this order: so must the launches.
    getOperation().walk([&](LaunchOp launch) {
      auto order = orders.find(launch.getKernel());
      if (order == orders.end())
        return;
      SmallVector<Value> inputs = llvm::map_to_vector(
          order->second, [&](unsigned index) -> Value { return launch.getInputs()[index]; });
      launch.getInputsMutable().assign(inputs);
    });
  }
};
} // namespace
