//===- InlineCalls.cpp - inline calls into the program --------------------===//
//
// The program is copied op by op into a new body. A call is replaced by a copy of its callee, so
// each op of the result is copied once, whatever the depth of the calls.
//
//===----------------------------------------------------------------------===//

#include "dialects/StableHlo/StableHlo.h"
#include "zero/Programs/StableHlo/Limits.h"
#include "zero/Transforms/Program/Passes.h"

#include "mlir/IR/IRMapping.h"
#include "mlir/IR/SymbolTable.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/SmallVectorExtras.h"

using namespace mlir;

namespace zero {
#define GEN_PASS_DEF_INLINECALLS
#include "include/zero/Transforms/Program/Passes.h.inc"

/// The only public function, else `main`; null without functions.
static FailureOr<func::FuncOp> findProgram(ModuleOp module) {
  SmallVector<func::FuncOp> visible;
  func::FuncOp main;
  for (auto function : module.getOps<func::FuncOp>()) {
    if (function.isPublic())
      visible.push_back(function);
    if (function.getName() == "main")
      main = function;
  }
  if (visible.size() == 1)
    return visible.front();
  if (main || module.getOps<func::FuncOp>().empty())
    return main;
  return module.emitError() << "expected one public function, or one with the name 'main', got "
                            << visible.size() << " public functions";
}

namespace {
class Inliner {
public:
  explicit Inliner(ModuleOp module) : symbols(module), builder(module.getContext()) {}

  LogicalResult run(func::FuncOp program) {
    if (!program.getBody().hasOneBlock())
      return program.emitError() << "expected a function of one block";
    Block &old = program.getBody().front();
    auto *block = new Block;
    IRMapping mapping;
    for (BlockArgument argument : old.getArguments())
      mapping.map(argument, block->addArgument(argument.getType(), argument.getLoc()));
    program.getBody().push_back(block);
    builder.setInsertionPointToEnd(block);
    active.insert(program);
    if (failed(copyOps(old, mapping, /*withTerminator=*/true)))
      return failure();
    old.erase();
    return success();
  }

private:
  LogicalResult copyOps(Block &block, IRMapping &mapping, bool withTerminator);
  LogicalResult copyOp(Operation &op, IRMapping &mapping);
  LogicalResult copyRegion(Region &from, Region &to, IRMapping &mapping);
  LogicalResult copyCallee(Operation *call, StringRef name, IRMapping &mapping);

  SymbolTable symbols;
  OpBuilder builder;
  /// The functions whose copies enclose the insertion point.
  llvm::SetVector<func::FuncOp> active;
  unsigned depth = 0;
  int64_t copied = 0;
};
} // namespace

LogicalResult Inliner::copyRegion(Region &from, Region &to, IRMapping &mapping) {
  OpBuilder::InsertionGuard guard(builder);
  for (Block &block : from) {
    auto *copy = new Block;
    to.push_back(copy);
    mapping.map(&block, copy);
    for (BlockArgument argument : block.getArguments())
      mapping.map(argument, copy->addArgument(argument.getType(), argument.getLoc()));
  }
  for (Block &block : from) {
    builder.setInsertionPointToEnd(mapping.lookup(&block));
    if (failed(copyOps(block, mapping, /*withTerminator=*/true)))
      return failure();
  }
  return success();
}

LogicalResult Inliner::copyCallee(Operation *call, StringRef name, IRMapping &mapping) {
  auto callee = symbols.lookup<func::FuncOp>(name);
  if (!callee || !callee.getBody().hasOneBlock() ||
      callee.getArgumentTypes() != call->getOperandTypes() ||
      callee.getResultTypes() != call->getResultTypes())
    return call->emitError() << "expected a function of these types with one block as '" << name
                             << "'";
  if (!active.insert(callee))
    return call->emitError() << "expected no recursion, got a call of '" << name
                             << "' inside of it";
  IRMapping inner;
  for (auto [argument, operand] : llvm::zip_equal(callee.getArguments(), call->getOperands()))
    inner.map(argument, mapping.lookupOrDefault(operand));
  Block &body = callee.getBody().front();
  if (failed(copyOps(body, inner, /*withTerminator=*/false)))
    return failure();
  for (auto [result, value] :
       llvm::zip_equal(call->getResults(), body.getTerminator()->getOperands()))
    mapping.map(result, inner.lookupOrDefault(value));
  active.remove(callee);
  return success();
}

LogicalResult Inliner::copyOp(Operation &op, IRMapping &mapping) {
  if (auto call = dyn_cast<func::CallOp>(op))
    return copyCallee(call, call.getCallee(), mapping);
  if (auto composite = dyn_cast<stablehlo::CompositeOp>(op))
    return copyCallee(composite, composite.getDecomposition(), mapping);
  if (++copied > hlo::kMostOps)
    return op.emitError() << "expected at most " << hlo::kMostOps << " ops with all calls inlined";
  Operation *copy = builder.insert(op.cloneWithoutRegions(mapping));
  for (auto [from, to] : llvm::zip_equal(op.getRegions(), copy->getRegions()))
    if (failed(copyRegion(from, to, mapping)))
      return failure();
  return success();
}

LogicalResult Inliner::copyOps(Block &block, IRMapping &mapping, bool withTerminator) {
  if (++depth > hlo::kMostNesting)
    return block.getParentOp()->emitError()
           << "expected calls and regions nested at most " << hlo::kMostNesting << " deep";
  for (Operation &op : block) {
    if (!withTerminator && &op == &block.back())
      break;
    if (failed(copyOp(op, mapping)))
      return failure();
  }
  --depth;
  return success();
}

namespace {
struct InlineCalls : impl::InlineCallsBase<InlineCalls> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    FailureOr<func::FuncOp> program = findProgram(module);
    if (failed(program) || (*program && failed(Inliner(module).run(*program))))
      return signalPassFailure();
    for (auto function : llvm::make_early_inc_range(module.getOps<func::FuncOp>()))
      if (function != *program)
        function.erase();
  }
};
} // namespace
} // namespace zero
