//===- SplitBatch.cpp - divide a global batch among ranks -----------------===//
//
// Follows the dimension of the batch from the arguments that the program shards through its nodes,
// in one walk in program order. Each value is equal on all ranks, or divided along one dimension,
// or a sum over the batch: then a rank's part times the number of parts has the value as its mean
// over ranks, and so has everything that is affine in it. What is computed from a sum otherwise may
// reach updates, whose analysis knows that ranks exchange gradients first, but neither the loss nor
// values of single samples.
//
//===----------------------------------------------------------------------===//

#include "BatchDims.h"
#include "Roles.h"
#include "dialects/Onnx/Operators.h"
#include "dialects/Zero/ExporterAttrs.h"
#include "dialects/Zero/Zero.h"
#include "zero/Ops/Axes.h"
#include "zero/Ops/ElementFunctions.h"
#include "zero/Ops/OpTable.h"
#include "zero/Options/MeshAxes.h"
#include "zero/Transforms/Program/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/Remarks.h"

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
  LogicalResult visitMean(onnx::NodeOp node);
  LogicalResult visitElementwise(onnx::NodeOp node);
  LogicalResult visitProduct(onnx::NodeOp node);
  LogicalResult visitReduction(onnx::NodeOp node);
  LogicalResult visitShaped(onnx::NodeOp node);
  LogicalResult visitGather(onnx::NodeOp node);
  LogicalResult visitScatter(onnx::NodeOp node);
  LogicalResult visitAlongAxis(onnx::NodeOp node, ArrayRef<int64_t> axes);
  LogicalResult checkResults();
  InFlightDiagnostic refuse(onnx::NodeOp node, const Twine &why);
  void setSplit(Value value, int64_t dim);
  void setSum(onnx::NodeOp node);
  FailureOr<Value> localize(onnx::NodeOp node, Value value, int64_t dim);
  Spread spreadOf(Value value) const { return spreads.lookup(value); }
  bool isSplit(Value value) const { return spreadOf(value).kind == Spread::Split; }

  ModuleOp module;
  func::FuncOp step;
  int64_t parts;
  OpBuilder builder;
  llvm::DenseMap<Value, Spread> spreads;
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

/// Makes `value` a rank's part of it, along `dim`.
void Splitter::setSplit(Value value, int64_t dim) {
  RankedTensorType type = tensorType(value);
  SmallVector<int64_t> shape(type.getShape());
  shape[dim] /= parts;
  value.setType(type.clone(shape));
  spreads[value] = {Spread::Split, dim};
}

/// `node` sums over the batch: its result becomes the rank's sum times the number of parts.
void Splitter::setSum(onnx::NodeOp node) {
  builder.setInsertionPointAfter(node);
  NodeBuilder nodes(builder, node.getLoc(), node.getNode());
  Value own = node.getResult(0);
  Value scaled = nodes.mul(own, nodes.scalar(double(parts), own.getType()));
  own.replaceAllUsesExcept(scaled, scaled.getDefiningOp());
  spreads[scaled] = {Spread::Mean, 0};
}

