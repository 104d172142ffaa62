//===- BatchValues.cpp - values of the whole batch and of its parts -------===//
//
// One walk over the ops of the loss, in program order. Sums and means over rows are means over the
// parts (a sum of parts of equal weight, with power 1). Linear functions keep them. Elsewhere, the
// operand must be computed of the whole batch: a divisor, the second of two factors, the argument
// of another function. Of a value that itself depends on such a value, its operands are averaged
// instead: all averages are then taken of values that one pass over the micro-batches computes.
//
//===----------------------------------------------------------------------===//

#include "BatchValues.h"

#include "Patterns.h"
#include "dialects/Onnx/Operators.h"
#include "zero/Analysis/ParameterUses.h"
#include "zero/Analysis/StepFunction.h"
#include "zero/Ops/OpTable.h"

#include "mlir/IR/TypeUtilities.h"

#include <cmath>

using namespace mlir;
using namespace zero;
using ops::Linear;

namespace {

class BatchWalk {
public:
  BatchWalk(func::FuncOp step, int64_t microBatches);

  BatchFindings run();

private:
  using Parts = SmallVector<PartValue>;

  PartValue of(Value value) const { return parts.lookup(value); }
  void visitArgument(unsigned index);
  void visit(Operation *op);
  void visitNode(onnx::NodeOp node);
  void visitRows(onnx::NodeOp node, Parts &in);
  bool setRows(Value output, ops::RowResult result, PartValue part);
  PartValue visitWhole(onnx::NodeOp node, Parts &in);
  SmallVector<unsigned> summandsOf(onnx::NodeOp node, ArrayRef<PartValue> in) const;
  PartValue visitSum(onnx::NodeOp node, Parts &in);
  PartValue visitProduct(onnx::NodeOp node, Linear form, Parts &in);
  PartValue visitOther(onnx::NodeOp node, Parts &in);
  void finishLoss();

  void rewrite(Operation *op, unsigned index, WholeOperand::Mean mean, int64_t power);
  bool averageOperands(Value value);
  void average(Operation *op, unsigned index, PartValue &part);
  void scale(Operation *op, unsigned index, PartValue &part, int64_t power);
  void report(Operation *op, const Twine &text);
  bool countsRows(double number) const;

  func::FuncOp step;
  int64_t microBatches, batch = 1;
  llvm::SmallDenseSet<int64_t> rowCounts; ///< of the data
  llvm::DenseSet<StringRef> written;      ///< buffers that the step updates
  Value partNumber;
  llvm::DenseMap<Value, PartValue> parts;
  BatchFindings findings;
};

} // namespace

BatchWalk::BatchWalk(func::FuncOp step, int64_t microBatches)
    : step(step), microBatches(microBatches) {
  for (unsigned index = 0; index < step.getNumArguments(); ++index)
    visitArgument(index);
  for (auto write : step.getBody().getOps<WriteOp>())
    written.insert(write.getSymbol());
}

/// The user's data have rows. Scalars of the runtime are the same for all parts but for their
/// number, on which random numbers depend.
void BatchWalk::visitArgument(unsigned index) {
  BlockArgument argument = step.getArgument(index);
  auto type = dyn_cast<RankedTensorType>(argument.getType());
  if (argumentBinding(step, index) == kBatchPart)
    partNumber = argument;
  if (!type || type.getRank() == 0)
    return;
  parts[argument] = {PartValue::Rows, {0, 1, type.getDimSize(0) == 1}};
  batch = std::max(batch, type.getDimSize(0));
  rowCounts.insert(type.getDimSize(0));
}

//===----------------------------------------------------------------------===//
// What nodes compute
//===----------------------------------------------------------------------===//

static Type elementOf(Value value) { return getElementTypeOrSelf(value.getType()); }

/// Whether `number` may count elements of a part: a multiple of its rows. Reciprocals are rounded.
bool BatchWalk::countsRows(double number) const {
  const double count = std::round(std::abs(number)), rows = double(batch);
  return std::abs(count - std::abs(number)) <= 1e-6 * count && count >= rows && count > 1 &&
         std::fmod(count, rows) == 0;
}

//===----------------------------------------------------------------------===//
// Decisions
//===----------------------------------------------------------------------===//

