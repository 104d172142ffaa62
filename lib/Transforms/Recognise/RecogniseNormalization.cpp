//===- RecogniseNormalization.cpp - primitives to LayerNorm and RMSNorm ---===//
//
// From each mean of squares m of x over trailing dimensions: x divided by the root
// of m + epsilon, in one of the ways there are to write it, and perhaps weighted.
// Where x is itself y less its mean, that is y's layer normalization, perhaps with
// a bias. The mean of squares may be computed from y in f64 and rounded, beside the
// difference in f32, as PyTorch decomposes it.
//
//===----------------------------------------------------------------------===//

#include "Patterns.h"
#include "dialects/Onnx/Operators.h"
#include "zero/Ops/Axes.h"

#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace zero::patterns;

namespace zero {
#define GEN_PASS_DEF_RECOGNISENORMALIZATION
#include "include/zero/Transforms/Recognise/Passes.h.inc"

// The first opset with RMSNormalization, and that of LayerNormalization.
static constexpr int64_t kRmsOpset = 23, kLayerOpset = 17;

/// The axis from which on `node`, a ReduceMean that keeps its dimensions, takes
/// the mean over all.
static std::optional<int64_t> meanAxis(onnx::NodeOp node) {
  int64_t rank = node.inputType(0).getRank();
  auto axes = listedAxes(node);
  if (!axes || axes->empty() || !node.getInt("keepdims", 1))
    return std::nullopt;
  llvm::sort(*axes);
  if (*axes != llvm::to_vector(llvm::seq(rank - int64_t(axes->size()), rank)))
    return std::nullopt;
  return axes->front();
}

/// The square root of `value` if it is a square, or null.
static Value squareRootOf(Value value) {
  if (onnx::NodeOp power = nodeOf(value, op::Pow))
    return numberOf(power.getInputs()[1]) == 2.0 ? power.getInputs()[0] : Value();
  if (onnx::NodeOp product = nodeOf(value, op::Mul))
    return product.getInputs()[0] == product.getInputs()[1] ? product.getInputs()[0] : Value();
  return nullptr;
}

namespace {
/// The normalization around one mean of squares.
class Normalization {
public:
  explicit Normalization(onnx::NodeOp mean) : mean(mean) {}
  /// Replaces the recognized pattern by one node, if there is one.
  void recognise();

private:
  bool findRoot();
  bool takeEpsilon();
  bool divideBy(Value root);
  bool multiplyBy(Value inverse);
  bool isX(Value value);
  Value centredOf(Value difference) const;
  Value narrowed();
  Value takeOperand(onnx::Operator type);