/// The rank's part of `value`, which all ranks have, along `dim`.
FailureOr<Value> Splitter::localize(onnx::NodeOp node, Value value, int64_t dim) {
  RankedTensorType type = tensorType(value);
  SmallVector<int64_t> shape(type.getShape());
  shape[dim] /= parts;
  builder.setInsertionPoint(node);
  NodeBuilder nodes(builder, node.getLoc(), node.getNode());
  // A mask is mostly the same for all samples.
  DenseElementsAttr constant;
  if (matchPattern(value, m_Constant(&constant)))
    if (DenseElementsAttr part = shortened(constant, dim, shape))
      return arith::ConstantOp::create(builder, node.getLoc(), part).getResult();
  auto expand = value.getDefiningOp<onnx::NodeOp>();
  if (expand && expand.is(op::Expand)) {
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
  return nodes.create(op::Gather, type.clone(shape), {value, index}, nodes.attr("axis", dim))
      .getResult(0);
}

//===----------------------------------------------------------------------===//
// Rules
//===----------------------------------------------------------------------===//

/// All divided operands are divided along the same dimension, counted from the last. Operands that
/// have the whole batch there are divided, too.
LogicalResult Splitter::visitElementwise(onnx::NodeOp node) {
  int64_t fromEnd = -1;
  for (Value input : node.getInputs())
    if (isSplit(input)) {
      int64_t own = tensorType(input).getRank() - spreadOf(input).dim;
      if (fromEnd != -1 && own != fromEnd)
        return refuse(node, "it combines different dimensions of the batch");
      fromEnd = own;
    }
  for (OpOperand &operand : node->getOpOperands()) {
    auto type = dyn_cast<RankedTensorType>(operand.get().getType());
    int64_t dim = type ? type.getRank() - fromEnd : -1;
    if (dim < 0 || isSplit(operand.get()) || type.getDimSize(dim) == 1)
      continue;
    FailureOr<Value> part = localize(node, operand.get(), dim);
    if (failed(part))
      return failure();
    operand.set(*part);
  }
  Value result = node.getResult(0);
  setSplit(result, tensorType(result).getRank() - fromEnd);
  return success();
}

LogicalResult Splitter::visitProduct(onnx::NodeOp node) {
  Value a = node.getInputs()[0], b = node.getInputs()[1], result = node.getResult(0);
  const int64_t rankA = tensorType(a).getRank(), rankB = tensorType(b).getRank(),
                rank = tensorType(result).getRank();
  if (rankA < 2 || rankB < 2)
    return refuse(node, "expected matrices");
  const bool splitA = isSplit(a), splitB = isSplit(b);
  const int64_t dimA = spreadOf(a).dim - rankA, dimB = spreadOf(b).dim - rankB; // from the end
  if (splitA && splitB && dimA == -1 && dimB == -2) {
    setSum(node);
    return success();
  }
  if (splitA && splitB && dimA == dimB && dimA < -2) {
    setSplit(result, rank + dimA);
    return success();
  }
  // Rows of A, or columns of B, or matrices of one that the other has once.
  auto isOnce = [&](Value other, int64_t dim) {
    RankedTensorType type = tensorType(other);
    return type.getRank() + dim < 0 || type.getDimSize(type.getRank() + dim) == 1;
  };
  if (splitA && !splitB && dimA != -1 && (dimA == -2 || isOnce(b, dimA))) {
    setSplit(result, rank + dimA);
    return success();
  }
  if (splitB && !splitA && dimB != -2 && (dimB == -1 || isOnce(a, dimB))) {
    setSplit(result, rank + dimB);
    return success();
  }
  return refuse(node, "it multiplies along the batch what is not divided alike");
}

LogicalResult Splitter::visitReduction(onnx::NodeOp node) {
  const int64_t dim = spreadOf(node.getInputs()[0]).dim;
  FailureOr<SmallVector<int64_t>> axes = reducedAxes(node);
  if (failed(axes))
    return refuse(node, "expected constant axes");
  if (!llvm::is_contained(*axes, dim)) {
    bool keeps = node.getInt("keepdims", 1);
    int64_t before = llvm::count_if(*axes, [&](int64_t axis) { return axis < dim; });
    setSplit(node.getResult(0), keeps ? dim : dim - before);
    return success();
  }
  if (node.is(op::ReduceMean)) {
    spreads[node.getResult(0)] = {Spread::Mean, 0};
    return success();
  }
  if (!node.isAnyOf({op::ReduceSum, op::ReduceSumSquare}))
    return refuse(node, "it ties all samples together other than by a sum");
  setSum(node);
  return success();
}

/// Reshape and Expand, whose shape is an operand.
LogicalResult Splitter::visitShaped(onnx::NodeOp node) {
  Value input = node.getInputs()[0], result = node.getResult(0);
  if (!isSplit(input))
    return refuse(node, "its shape is computed from the batch");
  SmallVector<int64_t> from(tensorType(input).getShape()), to(tensorType(result).getShape());
  const int64_t dim = spreadOf(input).dim;
  from[dim] *= parts;
  std::optional<int64_t> found = node.is(op::Expand)
                                     ? std::optional(dim + int64_t(to.size() - from.size()))
                                     : dimAfterReshape(from, dim, to, parts);
  if (!found)
    return refuse(node, "it merges the dimension of the batch with those before it");
  setSplit(result, *found);
  builder.setInsertionPoint(node);
  NodeBuilder nodes(builder, node.getLoc(), node.getNode());
  node->setOperand(1, nodes.indices(tensorType(result).getShape()));
  return success();
}

/// Rows of a table that all ranks have, or other dimensions of divided data.
LogicalResult Splitter::visitGather(onnx::NodeOp node) {
  Value data = node.getInputs()[0], index = node.getInputs()[1];
  const int64_t axis = normalAxis(node, tensorType(data).getRank());
  if (isSplit(index) && !isSplit(data)) {
    setSplit(node.getResult(0), axis + spreadOf(index).dim);
    return success();
  }
  const int64_t dim = spreadOf(data).dim;
  if (isSplit(index) || dim == axis)
    return refuse(node, "it selects samples of the batch");
  setSplit(node.getResult(0), dim < axis ? dim : dim + tensorType(index).getRank() - 1);
  return success();
}

/// Sums of rows of the batch: gradients of tables.
LogicalResult Splitter::visitScatter(onnx::NodeOp node) {
  if (node.is(own::GatherGrad) && isSplit(node.getInputs()[0]) && isSplit(node.getInputs()[1]) &&
      !node.hasInput(2)) {
    setSum(node);
    return success();
  }
  bool adds = node.is(op::ScatterND) && node.getString("reduction", "none") == "add" &&
              isSplit(node.getInputs()[1]) && isSplit(node.getInputs()[2]) &&
              spreadOf(node.getInputs()[1]).dim == spreadOf(node.getInputs()[2]).dim &&
              isZero(node.getInputs()[0]);
  if (!adds)
    return refuse(node, "expected a sum of rows into zeros");
  setSum(node);
  return success();
}

/// Nodes that work along `axes` only, and treat other dimensions alike.
LogicalResult Splitter::visitAlongAxis(onnx::NodeOp node, ArrayRef<int64_t> axes) {
  int64_t dim = -1;
  for (Value input : node.getInputs())
    if (isSplit(input)) {
      if (dim != -1 && spreadOf(input).dim != dim)
        return refuse(node, "it combines different dimensions of the batch");
      dim = spreadOf(input).dim;
    }
  if (llvm::is_contained(axes, dim))
    return refuse(node, "it works along the batch");
  for (OpOperand &operand : node->getOpOperands()) {
    auto type = dyn_cast<RankedTensorType>(operand.get().getType());
    // Lists of axes and bounds are vectors of the step, never of the batch.
    if (!type || isSplit(operand.get()) || type.getRank() <= dim || isSetting(node, operand))
      continue;
    FailureOr<Value> part = localize(node, operand.get(), dim);
    if (failed(part))
      return failure();
    operand.set(*part);
  }
  if (auto shape = node.getInts("shape")) {
    (*shape)[dim] /= parts;
    NamedAttrList attrs(node.getAttrs());
    attrs.set("shape", builder.getDenseI64ArrayAttr(*shape));
    node.setAttrsAttr(attrs.getDictionary(node.getContext()));
  }
  for (Value result : node.getOutputs())
    if (isa<RankedTensorType>(result.getType()))
      setSplit(result, dim);
  return success();
}

LogicalResult Splitter::visitSplit(onnx::NodeOp node) {
  if (node.isAnyOf({op::Reshape, op::Expand}))
    return visitShaped(node);
  if (node.is(op::MatMul))
    return visitProduct(node);
  if (isReduction(node))
    return visitReduction(node);
  if (node.is(op::Gather))
    return visitGather(node);
  if (node.isAnyOf({own::GatherGrad, op::ScatterND}))
    return visitScatter(node);
  if (node.is(op::Transpose)) {
    SmallVector<int64_t> order = permutationOf(node);
    const int64_t dim = spreadOf(node.getInputs()[0]).dim;
    setSplit(node.getResult(0), llvm::find(order, dim) - order.begin());
    return success();
  }
  if (auto axes = workingAxes(node))
    return visitAlongAxis(node, *axes);
  const ops::OpDef *def = ops::lookup(node);
  const bool isOfElements = def && def->kind == ops::Kind::Elementwise && node.getNumResults() == 1;
  if (isOfElements || node.is(own::StopGradient))
    return visitElementwise(node);
  return refuse(node, "no rule divides this operator");
}

/// Affine functions of means are means.
LogicalResult Splitter::visitMean(onnx::NodeOp node) {
  auto kindOf = [&](unsigned index) { return spreadOf(node.getInputs()[index]).kind; };
  bool isAffine = node.isAnyOf({op::Add, op::Sub, op::Neg, op::Reshape, op::Expand, op::Transpose,
                                op::Concat, op::Slice, op::Identity, own::StopGradient}) ||
                  (node.is(op::Mul) && (kindOf(0) == Spread::Same || kindOf(1) == Spread::Same)) ||
                  (node.is(op::Div) && kindOf(1) == Spread::Same) ||
                  (node.isAnyOf({op::ReduceSum, op::ReduceMean})) ||
                  (node.is(op::Cast) && isFloatTensor(node.getResult(0))) ||
                  (node.is(op::MatMul) && (kindOf(0) == Spread::Same || kindOf(1) == Spread::Same));
  bool isMixed = llvm::any_of(node.getInputs(),
                              [&](Value input) { return spreadOf(input).kind == Spread::Mixed; });
  for (Value result : node.getOutputs())
    spreads[result] = {isAffine && !isMixed ? Spread::Mean : Spread::Mixed, 0};
  return success();
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
  return hasSplit ? visitSplit(node) : hasMean ? visitMean(node) : success();
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
      setSplit(argument, 0);
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

LogicalResult Splitter::run() {
  if (failed(splitArguments()))
    return failure();
  if (parts == 1 || spreads.empty())
    return success();
  for (Operation &op : llvm::make_early_inc_range(step.getBody().front()))
    if (auto node = dyn_cast<onnx::NodeOp>(op); node && failed(visit(node)))
      return failure();
  if (failed(checkResults()))
    return failure();
  Block &body = step.getBody().front();
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
