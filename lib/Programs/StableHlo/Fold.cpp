//===- Fold.cpp - results of ops of StableHLO on constants ----------------===//
//
// The rule of an op emits nodes, which are evaluated one after the other.
//
//===----------------------------------------------------------------------===//

#include "zero/Programs/StableHlo/Fold.h"

#include "Rules.h"
#include "zero/Ops/Evaluate.h"
#include "zero/Ops/OpTable.h"

#include "mlir/IR/DialectResourceBlobManager.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/SmallVectorExtras.h"

using namespace mlir;
using namespace zero::stablehlo;

namespace zero::hlo {

bool isElementType(Type type) { return ops::elementTypeOf(type).has_value(); }

/// The value of a constant, also one whose bytes are a resource of the file.
static DenseElementsAttr valueOf(ConstantOp op) {
  if (auto elements = dyn_cast<DenseElementsAttr>(op.getValue()))
    return elements;
  auto resource = dyn_cast<DenseResourceElementsAttr>(op.getValue());
  AsmResourceBlob *blob = resource ? resource.getRawHandle().getBlob() : nullptr;
  bool isSplat = false;
  if (!blob || !DenseElementsAttr::isValidRawBuffer(op.getType(), blob->getData(), isSplat))
    return {};
  return DenseElementsAttr::getFromRawBuffer(op.getType(), blob->getData());
}

static bool areSplats(ArrayRef<DenseElementsAttr> operands) {
  return llvm::all_of(operands, [](DenseElementsAttr a) { return !a || a.isSplat(); });
}

static bool isNormal(const APFloat &value) { return value.isFinite() && !value.isDenormal(); }

/// A result that is denormal or not finite is left to the step, as is a number that an integer type
/// does not have.
static bool isSafe(const ops::OpDef &def, Type operand, DenseElementsAttr result, bool exact) {
  if (!isa<FloatType>(operand) || def.kind == ops::Kind::View || def.narrow == ops::Narrow::Move)
    return true;
  if (!isa<FloatType>(result.getElementType()))
    return exact;
  return result.isSplat() ? isNormal(result.getSplatValue<APFloat>())
                          : llvm::all_of(result.getValues<APFloat>(), isNormal);
}

/// Records the result of `node` if it follows from `constants`.
static void learn(onnx::NodeOp node, Constants &constants) {
  const ops::OpDef *def = ops::lookup(node);
  if (!def || node.getNumResults() != 1 || node.getInputs().empty())
    return;
  auto operands = llvm::map_to_vector(node.getInputs(), [&](Value value) {
    DenseElementsAttr known = constants.lookup(value);
    if (!known)
      matchPattern(value, m_Constant(&known));
    return known;
  });
  const evaluate::Evaluator &evaluator = def->evaluator;
  auto read = ArrayRef(operands).take_front(evaluator.element ? evaluator.reads : 1);
  const bool isSplat = evaluator.keepsSplats() && areSplats(read);
  // What is between may have wider elements than the result.
  if (!operands.front() ||
      (tensorType(node.getResult(0)).getNumElements() > kMostFoldedBytes && !isSplat))
    return;
  bool exact = true;
  auto results = ops::evaluateNode(node, operands, exact);
  if (!results.empty() && isSafe(*def, operands.front().getElementType(), results[0], exact))
    constants[node.getResult(0)] = results[0];
}

DenseElementsAttr fold(Operation *op, ArrayRef<DenseElementsAttr> operands) {
  if (auto constant = dyn_cast<ConstantOp>(op))
    return valueOf(constant);
  // A write to a slice is one of a stack (Stacks.h), which has a better form than a constant.
  if (op->getNumResults() != 1 || op->getNumRegions() != 0 || isa<DynamicUpdateSliceOp>(op) ||
      llvm::is_contained(operands, nullptr))
    return {};
  auto type = dyn_cast<RankedTensorType>(op->getResult(0).getType());
  auto rule = ruleTable().find(op->getName().getStringRef());
  auto isKnown = [](Type type) { return isElementType(getElementTypeOrSelf(type)); };
  if (rule == ruleTable().end() || !type || !isKnown(type) ||
      !llvm::all_of(op->getOperandTypes(), isKnown) || type.getNumElements() == 0)
    return {};
  const int64_t most = kMostFoldedBytes / llvm::divideCeil(type.getElementTypeBitWidth(), 8);
  if (type.getNumElements() > most && !areSplats(operands))
    return {};
  Block block;
  OpBuilder builder(op->getContext());
  builder.setInsertionPointToEnd(&block);
  IRMapping mapping;
  Constants constants;
  for (auto [value, known] : llvm::zip_equal(op->getOperands(), operands)) {
    mapping.map(value, arith::ConstantOp::create(builder, op->getLoc(), known).getResult());
    constants[mapping.lookup(value)] = known;
  }
  Operation *copy = builder.clone(*op, mapping);
  builder.setInsertionPoint(copy);
  Emitter b(builder, op->getLoc(), "", constants);
  SmallVector<Value> results;
  if (failed(rule->second(copy, b, results)))
    return {};
  for (auto node : block.getOps<onnx::NodeOp>())
    learn(node, constants);
  DenseElementsAttr result = constants.lookup(results.front());
  return result && result.getType() == type ? result : DenseElementsAttr();
}

} // namespace zero::hlo