void BatchWalk::report(Operation *op, const Twine &text) {
  findings.problems.push_back({op, text.str()});
}

void BatchWalk::rewrite(Operation *op, unsigned index, WholeOperand::Mean mean, int64_t power) {
  SmallVector<WholeOperand> &list = findings.operands[op];
  auto *known =
      llvm::find_if(list, [&](const WholeOperand &operand) { return operand.index == index; });
  if (known == list.end())
    list.push_back({index, mean, power});
  else
    *known = {index, std::max(mean, known->mean), known->power + power};
}

/// Averages what the linear function `value` is computed of; false if it is a sum over rows.
bool BatchWalk::averageOperands(Value value) {
  auto node = value.getDefiningOp<onnx::NodeOp>();
  if (!node || llvm::any_of(node.getInputs(),
                            [&](Value input) { return of(input).kind == PartValue::Rows; }))
    return false;
  for (auto [index, input] : llvm::enumerate(node.getInputs())) {
    PartValue part = of(input);
    if (part.kind == PartValue::Mean)
      average(node, index, part);
  }
  PartValue &part = parts[value];
  part.kind = part.isTrained ? PartValue::Global : PartValue::Same;
  return true;
}

/// Computes operand `index` of `op`, a mean `part`, of the whole batch.
void BatchWalk::average(Operation *op, unsigned index, PartValue &part) {
  Value value = op->getOperand(index);
  const bool wasCounted = part.isCounted;
  if (wasCounted && averageOperands(value)) {
    part = of(value);
    return;
  }
  if (wasCounted && microBatches > 1) {
    report(op, "the mean of rows that themselves depend on a mean over the batch");
    part.kind = PartValue::Own;
    part.power = 0;
    return;
  }
  rewrite(op, index, part.isTrained ? WholeOperand::Followed : WholeOperand::Averaged, 0);
  part.kind = part.isTrained ? PartValue::Global : PartValue::Same;
  part.isCounted = true;
  // A mean of integers is none.
  if (isa<IntegerType>(elementOf(value)))
    scale(op, index, part, 0);
}

/// Multiplies operand `index` of `op` so that its value is to be multiplied by `power`.
void BatchWalk::scale(Operation *op, unsigned index, PartValue &part, int64_t power) {
  if (part.power == power || part.kind == PartValue::Own)
    return;
  rewrite(op, index, WholeOperand::Kept, part.power - power);
  part.power = power;
}

//===----------------------------------------------------------------------===//
// The walk
//===----------------------------------------------------------------------===//

/// A node one of whose operands has rows.
void BatchWalk::visitRows(onnx::NodeOp node, Parts &in) {
  const Linear form = ops::linearityOf(node);
  PartValue result;
  for (auto [index, part] : llvm::enumerate(in)) {
    if (part.varies() && part.isTrained) {
      if (!node.is(op::BatchNormalization))
        report(node, "a mean over the batch that each row uses");
      part.kind = PartValue::Own;
      part.power = 0;
    } else if (part.kind == PartValue::Mean) {
      average(node, index, part);
    }
    if (form != Linear::InEach && form != Linear::Quotient && form != Linear::InFirst)
      scale(node, index, part, 0);
    result.power += form == Linear::Quotient && index == 1 ? -part.power : part.power;
    result.isTrained |= part.isTrained;
    result.isCounted |= part.isCounted;
  }
  SmallVector<std::optional<ops::RowDim>> rows;
  for (const PartValue &part : in)
    rows.push_back(part.kind == PartValue::Rows ? std::optional(part.rows) : std::nullopt);
  bool areCombined = false;
  for (auto [effect, output] : llvm::zip(ops::followRows(node, rows), node.getOutputs()))
    areCombined |= !setRows(output, effect, result);
  if (areCombined)
    report(node, "rows of the batch with each other");
}

