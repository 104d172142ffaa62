//===- LowerToLLVM.cpp - lower bufferized kernels to LLVM -----------------===//

#include "LowerToLLVM.h"
#include "ObjectCode.h"

#include "dialects/Zero/Zero.h"
#include "zero/Codegen/CompileGpu.h"
#include "zero/Codegen/Passes.h"

#include "mlir/Conversion/AffineToStandard/AffineToStandard.h"
#include "mlir/Conversion/ArithToLLVM/ArithToLLVM.h"
#include "mlir/Conversion/ControlFlowToLLVM/ControlFlowToLLVM.h"
#include "mlir/Conversion/FuncToLLVM/ConvertFuncToLLVM.h"
#include "mlir/Conversion/GPUToNVVM/GPUToNVVMPass.h"
#include "mlir/Conversion/IndexToLLVM/IndexToLLVM.h"
#include "mlir/Conversion/LLVMCommon/ConversionTarget.h"
#include "mlir/Conversion/LLVMCommon/MemRefBuilder.h"
#include "mlir/Conversion/LLVMCommon/TypeConverter.h"
#include "mlir/Conversion/MathToLLVM/MathToLLVM.h"
#include "mlir/Conversion/MathToLibm/MathToLibm.h"
#include "mlir/Conversion/MemRefToLLVM/MemRefToLLVM.h"
#include "mlir/Conversion/ReconcileUnrealizedCasts/ReconcileUnrealizedCasts.h"
#include "mlir/Conversion/SCFToControlFlow/SCFToControlFlow.h"
#include "mlir/Conversion/UBToLLVM/UBToLLVM.h"
#include "mlir/Conversion/VectorToLLVM/ConvertVectorToLLVM.h"
#include "mlir/Dialect/Arith/Transforms/Passes.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/GPU/Transforms/Passes.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Math/Transforms/Passes.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/MemRef/Transforms/Passes.h"
#include "mlir/Dialect/Vector/Transforms/LoweringPatterns.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/DialectConversion.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

using namespace mlir;

