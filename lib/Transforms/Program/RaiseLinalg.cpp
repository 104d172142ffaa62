//===- RaiseLinalg.cpp - linalg to nodes ----------------------------------===//
//
// One walk over each function in program order. An op that has an equivalent is replaced by nodes
// at once, so that the operands of later ones are nodes. Scalars of the function are tensors of
// rank 0 to nodes; those that only nodes read are erased at the end.
//
//===----------------------------------------------------------------------===//

#include "dialects/TmTensor/TmTensor.h"
#include "dialects/Zero/Findings.h"
#include "zero/Programs/Linalg/LinalgNodes.h"
#include "zero/Programs/Linalg/ScatterNodes.h"
#include "zero/Transforms/Program/Passes.h"

#include "llvm/ADT/MapVector.h"

using namespace mlir;

namespace zero {
#define GEN_PASS_DEF_RAISELINALG
#include "include/zero/Transforms/Program/Passes.h.inc"

static bool isOfProgram(Operation *op) {
  return isa_and_present<linalg::LinalgDialect, tensor::TensorDialect, arith::ArithDialect,
                         math::MathDialect, tm_tensor::TmTensorDialect>(op->getDialect());
}

/// Whether the top level of `function` has ops that are raised.
static bool isProgram(func::FuncOp function) {
  if (function.isExternal() || function->hasAttr(kKernelAttr))
    return false;
  return llvm::any_of(function.getBody().front(), [](Operation &op) {
    return isOfProgram(&op) && !isa<arith::ConstantOp>(op);
  });
}

static bool isStatic(Type type) {
  auto shaped = dyn_cast<ShapedType>(type);
  return !shaped || (isa<RankedTensorType>(type) && shaped.hasStaticShape());
}

/// Whether all operands and results of `op` are scalars or tensors of static shape.
static bool isStatic(Operation *op) {
  return llvm::all_of(op->getOperandTypes(), [](Type type) { return isStatic(type); }) &&
         llvm::all_of(op->getResultTypes(), [](Type type) { return isStatic(type); });
}

namespace {
/// Replaces the ops of one function.
class Raiser {
public:
  explicit Raiser(func::FuncOp function) : function(function), body(&function.getBody().front()) {}

  void run();

private:
  void raise(Operation *op);
  bool isKnown(Operation *op);
  Value given(Value value);
  std::string nameFor(Operation *op);

  func::FuncOp function;
  Block *body;
  /// The tensors of static shape that nodes compute for scalars and tensors of dynamic shape.
  DenseMap<Value, Value> computed;
  int64_t numRaised = 0;
};
} // namespace

/// Values of the function's own block are computed before; those in regions of an op are not.
Value Raiser::given(Value value) {
  if (value.getParentBlock() != body)
    return {};
  if (Value tensor = computed.lookup(value))
    return tensor;
  bool isTensor = isa<RankedTensorType>(value.getType()) && isStatic(value.getType());
  return isTensor && !value.getDefiningOp<tensor::EmptyOp>() ? value : Value();
}

/// "matmul_12": the op and its position among those that were raised, for messages.
std::string Raiser::nameFor(Operation *op) {
  StringRef name = op->getName().stripDialect();
  return (name + "_" + Twine(numRaised++)).str();
}

/// Whether `values` can take the places of the results of `op`.
static bool fit(Operation *op, ArrayRef<Value> values) {
  for (auto [result, value] : llvm::zip_equal(op->getResults(), values)) {
    if (!value && result.use_empty())
      continue;
    bool isKnown = isa<RankedTensorType>(result.getType()) && isStatic(result.getType());
    if (!value || (isKnown && value.getType() != result.getType()))
      return false;
  }
  return true;
}

/// Whether the shapes of all tensors that `op` reads are known.
bool Raiser::isKnown(Operation *op) {
  return llvm::all_of(op->getOperands(), [&](Value operand) {
    return isStatic(operand.getType()) || computed.contains(operand);
  });
}

void Raiser::raise(Operation *op) {
  OpBuilder builder(op);
  NodeBuilder nodes(builder, op->getLoc(), nameFor(op));
  auto given = [&](Value value) { return this->given(value); };
  LinalgNodes translator(nodes, Form::Exact, given);
  bool isScatter = isa<tm_tensor::TmTensorDialect>(op->getDialect()) ||
                   isa<tensor::GatherOp, tensor::ScatterOp>(op);
  FailureOr<SmallVector<Value>> results =
      isScatter ? scatterNodes(op, nodes) : translator.translateResults(op);
  if (failed(results) || !fit(op, *results))
    return;
  for (auto [result, value] : llvm::zip_equal(op->getResults(), *results)) {
    if (!value)
      continue;
    if (value.getType() == result.getType())
      result.replaceAllUsesWith(value);
    else
      computed[result] = value;
  }
}

/// A value that needs no node: a constant, memory without content.
static bool isPlain(Operation *op) { return isa<arith::ConstantOp, tensor::EmptyOp>(op); }

void Raiser::run() {
  for (Operation &op : llvm::make_early_inc_range(*body))
    if (isOfProgram(&op) && !isPlain(&op) && isKnown(&op))
      raise(&op);
  // A node that a failed attempt made is unused; so is an op that was raised.
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(*body)))
    if (op.use_empty() && op.getNumResults() > 0 && (isOpTriviallyDead(&op) || isOfProgram(&op)))
      op.erase();
}

//===----------------------------------------------------------------------===//
// What remains
//===----------------------------------------------------------------------===//

/// Why `op` of the function can neither be raised nor be a kernel of its own; empty if it can.
static StringRef reasonAgainst(Operation *op) {
  if (isa<func::ReturnOp, onnx::NodeOp, onnx::NoneOp>(op) || isa<ZeroDialect>(op->getDialect()))
    return "";
  if (!isStatic(op))
    return "of a dynamic shape";
  bool isKernel = isa_and_present<linalg::LinalgDialect, tensor::TensorDialect, arith::ArithDialect,
                                  math::MathDialect>(op->getDialect());
  return isKernel ? "" : "which nodes do not express";
}

/// One error that lists the ops of `function` that no kernel can be made of.
static LogicalResult verifyRest(func::FuncOp function) {
  llvm::MapVector<std::pair<StringRef, StringRef>, SmallVector<Operation *>> left;
  for (Operation &op : function.getBody().front())
    if (StringRef reason = reasonAgainst(&op); !reason.empty())
      left[{op.getName().getStringRef(), reason}].push_back(&op);
  if (left.empty())
    return success();
  std::vector<Finding> findings;
  for (auto &[kind, ops] : left)
    findings.push_back({(Twine(kind.first) + ", " + kind.second + ": " + Twine(ops.size()) +
                         (ops.size() == 1 ? " op" : " ops"))
                            .str(),
                        ops.front()->getLoc()});
  InFlightDiagnostic error = function.emitError()
                             << "expected ops of linalg, tensor, arith and math on tensors of "
                                "static shape, got "
                             << left.size() << " kinds of others";
  attachFindings(error, {}, findings, /*verbose=*/false);
  return error;
}

namespace {
struct RaiseLinalg : impl::RaiseLinalgBase<RaiseLinalg> {
  void runOnOperation() override {
    for (auto function : getOperation().getOps<func::FuncOp>()) {
      if (!isProgram(function))
        continue;
      if (!function.getBody().hasOneBlock()) {
        function.emitError() << "expected a function of one block, got "
                             << llvm::range_size(function.getBody());
        return signalPassFailure();
      }
      Raiser(function).run();
      if (failed(verifyRest(function)))
        return signalPassFailure();
    }
  }
};
} // namespace
} // namespace zero