  onnx::NodeOp mean;
  Value x;
  Value narrow;   ///< y, where x is computed from it in f64
  Value variance; ///< the mean, as it is added to epsilon
  int64_t axis = 0;
  double epsilon = 0;
  onnx::NodeOp sum;  ///< mean plus epsilon
  onnx::NodeOp root; ///< the last node found
};
} // namespace

/// Whether `value` is x: the same value, or the same difference written twice.
bool Normalization::isX(Value value) {
  if (narrow) {
    if (centredOf(value) != narrow)
      return false;
    x = value;
    return true;
  }
  if (value == x)
    return true;
  onnx::NodeOp a = nodeOf(value, op::Sub), b = nodeOf(x, op::Sub);
  return a && b && a.getInputs() == b.getInputs();
}

bool Normalization::takeEpsilon() {
  sum = soleUser(variance, {op::Add});
  if (!sum || sum.outputType(0) != variance.getType())
    return false;
  std::optional<double> number = numberOf(otherInput(sum, variance));
  if (!number || *number < 0)
    return false;
  epsilon = *number;
  return true;
}

bool Normalization::divideBy(Value divisor) {
  root = soleUser(divisor, {op::Div});
  return root && root.getInputs()[1] == divisor && isX(root.getInputs()[0]);
}

bool Normalization::multiplyBy(Value inverse) {
  root = soleUser(inverse, {op::Mul});
  return root && isX(otherInput(root, inverse));
}

bool Normalization::findRoot() {
  Value square = sum.getResult(0);
  if (onnx::NodeOp power = soleUser(square, {op::Pow}))
    return power.getInputs()[0] == square && numberOf(power.getInputs()[1]) == -0.5 &&
           multiplyBy(power.getResult(0));
  onnx::NodeOp deviation = soleUser(square, {op::Sqrt});
  if (!deviation)
    return false;
  if (onnx::NodeOp inverse = soleUser(deviation.getResult(0), {op::Reciprocal}))
    return multiplyBy(inverse.getResult(0));
  onnx::NodeOp quotient = soleUser(deviation.getResult(0), {op::Div});
  bool inverts = quotient && quotient.getInputs()[1] == deviation.getResult(0) &&
                 numberOf(quotient.getInputs()[0]) == 1.0;
  return inverts ? multiplyBy(quotient.getResult(0)) : divideBy(deviation.getResult(0));
}

/// y, where `value` is y less its mean over the same dimensions.
Value Normalization::centredOf(Value value) const {
  onnx::NodeOp difference = nodeOf(value, op::Sub);
  if (!difference)
    return nullptr;
  onnx::NodeOp average = nodeOf(difference.getInputs()[1], op::ReduceMean);
  bool isOwn =
      average && average.getInputs()[0] == difference.getInputs()[0] && meanAxis(average) == axis;
  return isOwn ? difference.getInputs()[0] : Value();
}

/// y of a narrower type, where x is the difference of y, cast to a wider one, and its mean, and the
/// mean of squares is cast back.
Value Normalization::narrowed() {
  Value wide = centredOf(x);
  onnx::NodeOp widening = wide ? nodeOf(wide, op::Cast) : onnx::NodeOp();
  onnx::NodeOp rounding = soleUser(mean.getResult(0), {op::Cast});
  if (!widening || !rounding)
    return nullptr;
  Value y = widening.getInputs()[0];
  Type element = getElementTypeOrSelf(y);
  if (!element.isF32() || !getElementTypeOrSelf(wide).isF64() ||
      getElementTypeOrSelf(rounding.getResult(0)) != element)
    return nullptr;
  variance = rounding.getResult(0);
  return y;
}

/// The other operand of the only user of the found value, if the user is an operator `type` and the
/// operand is one of rows. The user is then part of the pattern.
Value Normalization::takeOperand(onnx::Operator type) {
  onnx::NodeOp user = soleUser(root.getResult(0), {type});
  if (!user || user.outputType(0) != root.outputType(0))
    return nullptr;
  Value other = otherInput(user, root.getResult(0));
  auto own = dyn_cast<RankedTensorType>(other.getType());
  if (!own || own.getRank() > root.outputType(0).getRank() - axis ||
      !broadcastsTo(own, root.outputType(0)))
    return nullptr;
  root = user;
  return other;
}

void Normalization::recognise() {
  x = squareRootOf(mean.getInputs()[0]);
  std::optional<int64_t> from = meanAxis(mean);
  if (!x || !from || !mean.getInputs()[0].hasOneUse())
    return;
  axis = *from;
  variance = mean.getResult(0);
  narrow = narrowed();
  if (!takeEpsilon() || !findRoot() || root.outputType(0) != x.getType())
    return;
  Value centred = centredOf(x);
  Value weight = takeOperand(op::Mul);
  Value bias = centred ? takeOperand(op::Add) : Value();
  OpBuilder at(root);
  NodeBuilder builder(at, root.getLoc(), root.getNode());
  RankedTensorType type = root.outputType(0);
  if (!weight)
    weight = builder.splat(1, type.clone(type.getShape().drop_front(axis)));
  SmallVector<Value> inputs{centred ? centred : x, weight};
  if (bias)
    inputs.push_back(bias);
  onnx::NodeOp made =
      replaceRoot(root, centred ? op::LayerNormalization : op::RMSNormalization, inputs,
                  {builder.attr("axis", axis), builder.attr("epsilon", epsilon)},
                  centred ? kLayerOpset : kRmsOpset);
  remarkFound(made, centred ? "layer normalization" : "root-mean-square normalization");
}

namespace {
struct RecogniseNormalization : impl::RecogniseNormalizationBase<RecogniseNormalization> {
  void runOnOperation() override {
    forEachNode(getOperation(), op::ReduceMean,
                [](onnx::NodeOp node) { Normalization(node).recognise(); });
  }
};
} // namespace

} // namespace zero
