//===- RecurrentActivations.cpp - functions of recurrent layers -----------===//

#include "RecurrentActivations.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;

namespace zero::ops {

Number operator+(Number a, Number c) {
  return a.make(arith::AddFOp::create(*a.b, a.value, c.value));
}
Number operator-(Number a, Number c) {
  return a.make(arith::SubFOp::create(*a.b, a.value, c.value));
}
Number operator*(Number a, Number c) {
  return a.make(arith::MulFOp::create(*a.b, a.value, c.value));
}
Number operator/(Number a, Number c) {
  return a.make(arith::DivFOp::create(*a.b, a.value, c.value));
}
Number select(Value condition, Number a, Number c) {
  return a.make(arith::SelectOp::create(*a.b, condition, a.value, c.value));
}

static Value isAbove(Number a, double bound) {
  return arith::CmpFOp::create(*a.b, arith::CmpFPredicate::OGT, a.value, a.constant(bound).value);
}
static Number most(Number a, double bound) {
  return a.make(arith::MinimumFOp::create(*a.b, a.value, a.constant(bound).value));
}
static Number least(Number a, double bound) {
  return a.make(arith::MaximumFOp::create(*a.b, a.value, a.constant(bound).value));
}
static Number exp(Number x) { return x.make(math::ExpOp::create(*x.b, x.value)); }
static Number tanh(Number x) { return x.make(math::TanhOp::create(*x.b, x.value)); }
static Number abs(Number x) { return x.make(math::AbsFOp::create(*x.b, x.value)); }
static Number sigmoid(Number x) {
  Number one = x.constant(1);
  return one / (one + exp(x.make(arith::NegFOp::create(*x.b, x.value))));
}

struct Activation::Function {
  llvm::StringLiteral name;
  bool takesAlpha, takesBeta;
  std::optional<double> alpha, beta;
  /// Computes the value from x, alpha and beta.
  Number (*value)(Number, double, double);
  /// Computes the derivative from x, the value, alpha and beta.
  Number (*slope)(Number, Number, double, double);
};

// ONNX's list, with the defaults of the operators of these names; Affine and ScaledTanh are none.
static const Activation::Function kFunctions[] = {
    {"Sigmoid",
     false,
     false,
     {},
     {},
     [](Number x, double, double) { return sigmoid(x); },
     [](Number, Number y, double, double) { return y * (1.0 - y); }},
    {"Tanh",
     false,
     false,
     {},
     {},
     [](Number x, double, double) { return tanh(x); },
     [](Number, Number y, double, double) { return 1.0 - y * y; }},
    {"Relu",
     false,
     false,
     {},
     {},
     [](Number x, double, double) { return least(x, 0); },
     [](Number x, Number, double, double) {
       return select(isAbove(x, 0), x.constant(1), x.constant(0));
     }},
    {"Affine",
     true,
     true,
     {},
     {},
     [](Number x, double a, double b) { return b + a * x; },
     [](Number x, Number, double a, double) { return x.constant(a); }},
    {"LeakyRelu",
     true,
     false,
     0.01,
     {},
     [](Number x, double a, double) { return select(isAbove(x, 0), x, a * x); },
     [](Number x, Number, double a, double) {
       return select(isAbove(x, 0), x.constant(1), x.constant(a));
     }},
    {"ThresholdedRelu",
     true,
     false,
     1.0,
     {},
     [](Number x, double a, double) { return select(isAbove(x, a), x, x.constant(0)); },
     [](Number x, Number, double a, double) {
       return select(isAbove(x, a), x.constant(1), x.constant(0));
     }},
    {"ScaledTanh",
     true,
     true,
     {},
     {},
     [](Number x, double a, double b) { return a * tanh(b * x); },
     [](Number x, Number, double a, double b) {
       Number t = tanh(b * x);
       return (a * b) * (1.0 - t * t);
     }},
    {"HardSigmoid", true, true, 0.2, 0.5,
     [](Number x, double a, double b) { return least(most(b + a * x, 1), 0); },
     [](Number x, Number, double a, double b) {
       Number line = b + a * x, flat = x.constant(0);
       return select(isAbove(line, 1), flat, select(isAbove(line, 0), x.constant(a), flat));
     }},
    {"Elu",
     true,
     false,
     1.0,
     {},
     [](Number x, double a, double) {
       return select(isAbove(x, 0), x, a * (-1.0 + exp(most(x, 0))));
     },
     [](Number x, Number y, double a, double) {
       return select(isAbove(x, 0), x.constant(1), a + y);
     }},
    {"Softsign",
     false,
     false,
     {},
     {},
     [](Number x, double, double) { return x / (1.0 + abs(x)); },
     [](Number x, Number, double, double) {
       Number far = 1.0 + abs(x);
       return x.constant(1) / (far * far);
     }},
    {"Softplus",
     false,
     false,
     {},
     {},
     [](Number x, double, double) {
       // max(x, 0) + log(1 + exp(-|x|)): no power overflows.
       Number power = exp(-1.0 * abs(x));
       return least(x, 0) + x.make(math::Log1pOp::create(*x.b, power.value));
     },
     [](Number x, Number, double, double) { return sigmoid(x); }},
};

const Activation::Function *Activation::find(StringRef name) {
  const auto *found = llvm::find_if(
      kFunctions, [&](const Activation::Function &f) { return f.name.equals_insensitive(name); });
  return found == std::end(kFunctions) ? nullptr : found;
}

std::string Activation::names() {
  return llvm::join(
      llvm::map_range(kFunctions, [](const Activation::Function &f) { return f.name.str(); }),
      ", ");
}

StringRef Activation::nameOf(const Function *function) { return function->name; }
bool Activation::takesAlpha(const Function *function) { return function->takesAlpha; }
bool Activation::takesBeta(const Function *function) { return function->takesBeta; }
std::optional<double> Activation::defaultAlpha(const Function *function) { return function->alpha; }
std::optional<double> Activation::defaultBeta(const Function *function) { return function->beta; }

Number Activation::value(Number x) const {
  if (clip > 0)
    x = least(most(x, clip), -clip);
  return function->value(x, alpha, beta);
}

Number Activation::slope(Number x, Number y) const {
  Number inside = function->slope(x, y, alpha, beta);
  return clip > 0 ? select(isAbove(abs(x), clip), x.constant(0), inside) : inside;
}

} // namespace zero::ops
