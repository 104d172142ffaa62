//===- SplitBatch.cpp - divide a global batch among ranks -----------------===//
//
// Follows the dimension of the batch from the arguments that the program shards through its nodes,
// in one walk in program order that uses their factors; then makes values a rank's part of them.
// Each value is equal on all ranks, or divided along one dimension,
// or a sum over the batch: then a rank's part times the number of parts has the value as its mean
// over ranks, and so has everything that is affine in it. What is computed from a sum otherwise may
// reach updates, whose analysis knows that ranks exchange gradients first, but neither the loss nor
// values of single samples.
//
//===----------------------------------------------------------------------===//

#include "Roles.h"
#include "dialects/Zero/ExporterAttrs.h"
#include "dialects/Zero/Zero.h"
#include "zero/Ops/ElementFunctions.h"
#include "zero/Ops/OpTable.h"
#include "zero/Ops/Sharding.h"
#include "zero/Options/MeshAxes.h"
#include "zero/Transforms/Program/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/Remarks.h"
#include "llvm/ADT/MapVector.h"

using namespace mlir;

namespace zero {
#define GEN_PASS_DEF_SPLITBATCH
#include "include/zero/Transforms/Program/Passes.h.inc"

namespace {
/// How the ranks hold a value.
struct Spread {
  enum Kind {
    Same,  ///< all have it
    Split, ///< along `dim`
    Mean,  ///< it is the mean of what they have
    Mixed, ///< it is not, but a function of such values
  } kind = Same;
  int64_t dim = 0;
};

class Splitter {
public:
  Splitter(ModuleOp module, func::FuncOp step, int64_t parts)
      : module(module), step(step), parts(parts), builder(module.getContext()) {}

  LogicalResult run();

private:
  LogicalResult splitArguments();
  LogicalResult visit(onnx::NodeOp node);
  LogicalResult visitSplit(onnx::NodeOp node);
  void visitMean(onnx::NodeOp node);
  bool isLinear(onnx::NodeOp node) const;
  LogicalResult checkOperands(onnx::NodeOp node, const ops::Sharding &sharding);
  LogicalResult checkResults();
  InFlightDiagnostic refuse(onnx::NodeOp node, const Twine &why);
  StringRef whyWhole(onnx::NodeOp node, unsigned operand) const;
  void apply(onnx::NodeOp node, const ops::Sharding &sharding);
  void setType(Value value, int64_t dim);
  void scaleSum(onnx::NodeOp node, Value sum);
  Value localize(onnx::NodeOp node, Value value, int64_t dim);
  Spread spreadOf(Value value) const { return spreads.lookup(value); }
  bool isSplit(Value value) const { return spreadOf(value).kind == Spread::Split; }

