//===- ShortFloats.cpp - bf16 as 16-bit integers --------------------------===//
//
// If the processor has no instruction to round to bf16, LLVM calls a function for each number and
// splits vectors of bf16. With integer operations, both conversions are a few vector instructions.
// All GPUs that Zero supports have an instruction that rounds. An extension is one shift.
//
//===----------------------------------------------------------------------===//

#include "LowerToLLVM.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Transforms/Passes.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/TypeUtilities.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

using namespace mlir;

namespace zero {

static bool isShort(Type type) { return getElementTypeOrSelf(type).isBF16(); }

static void retype(Value value) {
  if (!isShort(value.getType()))
    return;
  Type integer = IntegerType::get(value.getContext(), 16);
  if (auto buffer = dyn_cast<MemRefType>(value.getType()))
    value.setType(MemRefType(MemRefType::Builder(buffer).setElementType(integer)));
  else
    value.setType(integer);
}

/// Extends and rounds (to nearest even) with integer operations. After this, the remaining bf16
/// values are only stored, loaded, selected or bitcast.
static void expandConversions(ModuleOp module) {
  RewritePatternSet patterns(module.getContext());
  arith::populateExpandBFloat16Patterns(patterns);
  GreedyRewriteConfig config;
  config.enableFolding(false).enableConstantCSE(false).setRegionSimplificationLevel(
      GreedySimplifyRegionLevel::Disabled);
  (void)applyPatternsGreedily(module, std::move(patterns), config);
}

/// Whether `op` treats its operands as bits.
static bool movesBits(Operation *op) {
  return isa<memref::MemRefDialect, scf::SCFDialect>(op->getDialect()) ||
         isa<arith::SelectOp, arith::BitcastOp, arith::ConstantOp, func::FuncOp, ModuleOp>(op);
}

static void convertGlobal(memref::GlobalOp global) {
  if (!isShort(global.getType()))
    return;
  Type integer = IntegerType::get(global.getContext(), 16);
  if (auto elements = dyn_cast_or_null<DenseElementsAttr>(global.getInitialValueAttr()))
    global.setInitialValueAttr(elements.bitcast(integer));
  global.setType(MemRefType(MemRefType::Builder(global.getType()).setElementType(integer)));
}

static void convertConstant(arith::ConstantOp constant) {
  auto number = dyn_cast<FloatAttr>(constant.getValue());
  if (number && isShort(number.getType()))
    constant.setValueAttr(IntegerAttr::get(IntegerType::get(constant.getContext(), 16),
                                           number.getValue().bitcastToAPInt()));
}

static void convertValues(Operation *op) {
  if (isa<LLVM::LLVMDialect>(op->getDialect()))
    return;
  for (Region &region : op->getRegions())
    for (Block &block : region)
      for (BlockArgument argument : block.getArguments())
        retype(argument);
  for (Value result : op->getResults())
    retype(result);
  if (auto kernel = dyn_cast<func::FuncOp>(op); kernel && !kernel.isDeclaration())
    kernel.setFunctionType(FunctionType::get(
        kernel.getContext(), kernel.getBody().getArgumentTypes(), kernel.getResultTypes()));
  if (auto global = dyn_cast<memref::GlobalOp>(op))
    convertGlobal(global);
  if (auto constant = dyn_cast<arith::ConstantOp>(op))
    convertConstant(constant);
}

/// Rounds f32 with LLVM's own operation, whose result is read as bits: to nearest even as the
/// integer operations do, but NaN becomes another NaN.
static void roundInHardware(ModuleOp module) {
  module.walk([](arith::TruncFOp op) {
    if (!isShort(op.getType()) || !op.getIn().getType().isF32())
      return;
    OpBuilder builder(op);
    Value rounded = LLVM::FPTruncOp::create(builder, op.getLoc(), op.getType(), op.getIn());
    Value bits = LLVM::BitcastOp::create(builder, op.getLoc(), builder.getI16Type(), rounded);
    Value number = arith::BitcastOp::create(builder, op.getLoc(), op.getType(), bits);
    op.replaceAllUsesWith(number);
    op.erase();
  });
}

LogicalResult storeBFloatsAsInts(ModuleOp module, bool hasRounding) {
  if (hasRounding)
    roundInHardware(module);
  expandConversions(module);
  WalkResult checked = module.walk([](Operation *op) -> WalkResult {
    auto hasShort = [](TypeRange types) { return llvm::any_of(types, isShort); };
    if (movesBits(op) || isa<LLVM::LLVMDialect>(op->getDialect()) ||
        (!hasShort(op->getOperandTypes()) && !hasShort(op->getResultTypes())))
      return WalkResult::advance();
    op->emitError() << "cannot compute '" << op->getName()
                    << "' in bf16: extend its operands to f32";
    return WalkResult::interrupt();
  });
  if (checked.wasInterrupted())
    return failure();
  module.walk(convertValues);
  module.walk([](arith::BitcastOp cast) {
    if (cast.getIn().getType() != cast.getType())
      return;
    cast.replaceAllUsesWith(cast.getIn());
    cast.erase();
  });
  return success();
}

} // namespace zero
