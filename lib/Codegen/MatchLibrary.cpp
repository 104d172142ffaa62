//===- MatchLibrary.cpp - finds kernels that a library computes -----------===//

#include "MatmulMatcher.h"
#include "dialects/Zero/Zero.h"
#include "zero/Codegen/LibraryCalls.h"
#include "zero/Codegen/Passes.h"

#include "mlir/IR/Remarks.h"

using namespace mlir;

namespace zero {
#define GEN_PASS_DEF_MATCHLIBRARY
#include "include/zero/Codegen/Passes.h.inc"
} // namespace zero

using namespace zero;

static DictionaryAttr describe(Builder &builder, const Matmul &matmul) {
  auto named = [&](StringRef name, Attribute value) { return builder.getNamedAttr(name, value); };
  NamedAttrList call(ArrayRef<NamedAttribute>{
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
  if (matmul.accumulate)
    call.set("accumulate", builder.getUnitAttr());
  if (matmul.residual)
    call.set("residual", builder.getUnitAttr());
  return call.getDictionary(builder.getContext());
}

/// Brings the arguments of `kernel` into `order`; one may be named twice.
static void reorderArguments(func::FuncOp kernel, ArrayRef<unsigned> order) {
  SmallVector<DictionaryAttr> attributes =
      llvm::map_to_vector(order, [&](unsigned index) { return kernel.getArgAttrDict(index); });
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
  kernel.setAllArgAttrs(attributes);
}

/// `call` with the types in which its arguments, `types`, are stored, unless all floats
/// are f32.
static DictionaryAttr withStored(DictionaryAttr call, ArrayRef<Type> types) {
  Builder builder(call.getContext());
  if (llvm::all_of(types, [](Type type) {
        Type element = getElementTypeOrSelf(type);
        return element.isF32() || element.isInteger(1);
      }))
    return call;
  NamedAttrList fields(call);
  fields.set("stored", builder.getTypeArrayAttr(llvm::map_to_vector(
                           types, [](Type type) { return getElementTypeOrSelf(type); })));
  return fields.getDictionary(call.getContext());
}

/// `call` with B reordered where that pays. What is stored in 16 bits is copied in blocks
/// of few rows, for which it does not.
static DictionaryAttr withReorder(DictionaryAttr call, const Matmul &matmul) {
  if (call.contains("stored") || !matmul.reordersB())
    return call;
  NamedAttrList fields(call);
  fields.set(kReorderAttr, UnitAttr::get(call.getContext()));
  return fields.getDictionary(call.getContext());
}

/// Makes `kernel` the library call that `call` describes, if the library has it. No threads
/// are a GPU's.
static llvm::Error setCall(func::FuncOp kernel, DictionaryAttr call, unsigned threads) {
  llvm::Expected<uint64_t> workspace =
      threads ? libraryWorkspace(call, threads) : llvm::Expected<uint64_t>(kGpuMatmulWorkspace);
  if (!workspace)
    return workspace.takeError();
  Builder builder(kernel.getContext());
  kernel->setAttr(kLibraryAttr, call);
  if (*workspace > 0)
    kernel->setAttr(kWorkspaceAttr, builder.getI64IntegerAttr(*workspace));
  return llvm::Error::success();
}

/// What the library does not have is compiled, which a remark says.
static void remarkCompiled(func::FuncOp kernel, llvm::Error refused) {
  remark::missed(kernel.getLoc(), remark::RemarkOpts::name("compiled").category("library"))
      << ("kernel '" + kernel.getName() + "' is compiled: " + llvm::toString(std::move(refused)))
             .str();
}

/// Takes the call that `kernel`'s operator offered; what the library refuses is
/// compiled. The kernel's arguments are the call's already.
static void takeOffer(func::FuncOp kernel, DictionaryAttr call, unsigned threads) {
  SmallVector<Type> types(kernel.getArgumentTypes());
  llvm::append_range(types, kernel.getResultTypes());
  call = withStored(call, types);
  if (llvm::Error refused = setCall(kernel, call, threads)) {
    remarkCompiled(kernel, std::move(refused));
    return;
  }
  // Those of the body may be more: it visits zeros between strides, and hidden scores.
  Builder builder(kernel.getContext());
  kernel->setAttr(kFlopsAttr, builder.getI64IntegerAttr(libraryFlops(call)));
}

namespace {
struct MatchLibrary : zero::impl::MatchLibraryBase<MatchLibrary> {
  using MatchLibraryBase::MatchLibraryBase;

  void runOnOperation() override {
    llvm::StringMap<SmallVector<unsigned>> orders;
    Builder builder(&getContext());
    const bool isGpu = device == "cuda";
    if (isGpu)
      getOperation()->setAttr(kDeviceAttr, builder.getStringAttr(device));
    else
      getOperation()->setAttr(kThreadsAttr, builder.getI64IntegerAttr(threads));
    for (auto kernel : getOperation().getOps<func::FuncOp>()) {
      if (!isNativeKernel(kernel) || kernel.isDeclaration())
        continue;
      if (auto call = kernel->getAttrOfType<DictionaryAttr>(kCallAttr)) {
        kernel->removeAttr(kCallAttr);
        if (!isGpu)
          takeOffer(kernel, call, threads);
      } else if (std::optional<MatchedMatmul> matched = matchMatmul(kernel)) {
        takeMatmul(kernel, *matched, isGpu ? 0 : threads.getValue(), orders);
      }
    }
    if (orders.empty())
      return;
    // The library takes A, B, the bias and the residual in this order: so must the launches.
    getOperation().walk([&](LaunchOp launch) {
      auto order = orders.find(launch.getKernel());
      if (order == orders.end())
        return;
      SmallVector<Value> inputs = llvm::map_to_vector(
          order->second, [&](unsigned index) -> Value { return launch.getInputs()[index]; });
      launch.getInputsMutable().assign(inputs);
    });
  }

  void takeMatmul(func::FuncOp kernel, const MatchedMatmul &matched, unsigned threads,
                  llvm::StringMap<SmallVector<unsigned>> &orders) {
    Builder builder(kernel.getContext());
    SmallVector<Type> types = llvm::map_to_vector(
        matched.arguments, [&](unsigned index) { return kernel.getArgumentTypes()[index]; });
    if (!matched.matmul.accumulate)
      types.push_back(kernel.getResultTypes().front());
    DictionaryAttr call = withStored(describe(builder, matched.matmul), types);
    if (threads)
      call = withReorder(call, matched.matmul);
    if (llvm::Error refused = setCall(kernel, call, threads))
      return remarkCompiled(kernel, std::move(refused));
    auto inOrder = llvm::to_vector(llvm::seq<unsigned>(0, kernel.getNumArguments()));
    if (matched.arguments == inOrder)
      return;
    reorderArguments(kernel, matched.arguments);
    orders[kernel.getName()] = matched.arguments;
  }
};
} // namespace
