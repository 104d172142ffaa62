//===- RecogniseGelu.cpp - chains of primitives to Gelu -------------------===//
//
// A product is read as the set of its factors, whatever its grouping, with all
// constants multiplied into one. Both forms of GELU then are
//   0.5 * x * (1 + tail), tail = erf(c x) or tanh(c (x + d x^3)).
//
//===----------------------------------------------------------------------===//

#include "Patterns.h"

#include "dialects/Onnx/Operators.h"

#include "llvm/ADT/SetVector.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace zero::patterns;

namespace zero {
#define GEN_PASS_DEF_RECOGNISEGELU
#include "include/zero/Transforms/Recognise/Passes.h.inc"

// The first opset with Gelu.
static constexpr int64_t kGeluOpset = 20;

namespace {
/// A product: `scale` times the factors.
struct Product {
  double scale = 1;
  SmallVector<Value> factors;
};
} // namespace

/// Multiplies `value` into `product`, taking apart Mul, Div by a constant, and
/// Pow with a small constant exponent, but not beyond `stop`.
static void multiply(Value value, Value stop, Product &product) {
  if (std::optional<double> number = numberOf(value)) {
    product.scale *= *number;
    return;
  }
  if (value != stop) {
    if (auto node = nodeOf(value, op::Mul)) {
      multiply(node.getInputs()[0], stop, product);
      multiply(node.getInputs()[1], stop, product);
      return;
    }
    if (auto node = nodeOf(value, op::Div))
      if (std::optional<double> divisor = numberOf(node.getInputs()[1]); divisor && *divisor != 0) {
        product.scale /= *divisor;
        return multiply(node.getInputs()[0], stop, product);
      }
    if (auto node = nodeOf(value, op::Pow))
      if (std::optional<double> power = numberOf(node.getInputs()[1]);
          power && (*power == 2 || *power == 3)) {
        for (int i = 0; i < int(*power); ++i)
          multiply(node.getInputs()[0], stop, product);
        return;
      }
  }
  product.factors.push_back(value);
}

static Product productOf(Value value, Value stop) {
  Product product;
  multiply(value, stop, product);
  return product;
}

/// Whether `value` is `scale` times `x` to the power of `count`.
static bool isPower(Value value, Value x, double scale, size_t count) {
  Product product = productOf(value, x);
  return isNumber(product.scale, scale) && product.factors.size() == count &&
         llvm::all_of(product.factors, [&](Value factor) { return factor == x; });
}

/// Whether `value` adds something that satisfies `first` to 0.044715 times `x`
/// to the power of `count`.
static bool isSum(Value value, Value x, size_t count, llvm::function_ref<bool(Value)> first) {
  auto node = nodeOf(value, op::Add);
  if (!node)
    return false;
  Value a = node.getInputs()[0], b = node.getInputs()[1];
  return (first(a) && isPower(b, x, 0.044715, count)) ||
         (first(b) && isPower(a, x, 0.044715, count));
}

/// Whether the factors are x + 0.044715 x^3, as written or as x (1 + 0.044715 x^2).
static bool isCubic(ArrayRef<Value> factors, Value x) {
  if (factors.size() == 1)
    return isSum(factors[0], x, 3, [&](Value value) { return value == x; });
  auto isOne = [](Value value) { return numberOf(value) == 1.0; };
  return factors.size() == 2 && ((factors[0] == x && isSum(factors[1], x, 2, isOne)) ||
                                 (factors[1] == x && isSum(factors[0], x, 2, isOne)));
}

/// Whether `tail` is erf(x / sqrt 2) or tanh(sqrt(2 / pi) (x + 0.044715 x^3)).
static bool isTailOf(onnx::NodeOp tail, Value x) {
  Value argument = tail.getInputs()[0];
  if (tail.is(op::Erf))
    return isPower(argument, x, 1 / llvm::numbers::sqrt2, 1);
  Product product = productOf(argument, x);
  return isNumber(product.scale, llvm::numbers::sqrt2 * llvm::numbers::inv_sqrtpi) &&
         isCubic(product.factors, x);
}

/// Values from which `value` may be computed by sums and products.
static void collectCandidates(Value value, llvm::SetVector<Value> &candidates) {
  constexpr size_t limit = 16;
  auto node = value.getDefiningOp<onnx::NodeOp>();
  if (!node || !node.isAnyOf({op::Add, op::Mul, op::Div, op::Pow}))
    return;
  for (Value input : node.getInputs())
    if (!numberOf(input) && candidates.size() < limit && candidates.insert(input))
      collectCandidates(input, candidates);
}

/// The only user of `value` if it is a Mul, or a Div that does not divide by it.
static onnx::NodeOp soleFactor(Value value) {
  onnx::NodeOp node = soleUser(value, {op::Mul, op::Div});
  bool divides = node && node.is(op::Div) && node.getInputs()[1] == value;
  return divides ? onnx::NodeOp() : node;
}

/// The node that yields 0.5 x (1 + tail), or null.
static onnx::NodeOp findRoot(onnx::NodeOp tail, Value x) {
  Value current = tail.getOutputs()[0];
  onnx::NodeOp node = soleUser(current, {op::Add});
  if (!node || numberOf(otherInput(node, current)) != 1.0)
    return nullptr;
  double scale = 1;
  bool hasX = false;
  while (true) {
    current = node.getOutputs()[0];
    node = soleFactor(current);
    if (!node)
      return nullptr;
    Product product = productOf(otherInput(node, current), x);
    bool divides = node.is(op::Div);
    bool takesX = !product.factors.empty();
    if (takesX && (hasX || divides || product.factors != SmallVector<Value>{x}))
      return nullptr;
    hasX |= takesX;
    scale = divides ? scale / product.scale : scale * product.scale;
    if (hasX && scale == 0.5)
      return node;
  }
}

/// Replaces the GELU that is built on `tail`, if there is one.
static void recognise(onnx::NodeOp tail) {
  llvm::SetVector<Value> candidates;
  candidates.insert(tail.getInputs()[0]);
  collectCandidates(tail.getInputs()[0], candidates);
  for (Value x : candidates) {
    onnx::NodeOp root = isTailOf(tail, x) ? findRoot(tail, x) : onnx::NodeOp();
    if (!root || root.getOutputs()[0].getType() != x.getType())
      continue;
    Builder builder(root.getContext());
    StringRef form = tail.is(op::Erf) ? "none" : "tanh";
    auto attr = builder.getNamedAttr("approximate", builder.getStringAttr(form));
    remarkFound(replaceRoot(root, op::Gelu, x, attr, kGeluOpset), "gelu");
    return;
  }
}

namespace {
struct RecogniseGelu : impl::RecogniseGeluBase<RecogniseGelu> {
  void runOnOperation() override { forEachNode(getOperation(), {op::Erf, op::Tanh}, recognise); }
};
} // namespace

} // namespace zero