/// Sets what `output` is, which is otherwise like `part`; false if it is its own in each part.
bool BatchWalk::setRows(Value output, ops::RowResult result, PartValue part) {
  using ops::RowEffect;
  auto type = dyn_cast<RankedTensorType>(output.getType());
  // Indices and masks are made of a part's own data, for its own rows.
  if (result.effect == RowEffect::Combined && type && !isa<FloatType>(type.getElementType()))
    result = {type.getRank() > 0 ? RowEffect::Kept : RowEffect::Statistic, {0}};
  // Rows may be put in their order, as those of a bag are, or marks between them, or in a table.
  if (result.effect == RowEffect::Placed) {
    const bool areRows = llvm::any_of(rowCounts, [&](int64_t count) {
      return type.getDimSize(0) == count || type.getDimSize(0) == count + 1;
    });
    result.effect = areRows ? RowEffect::Kept : RowEffect::Summed;
  }
  part.rows = result.rows;
  part.kind = result.effect == RowEffect::Kept   ? PartValue::Rows
              : result.effect == RowEffect::None ? PartValue::Same
              : llvm::is_contained({RowEffect::Summed, RowEffect::Averaged}, result.effect)
                  ? PartValue::Mean
                  : PartValue::Own;
  part.power += result.effect == RowEffect::Summed;
  parts[output] = part;
  return result.effect != RowEffect::Combined;
}

/// What is computed of `in`: a mean if one of them is.
static PartValue joined(ArrayRef<PartValue> in) {
  PartValue result;
  for (const PartValue &part : in) {
    if (part.kind == PartValue::Mean || (part.varies() && result.kind == PartValue::Same))
      result.kind = part.kind;
    result.isTrained |= part.isTrained;
    result.isCounted |= part.isCounted;
  }
  return result;
}

/// The summands of `node` that are to be in one power. A constant zero is in all; one that counts
/// rows, such as the number of elements less that of masked ones, is in that of a sum.
SmallVector<unsigned> BatchWalk::summandsOf(onnx::NodeOp node, ArrayRef<PartValue> in) const {
  const bool hasSum = llvm::any_of(
      in, [](const PartValue &part) { return part.kind == PartValue::Mean && part.power == 1; });
  SmallVector<unsigned> summands;
  for (auto [index, input] : llvm::enumerate(node.getInputs())) {
    std::optional<double> number = patterns::numberOf(input);
    const bool isCondition = index == 0 && node.is(op::Where);
    if (!isCondition && !(number && (*number == 0 || (hasSum && countsRows(*number)))))
      summands.push_back(index);
  }
  return summands;
}

PartValue BatchWalk::visitSum(onnx::NodeOp node, Parts &in) {
  SmallVector<unsigned> summands = summandsOf(node, in);
  const bool isAlike = llvm::all_of(
      summands, [&](unsigned index) { return in[index].power == in[summands[0]].power; });
  for (unsigned index : summands) {
    if (isAlike)
      break;
    if (in[index].power != 0 && in[index].kind == PartValue::Mean && !in[index].isTrained)
      average(node, index, in[index]);
    scale(node, index, in[index], 0);
  }
  PartValue result = joined(in);
  result.power = summands.empty() ? 0 : in[summands[0]].power;
  return result;
}

/// At most one factor may be a mean of parts, and no divisor.
PartValue BatchWalk::visitProduct(onnx::NodeOp node, Linear form, Parts &in) {
  auto count = [&] { return llvm::count_if(in, [](const PartValue &p) { return p.varies(); }); };
  for (const bool isTrained : {false, true})
    for (auto [index, part] : llvm::enumerate(in))
      if (part.kind == PartValue::Mean && part.isTrained == isTrained &&
          (count() > 1 || (form == Linear::Quotient && index == 1)))
        average(node, index, part);
  PartValue result = joined(in);
  for (auto [index, part] : llvm::enumerate(in))
    result.power += form == Linear::Quotient && index == 1 ? -part.power : part.power;
  if (result.kind != PartValue::Mean || result.isCounted)
    return result;
  for (auto [index, input] : llvm::enumerate(node.getInputs())) {
    const bool isDivisor = form == Linear::Quotient && index == 1;
    std::optional<double> number = patterns::numberOf(input);
    if (number && *number != 0 && result.power > 0 && countsRows(isDivisor ? *number : 1 / *number))
      --result.power;
  }
  return result;
}

PartValue BatchWalk::visitOther(onnx::NodeOp node, Parts &in) {
  for (auto [index, part] : llvm::enumerate(in)) {
    if (part.kind == PartValue::Mean)
      average(node, index, part);
    scale(node, index, part, 0);
  }
  return joined(in);
}

