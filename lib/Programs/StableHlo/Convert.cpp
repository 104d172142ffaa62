//===- Convert.cpp - convert StableHLO to nodes ---------------------------===//
//
// One walk in order: the operands of an op are nodes when its rule runs. What follows from
// constants becomes a constant, writes to slices of a tensor are collected (Stacks.h), and the rest
// is converted by the table of rules. An op without a form stays until the end of the walk, so that
// one error names all of them.
//
//===----------------------------------------------------------------------===//

#include "zero/Programs/StableHlo/Convert.h"

#include "Rules.h"
#include "Stacks.h"
#include "dialects/Zero/Findings.h"
#include "zero/Programs/StableHlo/Fold.h"

#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SmallVectorExtras.h"

using namespace mlir;

namespace zero::hlo {

const RuleTable &ruleTable() {
  static const RuleTable table = [] {
    RuleTable rules;
    for (auto add : {addElementwiseRules, addIntegerRules, addFunctionRules, addMovementRules,
                     addDynamicSliceRules, addProductRules, addConvolutionRules, addReductionRules,
                     addWindowRules, addGatherRules, addScatterRules, addSortRules, addRandomRules,
                     addAnnotationRules})
      add(rules);
    return rules;
  }();
  return table;
}

Block *scalarBody(Region &region, TypeRange arguments) {
  if (!region.hasOneBlock())
    return nullptr;
  Block &block = region.front();
  if (block.getArgumentTypes() != arguments || block.empty() ||
      !isa<stablehlo::ReturnOp>(block.back()))
    return nullptr;
  return &block;
}

StringRef combinerOf(Region &region) {
  if (!region.hasOneBlock() || region.getNumArguments() != 2 || region.front().empty())
    return {};
  Block &block = region.front();
  auto yield = dyn_cast<stablehlo::ReturnOp>(block.back());
  if (!yield || yield->getNumOperands() != 1)
    return {};
  if (yield->getOperand(0) == block.getArgument(1))
    return "second";
  Operation *combine = yield->getOperand(0).getDefiningOp();
  if (!combine || combine->getBlock() != &block || combine->getNumOperands() != 2)
    return {};
  Value a = combine->getOperand(0), b = combine->getOperand(1);
  Value first = block.getArgument(0), second = block.getArgument(1);
  const bool takesBoth = (a == first && b == second) || (a == second && b == first);
  return takesBoth ? combine->getName().getStringRef() : StringRef();
}

/// The name that JAX gave an op, "jit(step)/dot_general", if it was printed with locations.
static StringRef nameOf(Location where) {
  if (auto name = where->findInstanceOf<NameLoc>())
    return name.getName();
  return {};
}

namespace {
class FunctionConverter {
public:
  explicit FunctionConverter(func::FuncOp function)
      : function(function), builder(function.getContext()) {}

  LogicalResult run() {
    Block &body = function.getBody().front();
    for (Operation &op : llvm::make_early_inc_range(body))
      convert(&op);
    if (!findings.empty())
      return report();
    eraseDead(body);
    return success();
  }

private:
  static bool isConverted(Operation *op) {
    return isa_and_nonnull<stablehlo::StableHloDialect, chlo::ChloDialect, sdy::SdyDialect>(
        op->getDialect());
  }

  Emitter emitterAt(Operation *op) {
    builder.setInsertionPoint(op);
    return Emitter(builder, op->getLoc(), nameOf(op->getLoc()), constants);
  }

  void convert(Operation *op);
  void replace(Operation *op, ValueRange values);
  void applyRule(Operation *op);
  bool replaceEmpty(Operation *op);
  bool readsStack(Operation *op);
  void buildStacks(Operation *op);
  std::string wrongType(Operation *op);
  void addFinding(Operation *op, StringRef why);
  LogicalResult report();
  static void eraseDead(Block &body);

