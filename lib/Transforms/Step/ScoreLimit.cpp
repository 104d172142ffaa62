//===- ScoreLimit.cpp - limit the scores of attention ---------------------===//
//
// No result of an attention has its largest score, so that it is computed by products beside the
// attention. Micro-batches carry it in an accumulator, and ranks along data exchange theirs.
//
//===----------------------------------------------------------------------===//

#include "ScoreLimit.h"

#include "dialects/Onnx/OwnOperators.h"
#include "dialects/Zero/UpdateAttrs.h"
#include "zero/Analysis/ParameterUses.h"
#include "zero/Analysis/StepFunction.h"
#include "zero/Analysis/StepOps.h"
#include "zero/Ops/Attention.h"
#include "zero/Ops/Axes.h"
#include "zero/Ops/Concat.h"
#include "zero/Ops/Function.h"
#include "zero/Ops/Tables.h"
#include "zero/Optimizers/Kernel.h"
#include "zero/Transforms/Step/StepGradients.h"

using namespace mlir;

namespace zero {

using ops::Function;

//===----------------------------------------------------------------------===//
// Projections
//===----------------------------------------------------------------------===//

/// Whether `value` does not depend on the batch: a parameter or a constant.
static bool isStored(Value value) {
  value = throughReshapes(value);
  auto node = value.getDefiningOp<onnx::NodeOp>();
  if (node && (ops::isView(node) || ops::computes(node, Function::Convert)))
    return isStored(node.getInputs()[0]);
  Operation *op = value.getDefiningOp();
  return op && (isa<ReadOp>(op) || op->hasTrait<OpTrait::ConstantLike>());
}

/// The operand of which the result of `node` is the sum with a bias, or a multiple; null if it is
/// neither.
static Value linearOperand(onnx::NodeOp node) {
  if (ops::isIdentity(node) || node.is(own::Rotary) || ops::computes(node, Function::Convert))
    return node.getInputs()[0];
  const bool isMultiple = ops::computes(node, {Function::Mul, Function::Div});
  if (!isMultiple && !ops::computes(node, Function::Add))
    return {};
  const unsigned last = ops::computes(node, Function::Div) ? 0 : 1;
  for (unsigned operand = 0; operand <= last; ++operand) {
    Value other = node.getInputs()[1 - operand];
    if (isStored(other) && (!isMultiple || tensorType(other).getNumElements() == 1))
      return node.getInputs()[operand];
  }
  return {};
}

namespace {
/// Follows queries or keys back to the product that makes them.
struct Trace {
  Value value;
  int64_t heads, width;
  bool areMerged;    ///< the last dimension has all heads, one behind the other
  int64_t start = 0; ///< of the heads, in the last dimension