/// A node none of whose operands has rows.
PartValue BatchWalk::visitWhole(onnx::NodeOp node, Parts &in) {
  if (llvm::any_of(in, [](const PartValue &part) { return part.kind == PartValue::Own; })) {
    PartValue result = joined(in);
    result.kind = PartValue::Own;
    return result;
  }
  Linear form = ops::linearityOf(node);
  auto varies = [](const PartValue &part) { return part.varies(); };
  const bool hasData = form == Linear::InFirst || node.is(op::Where);
  if (hasData && (form == Linear::InFirst ? llvm::any_of(ArrayRef(in).drop_front(), varies)
                                          : varies(in.front())))
    form = Linear::No;
  switch (form) {
  case Linear::InFirst: {
    PartValue result = in.front();
    result.isCounted = joined(in).isCounted;
    return result;
  }
  case Linear::Together:
    return visitSum(node, in);
  case Linear::InEach:
  case Linear::Quotient:
    return visitProduct(node, form, in);
  case Linear::No:
    return visitOther(node, in);
  }
  llvm_unreachable("unknown form");
}

void BatchWalk::visitNode(onnx::NodeOp node) {
  Parts in;
  for (Value input : node.getInputs())
    in.push_back(of(input));
  const ops::OpDef *def = ops::lookup(node);
  // Random numbers, of each row or of the whole part.
  if (partNumber && llvm::is_contained(node.getInputs(), partNumber)) {
    for (Value output : node.getOutputs()) {
      ArrayRef<int64_t> shape = cast<RankedTensorType>(output.getType()).getShape();
      const bool hasRows = !shape.empty() && shape.front() == batch;
      parts[output] = {hasRows ? PartValue::Rows : PartValue::Own};
    }
    return;
  }
  const bool hasRows =
      llvm::any_of(in, [](const PartValue &part) { return part.kind == PartValue::Rows; });
  if (hasRows) {
    visitRows(node, in);
  } else {
    PartValue result = visitWhole(node, in);
    for (Value output : node.getOutputs())
      parts[output] = result;
  }
  for (Value output : node.getOutputs()) {
    PartValue &part = parts[output];
    part.isTrained &= def && def->gradient && isa<FloatType>(elementOf(output));
    if (part.kind == PartValue::Global && !part.isTrained)
      part.kind = PartValue::Same;
  }
}

void BatchWalk::visit(Operation *op) {
  if (auto node = dyn_cast<onnx::NodeOp>(op))
    return visitNode(node);
  if (auto read = dyn_cast<ReadOp>(op)) {
    auto parameter = SymbolTable::lookupNearestSymbolFrom<ParameterOp>(op, read.getSymbolAttr());
    PartValue &part = parts[read.getResult()];
    part.isTrained = parameter && !parameter.getFrozen();
    // Each micro-batch continues running statistics from the one before.
    if (written.contains(read.getSymbol()))
      part.kind = PartValue::Own;
  } else if (auto mean = dyn_cast<MicroMeanOp>(op)) {
    parts[mean.getResult()] = of(mean.getInput());
  } else if (auto mean = dyn_cast<RankMeanOp>(op)) {
    PartValue part = of(mean.getInput());
    part.kind = PartValue::Same;
    part.isCounted = true;
    parts[mean.getResult()] = part;
  }
}

void BatchWalk::finishLoss() {
  Operation *end = step.getBody().front().getTerminator();
  for (unsigned index = 0; index < step.getNumResults(); ++index) {
    if (resultBinding(step, index) != "loss")
      continue;
    PartValue part = of(end->getOperand(index));
    if (part.kind != PartValue::Rows)
      scale(end, index, part, 0);
  }
}

BatchFindings BatchWalk::run() {
  llvm::DenseSet<Operation *> forward = findForwardOps(step);
  for (Operation &op : step.getBody().front())
    if (forward.contains(&op))
      visit(&op);
  finishLoss();
  return std::move(findings);
}

BatchFindings zero::findBatchValues(func::FuncOp step, int64_t microBatches) {
  return BatchWalk(step, microBatches).run();
}