  func::FuncOp function;
  OpBuilder builder;
  Constants constants;
  Stacks stacks;
  /// What is not supported, and where.
  llvm::MapVector<StringAttr, SmallVector<Location>> findings;
};
} // namespace

void FunctionConverter::addFinding(Operation *op, StringRef why) {
  std::string text = op->getName().getStringRef().str();
  if (!why.empty())
    text += ": " + why.str();
  findings[StringAttr::get(op->getContext(), text)].push_back(op->getLoc());
}

LogicalResult FunctionConverter::report() {
  std::vector<Finding> notes;
  for (auto &[text, where] : findings) {
    std::string times = where.size() > 1 ? " (" + std::to_string(where.size()) + " times)" : "";
    notes.push_back({text.str() + times, where.front()});
  }
  InFlightDiagnostic error = emitError(function.getLoc())
                             << notes.size() << (notes.size() == 1 ? " op is" : " ops are")
                             << " not supported";
  attachFindings(error, {}, notes, /*verbose=*/true);
  return error;
}

/// The first type of `op` that nodes do not have, as a text; empty if there is none.
std::string FunctionConverter::wrongType(Operation *op) {
  for (TypeRange types : {TypeRange(op->getOperandTypes()), TypeRange(op->getResultTypes())})
    for (Type type : types) {
      auto tensor = dyn_cast<RankedTensorType>(type);
      constexpr int64_t kMostElements = int64_t(1) << 40;
      int64_t elements = 1;
      bool fits = tensor && tensor.hasStaticShape() && isElementType(tensor.getElementType());
      for (int64_t size : fits ? tensor.getShape() : ArrayRef<int64_t>())
        fits = fits && !llvm::MulOverflow(elements, size, elements) && elements <= kMostElements &&
               size <= kMostElements;
      if (fits)
        continue;
      std::string text;
      llvm::raw_string_ostream(text) << "type " << type;
      return text;
    }
  return {};
}

void FunctionConverter::replace(Operation *op, ValueRange values) {
  op->replaceAllUsesWith(values);
  op->erase();
}

/// Replaces `op` if it has results, but they have no elements. What it computes does not matter.
bool FunctionConverter::replaceEmpty(Operation *op) {
  if (op->getNumResults() == 0 || !ruleTable().contains(op->getName().getStringRef()))
    return false;
  Emitter b = emitterAt(op);
  SmallVector<Value> results;
  for (Value result : op->getResults()) {
    if (productOf(shapeOf(result)) != 0)
      return false;
    results.push_back(b.expand(b.number(0, elementOf(result)), shapeOf(result)));
  }
  replace(op, results);
  return true;
}

/// Whether `op` reads or extends a pending stack, which then need not be built.
bool FunctionConverter::readsStack(Operation *op) {
  Emitter b = emitterAt(op);
  if (auto slice = dyn_cast<stablehlo::DynamicSliceOp>(op)) {
    Value value = stacks.read(slice, b);
    if (!value || value.getType() != slice.getType())
      return false;
    replace(op, value);
    return true;
  }
  auto update = dyn_cast<stablehlo::DynamicUpdateSliceOp>(op);
  if (!update)
    return false;
  // What an outer loop writes may be a stack of an inner one.
  if (Value slice = update.getUpdate(); stacks.isPending(slice))
    slice.replaceAllUsesWith(stacks.build(slice, b));
  return stacks.push(update, b);
}

void FunctionConverter::buildStacks(Operation *op) {
  for (OpOperand &operand : op->getOpOperands()) {
    Value stack = operand.get();
    if (!stacks.isPending(stack))
      continue;
    Emitter b = emitterAt(op);
    stack.replaceAllUsesWith(stacks.build(stack, b));
  }
}

void FunctionConverter::applyRule(Operation *op) {
  auto rule = ruleTable().find(op->getName().getStringRef());
  if (rule == ruleTable().end())
    return addFinding(op, "");
  Emitter b = emitterAt(op);
  SmallVector<Value> results;
  if (failed(rule->second(op, b, results)))
    return addFinding(op, b.getReason());
  for (auto [index, value] : llvm::enumerate(results))
    if (value.getType() != op->getResult(index).getType()) {
      std::string text;
      llvm::raw_string_ostream(text) << "expected a result of " << value.getType() << ", got "
                                     << op->getResult(index).getType();
      return addFinding(op, text);
    }
  replace(op, results);
}

void FunctionConverter::convert(Operation *op) {
  if (!isConverted(op)) {
    buildStacks(op);
    return;
  }
  if (std::string wrong = wrongType(op); !wrong.empty())
    return addFinding(op, wrong);
  auto known =
      llvm::map_to_vector(op->getOperands(), [&](Value value) { return constants.lookup(value); });
  if (DenseElementsAttr result = fold(op, known)) {
    Emitter b = emitterAt(op);
    return replace(op, b.constant(result));
  }
  if (replaceEmpty(op) || readsStack(op))
    return;
  buildStacks(op);
  applyRule(op);
}

/// Erases what is not used, from the end, and stacks of which only slices were read.
void FunctionConverter::eraseDead(Block &body) {
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(body)))
    if (op.use_empty() &&
        isa<onnx::NodeOp, onnx::NoneOp, arith::ConstantOp, stablehlo::DynamicUpdateSliceOp>(op))
      op.erase();
}

LogicalResult convertFunction(func::FuncOp function) {
  if (!function.getBody().hasOneBlock())
    return function.emitError() << "expected a function of one block";
  return FunctionConverter(function).run();
}

} // namespace zero::hlo
