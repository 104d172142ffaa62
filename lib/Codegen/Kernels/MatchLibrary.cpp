//===- MatchLibrary.cpp - match kernels that a library computes -----------===//

#include "MatmulMatcher.h"
#include "OperandCasts.h"
#include "dialects/Zero/Zero.h"
#include "zero/Codegen/LibraryCalls.h"
#include "zero/Codegen/Passes.h"
#include "zero/Codegen/TargetCpu.h"

#include "mlir/IR/Remarks.h"

using namespace mlir;

namespace zero {
#define GEN_PASS_DEF_MATCHLIBRARY
#include "include/zero/Codegen/Passes.h.inc"
} // namespace zero

using namespace zero;

/// `reorder` has the library reorder B first.
static MatmulAttr describe(MLIRContext *context, const Matmul &matmul, bool reorder) {
  auto list = [&](ArrayRef<int64_t> values) { return DenseI64ArrayAttr::get(context, values); };
  return MatmulAttr::get(context, matmul.m, matmul.n, matmul.k, list(matmul.batch),
                         list(matmul.aStrides), list(matmul.bStrides), list(matmul.cStrides),
                         Builder(context).getF32FloatAttr(matmul.alpha), matmul.bias,
                         matmul.accumulate, matmul.residual, reorder);
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

/// The types in which the arguments of a call, `types`, are stored; null if all floats are f32.
static ArrayAttr storedTypes(MLIRContext *context, ArrayRef<Type> types) {
  if (llvm::all_of(types, [](Type type) {
        Type element = getElementTypeOrSelf(type);
        return element.isF32() || element.isInteger(1);
      }))
    return {};
  return Builder(context).getTypeArrayAttr(
      llvm::map_to_vector(types, [](Type type) { return getElementTypeOrSelf(type); }));
}

namespace {
/// What the calls are for.
struct CallTarget {
  CpuAttr cpu;          ///< null for a GPU
  unsigned threads = 1; ///< of a rank
  /// For a named CPU, the plan does not depend on this machine.
  LibraryCpus cpus = LibraryCpus::Host;

  bool isGpu() const { return !cpu; }
};
} // namespace

/// Makes `kernel` the library call that `call` describes, if the library has it.
static llvm::Error setCall(func::FuncOp kernel, LibraryAttr call, const CallTarget &target) {
  llvm::Expected<uint64_t> workspace =
      target.isGpu() ? gpuWorkspace(call) : libraryWorkspace(call, target.cpus, target.threads);
  if (!workspace)
    return workspace.takeError();
  Builder builder(kernel.getContext());
  kernel->setAttr(kLibraryAttr, call);
  if (*workspace > 0)
    kernel->setAttr(kWorkspaceAttr, builder.getI64IntegerAttr(*workspace));
  return llvm::Error::success();
}

/// The 16-bit type in which `target` can multiply the elements of a call with the arguments
/// `stored`, in less time than f32 and without conversion; null if there is none.
static Type narrowOperands(const CallTarget &target, Attribute call, ArrayAttr stored) {
  if (!stored)
    return {};
  auto typeOf = [](Attribute type) { return cast<TypeAttr>(type).getValue(); };
  const Type type = typeOf(stored[0]);
  // The library refuses an attention of which not all factors have one type.
  if (type.isF32() || (!isa<AttentionAttr>(call) && typeOf(stored[1]) != type))
    return {};
  if (target.isGpu())
    return type;
  const bool mixes = llvm::any_of(stored, [&](Attribute other) { return typeOf(other).isF16(); });
  return target.cpu.multipliesBFloats() && !mixes ? type : Type();
}

/// Makes `kernel` a library call of `call`, in 16 bits where the target and the library have that.
static llvm::Error setFastestCall(func::FuncOp kernel, Attribute call, ArrayAttr stored,
                                  const CallTarget &target) {
  MLIRContext *context = kernel.getContext();
  if (Type operands = narrowOperands(target, call, stored)) {
    const auto narrow = LibraryAttr::get(context, call, stored, operands);
    llvm::Error refused = setCall(kernel, narrow, target);
    if (!refused)
      return refused;
    llvm::consumeError(std::move(refused));
  }
  return setCall(kernel, LibraryAttr::get(context, call, stored, Type()), target);
}

/// A kernel that the library does not support is compiled. A remark reports it.
static void remarkCompiled(func::FuncOp kernel, llvm::Error refused) {
  remark::missed(kernel.getLoc(), remark::RemarkOpts::name("compiled").category("library"))
      << ("kernel '" + kernel.getName() + "' is compiled: " + llvm::toString(std::move(refused)))
             .str();
}

/// Uses the library call that `kernel`'s operator offers. If the library does not support it, the
/// kernel is compiled. The kernel already has the arguments of the call.
static void takeOffer(func::FuncOp kernel, Attribute offer, const CallTarget &target) {
  MLIRContext *context = kernel.getContext();
  SmallVector<Type> types(kernel.getArgumentTypes());
  llvm::append_range(types, kernel.getResultTypes());
  const ArrayAttr stored = storedTypes(context, types);
  if (llvm::Error refused = setFastestCall(kernel, offer, stored, target)) {
    remarkCompiled(kernel, std::move(refused));
    return;
  }
  // Those of the body may be more: it visits zeros between strides, and hidden scores.
  const auto convolution = dyn_cast<ConvolutionAttr>(offer);
  const int64_t flops =
      convolution ? convolution.countFlops() : cast<AttentionAttr>(offer).countFlops();
  kernel->setAttr(kFlopsAttr, Builder(context).getI64IntegerAttr(flops));
}

namespace {
struct MatchLibrary : zero::impl::MatchLibraryBase<MatchLibrary> {
  using MatchLibraryBase::MatchLibraryBase;

  void runOnOperation() override {
    OperandCasts casts(getOperation());
    llvm::StringMap<SmallVector<unsigned>> orders;
    CallTarget target{{}, threads};
    if (failed(setTarget(target)))
      return signalPassFailure();
    for (auto kernel : getOperation().getOps<func::FuncOp>()) {
      if (!isNativeKernel(kernel) || kernel.isDeclaration())
        continue;
      if (Attribute offer = kernel->removeAttr(kCallAttr)) {
        if (!target.isGpu() || isa<AttentionAttr>(offer)) // convolutions are compiled there
          takeOffer(kernel, offer, target);
      } else if (std::optional<MatchedMatmul> matched = matchMatmul(kernel)) {
        takeMatmul(kernel, *matched, target, casts, orders);
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
      casts.convertInputs(launch);
    });
  }

  /// Records in the module what kernels are for.
  LogicalResult setTarget(CallTarget &target) {
    ModuleOp module = getOperation();
    Builder builder(&getContext());
    if (device == Device::Cuda) {
      module->setAttr(kDeviceAttr, builder.getStringAttr(wordOf(device.getValue())));
      return success();
    }
    llvm::Expected<CpuAttr> cpu = findTargetCpu(&getContext(), targetCpu);
    if (!cpu)
      return module.emitError() << "target-cpu: " << llvm::toString(cpu.takeError());
    target.cpu = *cpu;
    if (targetCpu != kNativeCpu)
      target.cpus = isArm(*cpu) ? LibraryCpus::AllArm : LibraryCpus::AllX86;
    module->setAttr(kTargetCpuAttr, *cpu);
    module->setAttr(kThreadsAttr, builder.getI64IntegerAttr(threads));
    return success();
  }

  /// Records in `orders` how launches of a kernel that becomes a call must change.
  void takeMatmul(func::FuncOp kernel, const MatchedMatmul &matched, const CallTarget &target,
                  OperandCasts &casts, llvm::StringMap<SmallVector<unsigned>> &orders) {
    MLIRContext *context = kernel.getContext();
    SmallVector<Type> given = llvm::map_to_vector(matched.arguments, [&](unsigned index) {
      return getElementTypeOrSelf(kernel.getArgumentTypes()[index]);
    });
    if (!matched.matmul.accumulate)
      given.push_back(getElementTypeOrSelf(kernel.getResultTypes().front()));
    const SmallVector<Type> types = target.isGpu() ? operandTypesOnGpu(given) : given;
    const ArrayAttr stored = storedTypes(context, types);
    if (!target.isGpu() && matched.matmul.isBatchInnermost())
      return remarkCompiled(kernel, llvm::createStringError("its matrices are interleaved"));
    // Arguments in 16 bits are copied in blocks of few rows, for which reordering is not
    // beneficial.
    const bool reorder = !target.isGpu() && !stored && matched.matmul.reordersB();
    const MatmulAttr call = describe(context, matched.matmul, reorder);
    if (llvm::Error refused = setFastestCall(kernel, call, stored, target))
      return remarkCompiled(kernel, std::move(refused));
    auto inOrder = llvm::to_vector(llvm::seq<unsigned>(0, kernel.getNumArguments()));
    if (matched.arguments == inOrder && types == given)
      return;
    reorderArguments(kernel, matched.arguments);
    orders[kernel.getName()] = matched.arguments;
    for (unsigned index = 0; index < kernel.getNumArguments(); ++index)
      if (types[index] != given[index])
        casts.change(kernel, index, types[index]);
  }
};
} // namespace
