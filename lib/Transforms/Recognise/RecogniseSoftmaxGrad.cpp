//===- RecogniseSoftmaxGrad.cpp - gradients of softmaxes to SoftmaxGrad ----===//
//
// Programs that bring their backward pass write the gradient of a softmax w, for the gradient dy
// of its result, as
//   w dy - w sum(w dy)                          torch.autograd; jax.nn.softmax
//   e (dy / s - sum(dy e / s^2)), w = e / s     what JAX derives from exp(x - max) / sum
// Each is a difference of two terms, times a factor. Both terms are products of powers of the same
// values, a sum among them, so they are compared as such.
//
//===----------------------------------------------------------------------===//

#include "Patterns.h"

#include "dialects/Onnx/Operators.h"

#include "llvm/ADT/MapVector.h"

#include <cmath>

using namespace mlir;
using namespace zero::patterns;

namespace zero {
#define GEN_PASS_DEF_RECOGNISESOFTMAXGRAD
#include "include/zero/Transforms/Recognise/Passes.h.inc"

namespace {
/// A number times powers of values.
struct Powers {
  double number = 1;
  llvm::SmallMapVector<Value, int, 4> exponents;

  void multiply(Value value, int exponent) {
    if ((exponents[value] += exponent) == 0)
      exponents.erase(value);
  }
  void multiply(const Powers &other, int exponent) {
    number *= std::pow(other.number, exponent);
    for (auto [value, times] : other.exponents)
      multiply(value, exponent * times);
  }
  bool isSame(const Powers &other) const {
    return isNumber(number, other.number) && exponents.size() == other.exponents.size() &&
           llvm::all_of(exponents, [&](const std::pair<Value, int> &power) {
             auto found = other.exponents.find(power.first);
             return found != other.exponents.end() && found->second == power.second;
           });
  }
};

/// Writes values as powers, and remembers the values on the way.
class Factoring {
public:
  /// `value` as powers; `isComplete` is false where that would take more than a few nodes.
  Powers factor(Value value) {
    Powers powers;
    take(value, 1, powers);
    return powers;
  }
  bool isComplete() const { return left > 0; }
  ArrayRef<Value> getSeen() const { return seen; }

private:
  void take(Value value, int exponent, Powers &powers);

  int left = 32;
  SmallVector<Value> seen;
};
} // namespace

/// Whether the result of `node` broadcasts as its first operand does, and has the same elements.
static bool isTransparent(onnx::NodeOp node) {
  if (!node.isAnyOf({op::ReduceSum, op::Reshape}))
    return false;
  auto isOne = [](int64_t extent) { return extent == 1; };
  return node.inputType(0).getShape().drop_while(isOne) ==
         node.outputType(0).getShape().drop_while(isOne);
}

void Factoring::take(Value value, int exponent, Powers &powers) {
  if (--left <= 0)
    return;
  seen.push_back(value);
  if (std::optional<double> number = numberOf(value)) {
    powers.number *= std::pow(*number, exponent);
    return;
  }
  auto node = value.getDefiningOp<onnx::NodeOp>();
  if (!node)
    return powers.multiply(value, exponent);
  ValueRange inputs = node.getInputs();
  if (node.is(op::Mul) || node.is(op::Div)) {
    take(inputs[0], exponent, powers);
    take(inputs[1], node.is(op::Mul) ? exponent : -exponent, powers);
  } else if (node.is(op::Neg)) {
    powers.number = -powers.number;
    take(inputs[0], exponent, powers);
  } else if (node.is(op::Reciprocal)) {
    take(inputs[0], -exponent, powers);
  } else if (isTransparent(node)) {
    take(inputs[0], exponent, powers);
  } else {
    powers.multiply(value, exponent);
  }
}

/// The axis of a sum over one axis that keeps its dimension.
static std::optional<int64_t> axisOfSum(Value value) {
  return soleAxis(nodeOf(value, op::ReduceSum));
}

/// The only factor of `powers` that is a sum; null if there is none or several. Divisors, such as
/// the sum of a softmax itself, do not count.
static Value soleSum(const Powers &powers) {
  Value found;
  for (auto [value, exponent] : powers.exponents) {
    if (exponent != 1 || !axisOfSum(value))
      continue;
    if (found)
      return nullptr;
    found = value;
  }
  return found;
}

/// The part of `powers` that varies along `axis` of a tensor of `rank` dimensions.
static Powers varying(const Powers &powers, int64_t axis, int64_t rank) {
  Powers result;
  for (auto [value, exponent] : powers.exponents) {
    RankedTensorType type = tensorType(value);
    int64_t own = axis - (rank - type.getRank());
    if (own >= 0 && type.getDimSize(own) != 1)
      result.multiply(value, exponent);
  }
  return result;
}

namespace {
/// The terms of a sum or difference, and the factor around it, to `root`.
class Difference {
public:
  explicit Difference(onnx::NodeOp node) : root(node) {}