  ModuleOp module;
  func::FuncOp step;
  int64_t parts;
  OpBuilder builder;
  llvm::DenseMap<Value, Spread> spreads;
  llvm::MapVector<Operation *, ops::Sharding> shardings; ///< of nodes that compute on parts
};
} // namespace

InFlightDiagnostic Splitter::refuse(onnx::NodeOp node, const Twine &why) {
  InFlightDiagnostic error = emitError(node.getLoc())
                             << node.describe() << ": the batch cannot be divided among " << parts
                             << " ranks: " << why;
  error.attachNote()
      << "without shardings of its data, the program gives each rank its whole batch";
  return error;
}

//===----------------------------------------------------------------------===//
// What nodes compute
//===----------------------------------------------------------------------===//

/// Whether `value` is a tensor of zeros, possibly expanded.
static bool isZero(Value value) {
  if (auto expand = value.getDefiningOp<onnx::NodeOp>();
      ops::computes(expand, ops::Function::Broadcast))
    value = expand.getInputs().front();
  return matchPattern(value, m_AnyZeroFloat()) || matchPattern(value, m_Zero());
}

/// Why `node` cannot compute on parts of operand `operand`.
StringRef Splitter::whyWhole(onnx::NodeOp node, unsigned operand) const {
  const ops::OpDef *def = ops::lookup(node);
  if (def && def->kind == ops::Kind::View)
    return operand == 0 ? "it merges the dimension of the batch with those before it"
                        : "its shape is computed from the batch";
  return def && (def->factors || !ops::factorsOf(node).empty())
             ? "it ties all samples together other than by a sum"
             : "no rule divides this operator";
}

/// Operands that the ranks have whole are cut where the node needs parts.
LogicalResult Splitter::checkOperands(onnx::NodeOp node, const ops::Sharding &sharding) {
  for (auto [operand, cut] : llvm::zip_equal(node.getInputs(), sharding.operands)) {
    if (cut && !cut->parts.empty())
      return refuse(node, "it merges the dimension of the batch with those before it");
    if (isSplit(operand) && (!cut || cut->dim != spreadOf(operand).dim))
      return refuse(node, "it combines different dimensions of the batch");
  }
  if (sharding.addend >= 0 && !isZero(node.getInputs()[sharding.addend]))
    return refuse(node, "expected a sum of rows into zeros");
  return success();
}

LogicalResult Splitter::visitSplit(onnx::NodeOp node) {
  const unsigned first =
      llvm::find_if(node.getInputs(), [&](Value input) { return isSplit(input); }).getIndex();
  std::optional<ops::Sharding> sharding =
      ops::shardByOperand(node, first, ops::Cut{spreadOf(node.getInputs()[first]).dim}, parts);
  if (!sharding)
    return refuse(node, whyWhole(node, first));
  if (failed(checkOperands(node, *sharding)))
    return failure();
  for (auto [result, cut] : llvm::zip_equal(node.getOutputs(), sharding->results))
    if (cut && !cut->parts.empty())
      return refuse(node, "it merges the dimension of the batch with those before it");
    else if (cut)
      spreads[result] = {Spread::Split, cut->dim};
    else if (sharding->kind != ops::FactorKind::Parallel)
      spreads[result] = {Spread::Mean, 0};
  shardings[node] = *std::move(sharding);
  return success();
}

/// Whether `node` is linear in its operands that are no value of all ranks.
bool Splitter::isLinear(onnx::NodeOp node) const {
  auto isSame = [&](Value input) { return spreadOf(input).kind == Spread::Same; };
  switch (ops::linearityOf(node)) {
  case ops::Linear::No:
    return false;
  case ops::Linear::Together:
    return true;
  case ops::Linear::InFirst:
  case ops::Linear::Quotient:
    return llvm::all_of(node.getInputs().drop_front(), isSame);
  case ops::Linear::InEach:
    return llvm::count_if(node.getInputs(), isSame) + 1 == int64_t(node.getInputs().size());
  }
  llvm_unreachable("unknown form");
}

/// Linear functions of means are means.
void Splitter::visitMean(onnx::NodeOp node) {
  const bool isMixed = llvm::any_of(
      node.getInputs(), [&](Value input) { return spreadOf(input).kind == Spread::Mixed; });
  for (Value result : node.getOutputs())
    spreads[result] = {isLinear(node) && !isMixed ? Spread::Mean : Spread::Mixed, 0};
}

LogicalResult Splitter::visit(onnx::NodeOp node) {
  bool hasSplit = false, hasMean = false;
  Value mean;
  for (Value input : node.getInputs()) {
    Spread::Kind kind = spreadOf(input).kind;
    hasSplit |= kind == Spread::Split;
    if (kind == Spread::Mean || kind == Spread::Mixed) {
      hasMean = true;
      mean = input;
    }
  }
  if (hasSplit && hasMean) {
    InFlightDiagnostic error = refuse(node, "a value of all samples is used for single ones, which "
                                            "ties the ranks together");
    error.attachNote(mean.getLoc()) << "this value";
    return error;
  }
  if (hasMean)
    visitMean(node);
  return hasSplit ? visitSplit(node) : success();
}

/// Each argument that is divided, `zero.split`, has the number of parts as a divisor.
LogicalResult Splitter::splitArguments() {
  for (BlockArgument argument : step.getArguments()) {
    unsigned index = argument.getArgNumber();
    if (!step.getArgAttr(index, kSplitAttr))
      continue;
    step.removeArgAttr(index, builder.getStringAttr(kSplitAttr));
    const int64_t batch = tensorType(argument).getDimSize(0);
    if (batch % parts != 0)
      return emitError(locationOfFile(step))
             << "input '" << step.getArgAttrOfType<StringAttr>(index, kBindingAttr).getValue()
             << "': expected a batch that " << parts << " ranks and micro-batches divide, got "
             << batch;
    if (parts > 1)
      spreads[argument] = {Spread::Split, 0};
  }
  return success();
}

/// What is returned, written and exchanged is equal on ranks, or a mean over them.
LogicalResult Splitter::checkResults() {
  for (Operation &op : step.getBody().front()) {
    if (isa<onnx::NodeOp, onnx::NoneOp, arith::ConstantOp, ReadOp>(op))
      continue;
    for (Value value : op.getOperands()) {
      Spread spread = spreadOf(value);
      if (spread.kind == Spread::Split)
        return emitError(op.getLoc())
               << "a result or state is divided along the batch: expected one "
                  "that all ranks have";
      if (spread.kind == Spread::Mixed && !isa<WriteOp>(op))
        return emitError(value.getLoc())
               << "the loss or a gradient depends on a sum over the batch other than by sums and "
                  "products with constants, so no mean over ranks gives its value";
    }
  }
  return success();
}

//===----------------------------------------------------------------------===//
// The parts of a rank
//===----------------------------------------------------------------------===//

/// Gives `value` the type of a rank's part of it, along `dim`.
void Splitter::setType(Value value, int64_t dim) {
  RankedTensorType type = tensorType(value);
  value.setType(type.clone(*ops::shardShape(type, ops::Cut{dim}, parts)));
}

/// A rank's `sum` over its samples, times the number of parts, has the whole one as its mean.
void Splitter::scaleSum(onnx::NodeOp node, Value sum) {
  builder.setInsertionPointAfter(node);
  NodeBuilder nodes(builder, node.getLoc(), node.getNode());
  Value scaled = nodes.mul(sum, nodes.scalar(double(parts), sum.getType()));
  sum.replaceAllUsesExcept(scaled, scaled.getDefiningOp());
}

/// `value` with the shape `shape`, which has fewer indices along `dim`, if it has the same elements
/// at all indices along it; null otherwise.
static DenseElementsAttr shortened(DenseElementsAttr value, int64_t dim, ArrayRef<int64_t> shape) {
  auto type = cast<RankedTensorType>(value.getType()).clone(shape);
  if (value.isSplat())
    return value.resizeSplat(type);
  const int64_t from = cast<RankedTensorType>(value.getType()).getDimSize(dim), to = shape[dim];
  int64_t inner = 1;
  for (int64_t extent : shape.drop_front(dim + 1))
    inner *= extent;
  SmallVector<Attribute> elements, kept;
  llvm::append_range(elements, value.getValues<Attribute>());
  for (auto [index, element] : llvm::enumerate(elements)) {
    const int64_t along = int64_t(index) / inner % from;
    if (element != elements[index - along * inner])
      return {};
    if (along < to)
      kept.push_back(element);
  }
  return DenseElementsAttr::get(type, kept);
}

/// The rank's part of `value`, which all ranks have, along `dim`.
Value Splitter::localize(onnx::NodeOp node, Value value, int64_t dim) {
  RankedTensorType type = tensorType(value);
  const SmallVector<int64_t> shape = *ops::shardShape(type, ops::Cut{dim}, parts);
  builder.setInsertionPoint(node);
  NodeBuilder nodes(builder, node.getLoc(), node.getNode());
  // A mask is mostly the same for all samples.
  DenseElementsAttr constant;
  if (matchPattern(value, m_Constant(&constant)))
    if (DenseElementsAttr part = shortened(constant, dim, shape))
      return arith::ConstantOp::create(builder, node.getLoc(), part).getResult();
  auto expand = value.getDefiningOp<onnx::NodeOp>();
  if (ops::computes(expand, ops::Function::Broadcast)) {
    RankedTensorType from = tensorType(expand.getInputs()[0]);
    int64_t own = dim - (type.getRank() - from.getRank());
    if (own < 0 || from.getDimSize(own) == 1)
      return nodes.expand(expand.getInputs()[0], shape);
  }
  // Rows of this rank: part * rows + 0, 1, ...
  const int64_t rows = shape[dim];
  Value first = nodes.mul(nodes.programInput(kBatchPart, builder.getI64Type()),
                          nodes.scalar(double(rows), builder.getI64Type()));
  Value index = nodes.add(nodes.indices(llvm::to_vector(llvm::seq<int64_t>(rows))), first);
  return nodes.gather(value, index, dim);
}

void Splitter::apply(onnx::NodeOp node, const ops::Sharding &sharding) {
  for (auto [index, cut] : llvm::enumerate(sharding.operands))
    if (Value operand = node.getInputs()[index]; cut && !isSplit(operand))
      node.setOperand(index, localize(node, operand, cut->dim));
  for (auto [result, cut] : llvm::zip_equal(node.getOutputs(), sharding.results))
    if (cut)
      setType(result, cut->dim);
  ops::adjustExtents(node, parts);
  for (auto [result, cut] : llvm::zip_equal(node.getOutputs(), sharding.results))
    if (!cut && sharding.kind == ops::FactorKind::Sum && isa<RankedTensorType>(result.getType()))
      scaleSum(node, result);
}

LogicalResult Splitter::run() {
  if (failed(splitArguments()))
    return failure();
  if (parts == 1 || spreads.empty())
    return success();
  for (auto node : step.getBody().front().getOps<onnx::NodeOp>())
    if (failed(visit(node)))
      return failure();
  if (failed(checkResults()))
    return failure();
  Block &body = step.getBody().front();
  for (BlockArgument argument : body.getArguments())
    if (isSplit(argument))
      setType(argument, 0);
  for (auto &[op, sharding] : shardings)
    apply(cast<onnx::NodeOp>(op), sharding);
  step.setFunctionType(
      builder.getFunctionType(body.getArgumentTypes(), body.getTerminator()->getOperandTypes()));
  remark::passed(step.getLoc(), remark::RemarkOpts::name("split").category("import"))
      << "the program shards its data: its batch is divided among " + std::to_string(parts) +
             " ranks and micro-batches";
  return success();
}

/// The number of ranks along the axis data, if they are those of the program; else 1.
static int64_t ranksOfProgram(ModuleOp module) {
  MeshAxes axes;
  auto mesh = module->getAttrOfType<StringAttr>(kProgramMeshAttr);
  return mesh && parseMesh(mesh, axes).empty() ? axisSize(axes, "data") : 1;
}

namespace {
struct SplitBatch : impl::SplitBatchBase<SplitBatch> {
  using SplitBatchBase::SplitBatchBase;

  void runOnOperation() override {
    auto step = getOperation().lookupSymbol<func::FuncOp>(kStepName);
    const int64_t all = int64_t(parts) * ranksOfProgram(getOperation());
    if (step && failed(Splitter(getOperation(), step, all).run()))
      signalPassFailure();
  }
};
} // namespace
} // namespace zero
