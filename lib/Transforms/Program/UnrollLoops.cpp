//===- UnrollLoops.cpp - unroll loops of constant trip count --------------===//
//
// A loop is run as far as constants decide: if its condition folds to true for the values that the
// loop carries, its body is copied, and what follows from constants in the copy is known in the
// next iteration. So a counter may have any form that folds, and an inner loop may depend on an
// outer counter.
//
//===----------------------------------------------------------------------===//

#include "dialects/StableHlo/StableHlo.h"
#include "zero/Programs/StableHlo/Fold.h"
#include "zero/Programs/StableHlo/Limits.h"
#include "zero/Transforms/Program/Passes.h"

#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/SmallVectorExtras.h"

using namespace mlir;

namespace zero {
#define GEN_PASS_DEF_UNROLLLOOPS
#include "include/zero/Transforms/Program/Passes.h.inc"

namespace {
class Unroller {
public:
  explicit Unroller(MLIRContext *context) : builder(context) {}

  /// Unrolls the loops of `block`.
  LogicalResult run(Block &block);

private:
  /// The constants of values: scalars, which counters are.
  DenseElementsAttr constantOf(Value value) const { return constants.lookup(value); }
  void learn(Operation *op);
  void copyOp(Operation &op, IRMapping &mapping);
  FailureOr<bool> expand(Operation &op, IRMapping &mapping, SmallVectorImpl<Value> &results);
  LogicalResult copyBody(Block &body, IRMapping &mapping);
  LogicalResult unroll(stablehlo::WhileOp loop, ValueRange start, SmallVectorImpl<Value> &results);
  std::optional<bool> evaluate(Region &condition, ValueRange arguments);
  FailureOr<Block *> takenBranch(Operation *op, Value index);
  LogicalResult copyBranch(Operation *op, IRMapping &mapping, SmallVectorImpl<Value> &results);

