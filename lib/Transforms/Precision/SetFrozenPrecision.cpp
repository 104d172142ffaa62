//===- SetFrozenPrecision.cpp - how frozen parameters are stored ----------===//

#include "zero/Analysis/StepFunction.h"
#include "zero/Ops/OpTable.h"
#include "zero/Ops/Tables.h"
#include "zero/Stored/CodeTable.h"
#include "zero/Transforms/Precision/HalfFloats.h"
#include "zero/Transforms/Precision/Passes.h"

#include "mlir/IR/Remarks.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;

namespace zero {
#define GEN_PASS_DEF_SETFROZENPRECISION
#include "include/zero/Transforms/Precision/Passes.h.inc"
} // namespace zero

using namespace zero;

/// Gives `parameter` elements of type `narrow`; its initial values stay as they are stored.
static void narrowParameter(ParameterOp parameter, FloatType narrow) {
  RankedTensorType type = parameter.getTensorType();
  if (DataAttr data = parameter.getDataAttr(); data && !data.getStored())
    parameter.setDataAttr(DataAttr::get(parameter.getContext(), data.getFile(), data.getOffset(),
                                        data.getBytes(), type.getElementType()));
  parameter.setType(type.clone(narrow));
}

/// Gives `value`, and views of it, elements of type `narrow`.
static void narrowViews(Value value, FloatType narrow) {
  value.setType(cast<RankedTensorType>(value.getType()).clone(narrow));
  for (Operation *user : value.getUsers())
    if (auto node = dyn_cast<onnx::NodeOp>(user))
      if (ops::isView(node) && node.getInputs().front() == value)
        narrowViews(node.getOutputs().front(), narrow);
}

/// Elements of a block, as in bitsandbytes.
static constexpr int64_t kBlock = 64;

static CodeMap mapOf(FrozenPrecision precision) {
  return precision == FrozenPrecision::NF4    ? CodeMap::NormalFloat
         : precision == FrozenPrecision::Int8 ? CodeMap::Integer
                                              : CodeMap::Float8;
}

/// Whether only products read `value`, or views of it, or sums of squares, which adapters compute
/// beside products. None of them gives the scores of a loss, whose weights stay as they are in
/// QLoRA, too.
static bool onlyProductsRead(Value value) {
  return llvm::all_of(value.getUses(), [](OpOperand &use) {
    auto node = dyn_cast<onnx::NodeOp>(use.getOwner());
    if (ops::isView(node))
      return onlyProductsRead(node.getOutputs().front());
    if (ops::computes(node, ops::Function::ReduceSumSquare))
      return true;
    return ops::computes(node, ops::Function::Product) && use.getOperandNumber() < 2 &&
           !ops::lossOfScores(node);
  });
}

namespace {
struct SetFrozenPrecision : zero::impl::SetFrozenPrecisionBase<SetFrozenPrecision> {
  using SetFrozenPrecisionBase::SetFrozenPrecisionBase;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    FailureOr<func::FuncOp> step = findStep(module);
    if (failed(step))
      return signalPassFailure();
    const bool isAllNarrow = module->hasAttr(kPrecisionAttr);
    if (isAllNarrow && !isInBlocks(precision)) {
      emitError(module.getLoc()) << flag() << ": expected no --precision, which stores all "
                                 << "parameters in 16 bits; leave one of the two out";
      return signalPassFailure();
    }
    const unsigned coded = isInBlocks(precision) ? planBlocks(*step) : 0;
    const unsigned narrowed = isAllNarrow ? 0 : narrowFrozen(*step);
    if (coded + narrowed == 0) {
      emitError(module.getLoc()) << flag() << ": expected frozen parameters of f32, found none; "
                                 << "say what is frozen with --freeze or --trainable";
      return signalPassFailure();
    }
    if (!isAllNarrow)
      module->setAttr(kFrozenPrecisionAttr, TypeAttr::get(narrow()));
    report(*step, coded, narrowed);
  }

private:
  std::string flag() const { return "--frozen-precision=" + wordOf(precision.getValue()).str(); }
  /// The type of what has no codes.
  FloatType narrow() {
    return precision == FrozenPrecision::F16 ? FloatType(Float16Type::get(&getContext()))
                                             : BFloat16Type::get(&getContext());
  }
  unsigned planBlocks(func::FuncOp step);
  unsigned narrowFrozen(func::FuncOp step);
  void report(func::FuncOp step, unsigned coded, unsigned narrowed);
};
} // namespace

/// Gives blocks to the matrices that only products read. Returns their number.
unsigned SetFrozenPrecision::planBlocks(func::FuncOp step) {
  llvm::DenseMap<StringAttr, bool> ofProducts;
  for (auto read : step.getBody().getOps<ReadOp>())
    ofProducts.try_emplace(read.getSymbolAttr().getAttr(), true).first->second &=
        onlyProductsRead(read.getResult());
  unsigned count = 0;
  for (auto parameter : getOperation().getOps<ParameterOp>()) {
    RankedTensorType type = parameter.getTensorType();
    const int64_t elements = type.getNumElements();
    if (!parameter.getFrozen() || !isa<FloatType>(type.getElementType()) || type.getRank() < 2 ||
        elements < kLeastCodedElements || elements % kBlock != 0 ||
        !ofProducts.lookup(parameter.getSymNameAttr()))
      continue;
    auto scales =
        FlatSymbolRefAttr::get(&getContext(), (parameter.getSymName() + kScaleSuffix).str());
    const unsigned bits = precision == FrozenPrecision::NF4 ? 4 : 8;
    parameter.setBlocksAttr(BlocksAttr::get(&getContext(), bits, kBlock, mapOf(precision), scales));
    ++count;
  }
  return count;
}

/// Narrows the other frozen parameters. Returns their number.
unsigned SetFrozenPrecision::narrowFrozen(func::FuncOp step) {
  llvm::DenseSet<StringAttr> frozen;
  for (auto parameter : getOperation().getOps<ParameterOp>())
    if (parameter.getFrozen() && !parameter.getBlocks() &&
        parameter.getTensorType().getElementType().isF32()) {
      narrowParameter(parameter, narrow());
      frozen.insert(parameter.getSymNameAttr());
    }
  for (auto read : step.getOps<ReadOp>())
    if (frozen.contains(read.getSymbolAttr().getAttr()))
      narrowViews(read.getResult(), narrow());
  return frozen.size();
}

void SetFrozenPrecision::report(func::FuncOp step, unsigned coded, unsigned narrowed) {
  StringRef word = wordOf(precision.getValue());
  std::string text;
  if (coded > 0)
    text = llvm::formatv("{0} frozen {1} stored as {2} codes in blocks of {3}, and decoded before "
                         "{4} read",
                         coded, coded == 1 ? "matrix is" : "matrices are", word, kBlock,
                         coded == 1 ? "it is" : "they are");
  if (narrowed > 0)
    text += llvm::formatv("{0}{1} frozen parameters are stored as {2}, and extended where they are "
                          "read",
                          coded > 0 ? "; " : "", narrowed, isInBlocks(precision) ? "bf16" : word);
  remark::passed(step->getLoc(), remark::RemarkOpts::name("frozen").category("precision")) << text;
}
