//===- UpdateBuffers.cpp - running statistics as state --------------------===//

#include "zero/Analysis/StepFunction.h"
#include "zero/Ops/BatchNorm.h"
#include "zero/Ops/Function.h"
#include "zero/Transforms/Import/Passes.h"

#include "mlir/IR/SymbolTable.h"
#include "llvm/ADT/MapVector.h"

using namespace mlir;

namespace zero {
#define GEN_PASS_DEF_UPDATEBUFFERS
#include "include/zero/Transforms/Import/Passes.h.inc"
} // namespace zero

using namespace zero;

/// Running mean and variance: operands 3 and 4, results 1 and 2.
static constexpr unsigned kFirstOperand = 3, kFirstResult = 1, kStatistics = 2;

/// `node` with the results that a model may leave out, and with `unbiased` set.
static onnx::NodeOp withStatistics(onnx::NodeOp node) {
  OpBuilder builder(node);
  NamedAttrList attrs(node.getAttrs());
  attrs.set("unbiased", builder.getI64IntegerAttr(1));
  SmallVector<Type> results{node.getResult(0).getType()};
  for (unsigned i = 0; i < kStatistics; ++i)
    results.push_back(node.inputType(kFirstOperand + i));
  auto whole = onnx::NodeOp::create(builder, node.getLoc(), results, node.getOpTypeAttr(),
                                    node.getInputs(), attrs.getDictionary(node.getContext()),
                                    node.getDomainAttr(), node.getOpsetAttr(), node.getNodeAttr());
  node->replaceAllUsesWith(whole->getResults().take_front(node->getNumResults()));
  node.erase();
  return whole;
}

/// PyTorch's exporter writes the statistics that a call leaves as an Identity of those before it.
static Value throughIdentities(Value value) {
  auto node = value.getDefiningOp<onnx::NodeOp>();
  return node && ops::isIdentity(node) ? throughIdentities(node.getInputs().front()) : value;
}

namespace {
struct UpdateBuffers : zero::impl::UpdateBuffersBase<UpdateBuffers> {
  void runOnOperation() override {
    FailureOr<func::FuncOp> step = findStep(getOperation());
    if (failed(step))
      return signalPassFailure();
    SymbolTable symbols(getOperation());
    // A whole step says itself what becomes of its state.
    const bool isWhole = getOperation()->hasAttr(kWholeStepAttr);
    if (isWhole && hasTrainingNodes(*step))
      return; // what is a parameter is not known yet
    for (Operation &op : llvm::make_early_inc_range(step->getBody().front())) {
      if (auto read = dyn_cast<ReadOp>(op)) {
        auto state = symbols.lookup<StateOp>(read.getSymbol());
        if (state && state.getRole() == Role::Constant)
          symbolOf[read.getResult()] = read.getSymbolAttr().getAttr();
      } else if (auto node = dyn_cast<onnx::NodeOp>(op);
                 node && !isWhole && trainsBatchNorm(node)) {
        update(node);
      } else if (auto write = dyn_cast<WriteOp>(op)) {
        if (failed(markBuffer(symbols, write)))
          return signalPassFailure();
      }
    }
    OpBuilder builder(step->getBody().front().getTerminator());
    for (auto &[symbol, value] : next) {
      symbols.lookup<StateOp>(symbol).setRole(Role::Buffer);
      WriteOp::create(builder, value.getLoc(), FlatSymbolRefAttr::get(symbol), value);
    }
    symbolOf.clear();
    next.clear();
  }

  /// A state that forward of the module writes is a buffer, unless the user trains it.
  LogicalResult markBuffer(SymbolTable &symbols, WriteOp write) {
    auto state = symbols.lookup<StateOp>(write.getSymbol());
    if (state && state.getRole() == Role::Optimizer) // a counter
      return success();
    if (!state)
      return write.emitError() << "'" << write.getSymbol()
                               << "' is a buffer that the model's forward updates: expected it not "
                                  "to be trained; leave it out of --trainable";
    state.setRole(Role::Buffer);
    return success();
  }

  void update(onnx::NodeOp node) {
    auto symbol = [&](unsigned i) {
      return symbolOf.lookup(throughIdentities(node.getInputs()[kFirstOperand + i]));
    };
    if (!symbol(0) && !symbol(1))
      return;
    node = withStatistics(node);
    for (unsigned i = 0; i < kStatistics; ++i) {
      StringAttr name = symbol(i);
      if (!name)
        continue;
      // A node that shares its statistics continues from those of the previous node.
      if (Value before = next.lookup(name))
        node->setOperand(kFirstOperand + i, before);
      Value result = node.getOutputs()[kFirstResult + i];
      next[name] = result;
      symbolOf[result] = name;
    }
  }

  /// Values that hold a state's value at some point of the step.
  llvm::DenseMap<Value, StringAttr> symbolOf;
  /// The latest value of each state.
  llvm::MapVector<StringAttr, Value> next;
};
} // namespace