  OpBuilder builder;
  llvm::DenseMap<Value, DenseElementsAttr> constants;
  unsigned depth = 0;
  int64_t steps = 0;
};
} // namespace

/// Branches that data decides, and what a pass cannot look into.
static bool isBranch(Operation *op) {
  StringRef name = op->getName().getStringRef();
  return name == "stablehlo.if" || name == "stablehlo.case";
}

/// The block of the branch that `index` selects. JAX selects by a constant what depends on the
/// platform.
FailureOr<Block *> Unroller::takenBranch(Operation *op, Value index) {
  DenseElementsAttr known = constantOf(index);
  if (!known || known.getNumElements() != 1 || !isa<IntegerType>(known.getElementType())) {
    InFlightDiagnostic error = op->emitError() << "expected no branch that data decides, got "
                                               << op->getName().getStringRef();
    error.attachNote() << "the schedule of a step is fixed before it runs; compute both branches "
                          "and select, with jnp.where or lax.select";
    return error;
  }
  const APInt number = known.getSplatValue<APInt>();
  const unsigned last = op->getNumRegions() - 1;
  // `if` has the branch for true first. An index that is out of range takes the last branch.
  unsigned taken = number.getLimitedValue(last);
  if (op->getName().getStringRef() == "stablehlo.if")
    taken = number.isZero() ? last : 0;
  Region &region = op->getRegion(taken);
  Block *block = region.hasOneBlock() ? &region.front() : nullptr;
  auto yield = block && !block->empty() ? dyn_cast<stablehlo::ReturnOp>(block->back())
                                        : stablehlo::ReturnOp();
  if (!yield || block->getNumArguments() != 0 || yield.getOperandTypes() != op->getResultTypes())
    return op->emitError() << "expected branches of one block that return the results";
  return block;
}

/// Copies the branch of `op` that is taken.
LogicalResult Unroller::copyBranch(Operation *op, IRMapping &mapping,
                                   SmallVectorImpl<Value> &results) {
  if (op->getNumOperands() != 1 || op->getNumRegions() == 0)
    return op->emitError() << "expected an index and a branch";
  FailureOr<Block *> block = takenBranch(op, mapping.lookupOrDefault(op->getOperand(0)));
  if (failed(block) || failed(copyBody(**block, mapping)))
    return failure();
  for (Value value : (*block)->getTerminator()->getOperands())
    results.push_back(mapping.lookupOrDefault(value));
  return success();
}

/// Records the result of `op` if it is a small constant.
void Unroller::learn(Operation *op) {
  constexpr int64_t kMostElements = 16;
  if (op->getNumResults() != 1)
    return;
  auto type = dyn_cast<RankedTensorType>(op->getResult(0).getType());
  if (!type || !type.hasStaticShape() || type.getNumElements() > kMostElements)
    return;
  auto operands =
      llvm::map_to_vector(op->getOperands(), [&](Value value) { return constantOf(value); });
  if (DenseElementsAttr value = hlo::fold(op, operands))
    constants[op->getResult(0)] = value;
}

/// Whether `condition` holds for `arguments`, if constants decide that.
std::optional<bool> Unroller::evaluate(Region &condition, ValueRange arguments) {
  llvm::DenseMap<Value, DenseElementsAttr> known;
  auto lookup = [&](Value value) {
    auto found = known.find(value);
    return found == known.end() ? constantOf(value) : found->second;
  };
  Block &block = condition.front();
  for (auto [argument, value] : llvm::zip_equal(block.getArguments(), arguments))
    known[argument] = constantOf(value);
  for (Operation &op : block.without_terminator()) {
    ++steps;
    if (op.getNumResults() != 1 || !isa<RankedTensorType>(op.getResult(0).getType()))
      return std::nullopt;
    auto operands = llvm::map_to_vector(op.getOperands(), lookup);
    known[op.getResult(0)] = hlo::fold(&op, operands);
  }
  DenseElementsAttr result = lookup(block.getTerminator()->getOperand(0));
  return result ? std::optional(!result.getSplatValue<APInt>().isZero()) : std::nullopt;
}

LogicalResult Unroller::unroll(stablehlo::WhileOp loop, ValueRange start,
                               SmallVectorImpl<Value> &results) {
  SmallVector<Value> carried(start);
  for (int64_t iteration = 0;; ++iteration) {
    std::optional<bool> goesOn = evaluate(loop.getCond(), carried);
    if (!goesOn) {
      InFlightDiagnostic error = loop.emitError()
                                 << "expected a loop whose number of iterations follows from "
                                    "constants; iteration "
                                 << iteration << " depends on data";
      error.attachNote() << "the schedule of a step is fixed before it runs; use lax.scan or "
                            "lax.fori_loop with constant bounds";
      return error;
    }
    if (!*goesOn)
      break;
    // An iteration without ops counts as one, so that an endless loop ends here.
    if (++steps > hlo::kMostOps)
      return loop.emitError() << "expected at most " << hlo::kMostOps
                              << " ops with all loops unrolled";
    IRMapping mapping;
    Block &body = loop.getBody().front();
    mapping.map(body.getArguments(), carried);
    if (failed(copyBody(body, mapping)))
      return failure();
    carried = llvm::map_to_vector(body.getTerminator()->getOperands(),
                                  [&](Value value) { return mapping.lookupOrDefault(value); });
  }
  results = carried;
  return success();
}

/// Copies `op`. A result that is a known constant is an op of its own.
void Unroller::copyOp(Operation &op, IRMapping &mapping) {
  Operation *copy = builder.clone(op, mapping);
  learn(copy);
  if (copy->getNumResults() != 1 || copy->getNumOperands() == 0)
    return;
  Value result = copy->getResult(0);
  DenseElementsAttr value = constantOf(result);
  if (!value)
    return;
  constants.erase(result);
  auto constant = stablehlo::ConstantOp::create(builder, op.getLoc(), value.getType(), value);
  mapping.map(op.getResult(0), constant.getResult());
  constants[constant.getResult()] = value;
  copy->erase();
}

/// Replaces `op` by copies of what it runs, if it is a loop or a branch.
FailureOr<bool> Unroller::expand(Operation &op, IRMapping &mapping,
                                 SmallVectorImpl<Value> &results) {
  if (isBranch(&op))
    return failed(copyBranch(&op, mapping, results)) ? FailureOr<bool>() : true;
  auto loop = dyn_cast<stablehlo::WhileOp>(op);
  if (!loop)
    return false;
  auto start = llvm::map_to_vector(op.getOperands(),
                                   [&](Value value) { return mapping.lookupOrDefault(value); });
  return failed(unroll(loop, start, results)) ? FailureOr<bool>() : true;
}

LogicalResult Unroller::copyBody(Block &body, IRMapping &mapping) {
  if (++depth > hlo::kMostNesting)
    return body.getParentOp()->emitError()
           << "expected loops nested at most " << hlo::kMostNesting << " deep";
  for (Operation &op : body.without_terminator()) {
    if (++steps > hlo::kMostOps)
      return op.emitError() << "expected at most " << hlo::kMostOps
                            << " ops with all loops unrolled";
    SmallVector<Value> results;
    FailureOr<bool> expanded = expand(op, mapping, results);
    if (failed(expanded))
      return failure();
    if (*expanded)
      mapping.map(op.getResults(), results);
    else
      copyOp(op, mapping);
  }
  --depth;
  return success();
}

LogicalResult Unroller::run(Block &block) {
  IRMapping same;
  for (Operation &op : llvm::make_early_inc_range(block)) {
    builder.setInsertionPoint(&op);
    SmallVector<Value> results;
    FailureOr<bool> expanded = expand(op, same, results);
    if (failed(expanded))
      return failure();
    if (!*expanded) {
      learn(&op);
      continue;
    }
    op.replaceAllUsesWith(results);
    op.erase();
  }
  return success();
}

namespace {
struct UnrollLoops : impl::UnrollLoopsBase<UnrollLoops> {
  void runOnOperation() override {
    for (auto function : getOperation().getOps<func::FuncOp>())
      for (Block &block : function.getBody())
        if (failed(Unroller(&getContext()).run(block)))
          return signalPassFailure();
  }
};
} // namespace
} // namespace zero