  /// Replaces the root if it is the gradient of a softmax.
  void recognise();

private:
  bool readTerms();
  bool replaceRootOfGradient();
  Value find(const Powers &powers);

  onnx::NodeOp root;
  Factoring factoring;
  Powers plain;   ///< the term without the sum
  Powers outside; ///< the other one, without it
  Powers inside;  ///< what the sum sums
  int64_t axis = 0;
};
} // namespace

bool Difference::readTerms() {
  std::array<Powers, 2> terms{factoring.factor(root.getInputs()[0]),
                              factoring.factor(root.getInputs()[1])};
  if (root.is(op::Sub))
    terms[1].number = -terms[1].number;
  std::array<Value, 2> sums{soleSum(terms[0]), soleSum(terms[1])};
  if (bool(sums[0]) == bool(sums[1]))
    return false;
  unsigned summed = sums[0] ? 0 : 1;
  axis = *axisOfSum(sums[summed]);
  plain = terms[1 - summed];
  outside = terms[summed];
  outside.multiply(sums[summed], -1);
  inside = factoring.factor(sums[summed].getDefiningOp<onnx::NodeOp>().getInputs()[0]);
  return factoring.isComplete();
}

/// A value of the root's type that equals `powers`: one of those seen, or a quotient of one.
Value Difference::find(const Powers &powers) {
  auto isIt = [&](Value value) {
    return value.getType() == root.getResult(0).getType() &&
           Factoring().factor(value).isSame(powers);
  };
  auto seen = llvm::find_if(factoring.getSeen(), isIt);
  if (seen != factoring.getSeen().end())
    return *seen;
  for (auto [value, exponent] : powers.exponents)
    for (Operation *user : value.getUsers())
      if (isNode(user, op::Div) && user->getBlock() == root->getBlock() &&
          user->isBeforeInBlock(root) && isIt(user->getResult(0)))
        return user->getResult(0);
  return nullptr;
}

/// The root is n (w dy - w sum(w dy)), for plain = w dy and outside * inside = -w w dy.
bool Difference::replaceRootOfGradient() {
  int64_t rank = root.outputType(0).getRank();
  Powers weights = outside;
  weights.multiply(inside, 1);
  weights.multiply(plain, -1);
  weights.number = -weights.number;
  if (!isNumber(weights.number, 1) ||
      !varying(outside, axis, rank).isSame(varying(weights, axis, rank)))
    return false;
  Powers gradient = plain;
  gradient.multiply(weights, -1);
  Value w = find(weights), dy = w ? find(gradient) : Value();
  if (!dy)
    return false;
  Builder builder(root.getContext());
  auto attr = builder.getNamedAttr("axis", builder.getI64IntegerAttr(axis));
  remarkFound(replaceRoot(root, own::SoftmaxGrad, {dy, w}, attr, 1), "gradient of a softmax");
  return true;
}

void Difference::recognise() {
  if (!readTerms())
    return;
  // The factor around the difference may be the weights, or their exponentials.
  while (!replaceRootOfGradient()) {
    Value result = root.getResult(0);
    onnx::NodeOp product = soleUser(result, {op::Mul});
    if (!product || product.outputType(0) != root.outputType(0) || !factoring.isComplete())
      return;
    Powers factor = factoring.factor(otherInput(product, result));
    plain.multiply(factor, 1);
    outside.multiply(factor, 1);
    root = product;
  }
}

namespace {
struct RecogniseSoftmaxGrad : impl::RecogniseSoftmaxGradBase<RecogniseSoftmaxGrad> {
  void runOnOperation() override {
    forEachNode(getOperation(), {op::Add, op::Sub}, [](onnx::NodeOp node) {
      if (isa<FloatType>(node.outputType(0).getElementType()))
        Difference(node).recognise();
    });
  }
};
} // namespace

} // namespace zero