  bool step();
};
} // namespace

/// Goes on to an operand of what makes the value; false if that makes something else of it.
bool Trace::step() {
  auto node = value.getDefiningOp<onnx::NodeOp>();
  if (!node)
    return false;
  if (Value operand = linearOperand(node)) {
    value = operand;
    return true;
  }
  const ArrayRef<int64_t> shape = tensorType(value).getShape();
  if (ops::computes(node, Function::Permute)) {
    if (permutationOf(node).back() != int64_t(shape.size()) - 1)
      return false;
  } else if (ops::isView(node)) {
    const int64_t before = node.inputType(0).getShape().back();
    const bool merges = !areMerged && shape.size() > 1 && shape.back() == width &&
                        shape.end()[-2] == heads && before == heads * width;
    if (!merges && before != shape.back())
      return false;
    areMerged |= merges;
  } else if (areMerged && ops::computes(node, Function::Split)) {
    const int64_t axis = node.getInt("axis", 0), rank = int64_t(shape.size());
    if (axis != rank - 1 && axis != -1)
      return false;
    for (Value part : node.getOutputs().take_front(cast<OpResult>(value).getResultNumber()))
      start += tensorType(part).getShape().back();
  } else if (auto columns = areMerged && ops::computes(node, Function::Slice)
                                ? slicedColumns(node)
                                : std::optional<std::pair<int64_t, int64_t>>()) {
    start += columns->first;
  } else {
    return false;
  }
  value = node.getInputs()[0];
  return true;
}

/// Finds the matrix of which `value`, queries or keys of `attention`, are outputs.
LogicalResult ScoreLimit::addSection(onnx::NodeOp attention, Value value, Section section,
                                     int64_t heads) {
  const bool isPacked = attention.getAttrs().contains(kPackedHeads);
  Trace trace{value, heads, section.width, isPacked || heads == 1, section.start};
  while (true) {
    auto node = trace.value.getDefiningOp<onnx::NodeOp>();
    for (unsigned operand : {0u, 1u}) {
      const auto outputs = node ? ops::outputFactor(node, operand) : std::nullopt;
      if (!outputs || !trace.areMerged || outputs->results[0] != node.outputType(0).getRank() - 1)
        continue;
      std::optional<int64_t> dim = outputs->operands[operand];
      ReadOp read = matrixOf(node.getInputs()[operand], &dim);
      if (!read || !dim || cast<RankedTensorType>(read.getType()).getRank() != 2)
        continue;
      Projection &projection = projections[read.getSymbolAttr().getAttr()];
      projection.dim = unsigned(*dim);
      projection.outputs = cast<RankedTensorType>(read.getType()).getDimSize(*dim);
      section.start = trace.start;
      projection.sections.push_back(section);
      return success();
    }
    if (!trace.step())
      break;
  }
  auto found = trace.value.getDefiningOp<onnx::NodeOp>();
  return attention.emitError() << "--qk-clip: expected " << (section.areKeys ? "keys" : "queries")
                               << " of attention at node '" << attention.getNode()
                               << "' that are outputs of one matrix, beside a bias and a rotation; "
                                  "got those of "
                               << (found ? found.describe() : std::string("an input"));
}

LogicalResult ScoreLimit::checkProjections(const MatrixParameters &matrices,
                                           ArrayRef<GradientOp> gradients) {
  llvm::DenseSet<StringAttr> trained;
  for (GradientOp gradient : gradients)
    trained.insert(gradient.getParameterAttr().getAttr());
  for (auto &[symbol, projection] : projections) {
    auto parameter = module.lookupSymbol<ParameterOp>(symbol);
    if (!trained.contains(symbol) || !matrices.contains(parameter))
      return emitError(parameter.getLoc())
             << "--qk-clip: expected '" << symbol.getValue()
             << "', which makes queries or keys, among the matrices, got one that is "
             << (trained.contains(symbol) ? matrices.whyNot(parameter) : "not trained");
    llvm::sort(projection.sections,
               [](const Section &a, const Section &b) { return a.start < b.start; });
    int64_t end = 0;
    for (const Section &section : projection.sections) {
      if (section.start < end)
        return emitError(parameter.getLoc())
               << "--qk-clip: expected one attention that reads an output of '" << symbol.getValue()
               << "', got several, whose largest scores differ";
      end = section.start + headsOf(section) * section.width;
    }
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Scores
//===----------------------------------------------------------------------===//

LogicalResult ScoreLimit::measure(const MatrixParameters &matrices,
                                  ArrayRef<GradientOp> gradients) {
  const llvm::DenseSet<Operation *> forward = findForwardOps(step);
  SmallVector<onnx::NodeOp> attentions;
  for (auto node : step.getBody().getOps<onnx::NodeOp>()) {
    if (forward.contains(node) && node.is(own::MaskedSoftmax))
      return node.emitError()
             << "--qk-clip: expected attention in one kernel, got node '" << node.getNode()
             << "', which computes it in parts, as --emit-onnx writes all attention";
    if (forward.contains(node) && node.is(own::Attention))
      attentions.push_back(node);
  }
  if (attentions.empty())
    return step.emitError("--qk-clip: expected attention in the model, which zeroc recognizes "
                          "none of");
  SmallVector<Value> largest;
  OpBuilder builder(module.getContext());
  for (auto [number, attention] : llvm::enumerate(attentions)) {
    AttentionForm form(attention);
    heads.push_back({form.query.heads, form.key.heads});
    const int64_t keys = form.packed ? form.query.heads * form.query.width : 0;
    if (failed(addSection(attention, attention.getInputs()[0],
                          {unsigned(number), false, 0, form.query.width}, form.query.heads)) ||
        failed(addSection(attention, attention.getInputs()[form.packed ? 0 : 1],
                          {unsigned(number), true, keys, form.key.width}, form.key.heads)))
      return failure();
    builder.setInsertionPointAfter(attention);
    NodeBuilder nodes(builder, attention.getLoc(), (attention.getNode() + ".largest").str());
    largest.push_back(largestScores(nodes, attention));
  }
  if (failed(checkProjections(matrices, gradients)))
    return failure();
  NodeBuilder nodes(builder, step.getLoc(), "largest scores");
  scores = concatNode(nodes, largest, 0);
  larger = buildLarger();
  if (microBatchesOf(module) > 1)
    scores = overMicroBatches(builder);
  return success();
}

/// The kernel that sets a list in place to the larger elements of two.
func::FuncOp ScoreLimit::buildLarger() {
  auto list = RankedTensorType::get({ShapedType::kDynamic}, Float32Type::get(module.getContext()));
  func::FuncOp kernel = startKernel(module, freeName(SymbolTable(module), "larger_scores"),
                                    {list, list}, TypeRange(list), 0, 1);
  Location loc = kernel.getLoc();
  OpBuilder builder = OpBuilder::atBlockEnd(&kernel.getBody().front());
  ValueRange arguments = kernel.getArguments();
  auto larger = [&](OpBuilder &b, ValueRange values, SmallVectorImpl<Value> &results) {
    results.push_back(Formula(b, loc).max(values[0], values[1]));
  };
  func::ReturnOp::create(
      builder, loc,
      updateElements(builder, loc, 1, arguments.take_front(), arguments.drop_front(), larger));
  return kernel;
}

/// The larger of `scores` and those of the micro-batches before.
Value ScoreLimit::overMicroBatches(OpBuilder &builder) {
  SymbolTable symbols(module);
  auto type = cast<RankedTensorType>(scores.getType());
  Type f32 = type.getElementType();
  func::FuncOp first =
      buildAccumulate(module, freeName(symbols, "first_scores"), f32, f32, /*isFirst=*/true);
  OpBuilder atTop = OpBuilder::atBlockBegin(module.getBody());
  auto carried = BufferOp::create(atTop, module.getLoc(), Role::Accumulator,
                                  freeName(symbols, "largest_scores"), type, /*shards=*/1);
  Value largest = ReadOp::create(builder, step.getLoc(), type,
                                 FlatSymbolRefAttr::get(carried.getSymNameAttr()));
  for (auto [kernel, iterations] :
       {std::pair(first, Iterations::First), std::pair(larger, Iterations::Later)}) {
    auto launch = LaunchOp::create(builder, step.getLoc(), TypeRange(type),
                                   FlatSymbolRefAttr::get(kernel.getSymNameAttr()),
                                   ValueRange{largest, scores});
    launch->setAttr(kNameAttr, carried.getSymNameAttr());
    setIterations(launch, iterations);
    largest = launch.getResult(0);
  }
  return largest;
}

/// The larger of `scores` of all ranks.
Value ScoreLimit::overRanks(OpBuilder &builder) {
  auto launch =
      LaunchOp::create(builder, step.getLoc(), TypeRange(scores.getType()),
                       FlatSymbolRefAttr::get(larger.getSymNameAttr()), ValueRange{scores, scores});
  launch->setAttr(kNameAttr, builder.getStringAttr("largest scores"));
  launch->setAttr(kOverRanksAttr, builder.getUnitAttr());
  return launch.getResult(0);
}

//===----------------------------------------------------------------------===//
// Factors
//===----------------------------------------------------------------------===//

void ScoreLimit::addFactors() {
  OpBuilder builder(step.getBody().front().getTerminator());
  addInEpilogue(builder, [&] {
    NodeBuilder nodes(builder, step.getLoc(), "factors of scores");
    auto sizes = llvm::map_to_vector(heads, [](const Heads &each) { return each.queries; });
    SmallVector<Value> largest = splitNode(nodes, overRanks(builder), sizes, 0);
    SmallVector<std::pair<Value, Value>> ofHeads;
    for (auto [scores, each] : llvm::zip_equal(largest, heads))
      ofHeads.push_back(limitScores(nodes, scores, each.keys, limit));
    auto list = [&](int64_t outputs) {
      return RankedTensorType::get({outputs}, builder.getF32Type());
    };
    for (auto &[symbol, projection] : projections) {
      SmallVector<Value> parts;
      int64_t end = 0;
      auto fillTo = [&](int64_t start) {
        if (start > end)
          parts.push_back(nodes.splat(1, list(start - end)));
      };
      for (const Section &section : projection.sections) {
        fillTo(section.start);
        auto [ofQueries, ofKeys] = ofHeads[section.attention];
        const int64_t count = headsOf(section);
        Value column = nodes.reshape(section.areKeys ? ofKeys : ofQueries, {count, 1});
        parts.push_back(
            nodes.reshape(nodes.expand(column, {count, section.width}), {count * section.width}));
        end = section.start + count * section.width;
      }
      fillTo(projection.outputs);
      factors[symbol] = {concatNode(nodes, parts, 0), projection.dim};
    }
  });
}

std::optional<OutputFactors> ScoreLimit::factorsOf(ParameterOp parameter) const {
  auto it = factors.find(parameter.getSymNameAttr());
  return it == factors.end() ? std::nullopt : std::optional(it->second);
}

} // namespace zero