namespace zero {

/// Replaces the functions of a math library on floats by MLIR's polynomials, so that
/// the code is the same on every machine and in every loop.
static void approximate(ModuleOp module) {
  RewritePatternSet patterns(module.getContext());
  populateMathPolynomialApproximationPatterns(patterns, [](StringRef) { return true; });
  math::populateExpansionPatterns(patterns,
                                  {"rsqrt", "powf", "exp2", "sinh", "cosh", "tan", "asinh", "acosh",
                                   "atanh", "roundeven", "fpowi", "ipowi", "ctlz"});
  GreedyRewriteConfig config;
  config.enableFolding(false).enableConstantCSE(false).setRegionSimplificationLevel(
      GreedySimplifyRegionLevel::Disabled);
  (void)applyPatternsGreedily(module, std::move(patterns), config);
}

/// Replaces functions that have no polynomial (those of doubles) by calls of C's math library.
static LogicalResult callDoubleFunctions(ModuleOp module) {
  RewritePatternSet patterns(module.getContext());
  populateMathToLibmConversionPatterns(patterns);
  ConversionTarget target(*module.getContext());
  target.markUnknownOpDynamicallyLegal([](Operation *op) {
    return !isa<math::MathDialect>(op->getDialect()) || !op->getResult(0).getType().isF64() ||
           !isDoubleFunction(op->getName().stripDialect());
  });
  return applyPartialConversion(module, target, std::move(patterns));
}

/// The descriptor of a buffer at `pointer`; dynamic sizes are all `length`. Of a part of
/// the iterations that is where they end: no stride depends on it.
static Value describe(OpBuilder &builder, Location loc, const LLVMTypeConverter &converter,
                      MemRefType type, Value pointer, Value length) {
  auto descriptor = MemRefDescriptor::poison(builder, loc, converter.convertType(type));
  descriptor.setAllocatedPtr(builder, loc, pointer);
  descriptor.setAlignedPtr(builder, loc, pointer);
  descriptor.setConstantOffset(builder, loc, 0);
  Value stride = LLVM::ConstantOp::create(builder, loc, builder.getI64IntegerAttr(1));
  for (int64_t dim = type.getRank(); dim-- > 0;) {
    bool dynamic = type.isDynamicDim(dim);
    Value size = dynamic ? length
                         : LLVM::ConstantOp::create(
                               builder, loc, builder.getI64IntegerAttr(type.getDimSize(dim)));
    descriptor.setSize(builder, loc, dim, size);
    descriptor.setStride(builder, loc, dim, stride);
    stride = LLVM::MulOp::create(builder, loc, stride, size);
  }
  return descriptor;
}

void addRange(func::FuncOp kernel) {
  Builder builder(kernel.getContext());
  Location loc = kernel.getLoc();
  SmallVector<DictionaryAttr> attributes;
  kernel.getAllArgAttrs(attributes);
  attributes.append(2, builder.getDictionaryAttr({}));
  kernel.getBody().addArguments({builder.getIndexType(), builder.getIndexType()}, {loc, loc});
  kernel.setFunctionType(builder.getFunctionType(kernel.getBody().getArgumentTypes(), {}));
  kernel.setAllArgAttrs(attributes);
  kernel->setAttr(kExtentAttr, builder.getI64IntegerAttr(1));
}

/// Makes plain pointers of the buffers among the arguments of `kernel`. The last argument, an
/// index, is the length of those without one.
static void usePointers(func::FuncOp kernel, const LLVMTypeConverter &converter) {
  OpBuilder builder = OpBuilder::atBlockBegin(&kernel.getBody().front());
  Type pointer = LLVM::LLVMPointerType::get(kernel.getContext());
  Location loc = kernel.getLoc();
  Value length = UnrealizedConversionCastOp::create(builder, loc, builder.getI64Type(),
                                                    kernel.getArguments().back())
                     .getResult(0);
  for (BlockArgument argument : kernel.getArguments()) {
    auto type = dyn_cast<MemRefType>(argument.getType());
    if (!type)
      continue;
    argument.setType(pointer);
    Value descriptor = describe(builder, loc, converter, type, argument, length);
    Value buffer = UnrealizedConversionCastOp::create(builder, loc, type, descriptor).getResult(0);
    argument.replaceUsesWithIf(
        buffer, [&](OpOperand &use) { return !isa<LLVM::InsertValueOp>(use.getOwner()); });
  }
  kernel.setFunctionType(builder.getFunctionType(kernel.getBody().getArgumentTypes(), {}));
  // Spoken for by now: LLVM does not know them.
  for (unsigned i = 0; i < kernel.getNumArguments(); ++i)
    for (StringRef name : {StringRef(kInplaceAttr), StringRef(kAlignedAttr)})
      kernel.removeArgAttr(i, name);
}

static LogicalResult lowerControlFlow(ModuleOp module) {
  PassManager manager(module.getContext());
  manager.enableVerifier(false);
  manager.addPass(memref::createExpandStridedMetadataPass());
  manager.addPass(createLowerAffinePass());
  manager.addPass(createSCFToControlFlowPass());
  return manager.run(module);
}

/// Converts the remaining ops. `patterns` contains the patterns of the device.
static LogicalResult convert(ModuleOp module, LLVMTypeConverter &converter,
                             RewritePatternSet patterns) {
  arith::populateCeilFloorDivExpandOpsPatterns(patterns);
  arith::populateArithToLLVMConversionPatterns(converter, patterns);
  populateMathToLLVMConversionPatterns(converter, patterns);
  populateFinalizeMemRefToLLVMConversionPatterns(converter, patterns);
  vector::populateVectorTransferLoweringPatterns(patterns, /*maxTransferRank=*/1);
  populateVectorToLLVMConversionPatterns(converter, patterns);
  populateFuncToLLVMConversionPatterns(converter, patterns);
  cf::populateControlFlowToLLVMConversionPatterns(converter, patterns);
  index::populateIndexToLLVMConversionPatterns(converter, patterns);
  ub::populateUBToLLVMConversionPatterns(converter, patterns);
  LLVMConversionTarget target(*module.getContext());
  target.addLegalOp<ModuleOp, UnrealizedConversionCastOp>();
  target.addLegalDialect<NVVM::NVVMDialect>();
  if (failed(applyFullConversion(module, target, std::move(patterns))))
    return failure();
  PassManager manager(module.getContext());
  manager.enableVerifier(false);
  manager.addPass(createReconcileUnrealizedCastsPass());
  return manager.run(module);
}

/// Takes indices apart by divisions, of 32 bits where these suffice.
static void expandDigits(ModuleOp module) {
  module.walk([](affine::AffineDelinearizeIndexOp op) {
    OpBuilder builder(op);
    Location loc = op.getLoc();
    int64_t all = 1;
    for (int64_t extent : op.getStaticBasis())
      all *= extent;
    Type type = all <= INT32_MAX ? builder.getI32Type() : builder.getI64Type();
    Value rest = arith::IndexCastUIOp::create(builder, loc, type, op.getLinearIndex());
    for (size_t digit = op.getNumResults(); digit-- > 0;) {
      Value value = rest;
      if (digit > 0) {
        Value extent = arith::ConstantIntOp::create(builder, loc, type, op.getStaticBasis()[digit]);
        value = arith::RemUIOp::create(builder, loc, rest, extent);
        rest = arith::DivUIOp::create(builder, loc, rest, extent);
      }
      op.getResult(digit).replaceAllUsesWith(
          arith::IndexCastUIOp::create(builder, loc, builder.getIndexType(), value));
    }
    op.erase();
  });
}

/// Lowers everything to unstructured control flow, on every device.
static LogicalResult lowerBodies(ModuleOp module, bool forGpu) {
  expandDigits(module);
  storeBoolsAsBytes(module);
  approximate(module);
  return failed(storeBFloatsAsInts(module, /*hasRounding=*/forGpu)) ? failure()
                                                                    : lowerControlFlow(module);
}

LogicalResult lowerToLLVM(ModuleOp module) {
  LowerToLLVMOptions options(module.getContext());
  LLVMTypeConverter converter(module.getContext(), options);
  if (failed(lowerBodies(module, /*forGpu=*/false)))
    return failure();
  for (auto kernel : module.getOps<func::FuncOp>()) {
    if (!kernel->hasAttr(kExtentAttr))
      addRange(kernel);
    usePointers(kernel, converter);
  }
  if (failed(callDoubleFunctions(module)))
    return failure();
  return convert(module, converter, RewritePatternSet(module.getContext()));
}

/// Makes two shuffles of one of 64 bits.
static LogicalResult splitShuffles(ModuleOp module) {
  RewritePatternSet patterns(module.getContext());
  populateGpuShufflePatterns(patterns);
  return applyPatternsGreedily(module, std::move(patterns));
}

/// Fails after an error at a function of doubles that only a library has.
static LogicalResult checkDoubleFunctions(ModuleOp module) {
  WalkResult checked = module.walk([](Operation *op) -> WalkResult {
    StringRef name = op->getName().stripDialect();
    if (!isa_and_nonnull<math::MathDialect>(op->getDialect()) ||
        !op->getResult(0).getType().isF64() || !isDoubleFunction(name))
      return WalkResult::advance();
    op->emitError() << "the function '" << name << "' of doubles has no expansion for GPUs";
    return WalkResult::interrupt();
  });
  return failure(checked.wasInterrupted());
}

LogicalResult lowerGpuToLLVM(ModuleOp module) {
  LowerToLLVMOptions options(module.getContext());
  LLVMTypeConverter converter(module.getContext(), options);
  configureGpuToNVVMTypeConverter(converter);
  if (failed(splitShuffles(module)) || failed(lowerBodies(module, /*forGpu=*/true)))
    return failure();
  expandDoubleFunctions(module);
  if (failed(checkDoubleFunctions(module)))
    return failure();
  for (auto kernel : module.getOps<func::FuncOp>()) {
    for (unsigned index = 0; index < kernel.getNumArguments(); ++index)
      if (kernel.getArgAttr(index, kAlignedAttr))
        kernel.setArgAttr(index, "llvm.align", Builder(module).getI64IntegerAttr(kGpuAlignment));
    usePointers(kernel, converter);
  }
  RewritePatternSet patterns(module.getContext());
  populateGpuToNVVMConversionPatterns(converter, patterns);
  return convert(module, converter, std::move(patterns));
}

} // namespace zero
