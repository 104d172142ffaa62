//===- Muon.cpp - orthogonalised momentum ---------------------------------===//
//
// Jordan et al., Muon (2024), and Liu et al., arXiv 2502.16982, as torch.optim.Muon. The step of a
// matrix is its momentum with all singular values near 1: Newton and Schulz's iteration
//
//   X = D / max(|D|, eps);  ns-steps times: G = X X', X = (a I + b G + c G G) X
//
// with X' X on the other side if X has more rows than columns, which is the same with the smaller
// of both products. With --ns-precision=bf16 values are rounded where torch rounds them: D, its
// norm, X, G and b G + c G G. Products sum in f32. The step is scaled by the rows and columns of
// the matrix as it is stored, or by the outputs and inputs of its products.
//
// With --qk-clip=T it is MuonClip (Kimi K2, arXiv 2507.20534, section 2.1): behind the step, the
// rows of queries and keys of a head whose largest score S is above T are scaled. W becomes f W
// with the step f O + (f - 1) (1 - lr wd) W / -lr in place of O.
//
//===----------------------------------------------------------------------===//

#include "../Optimizers.h"

#include "zero/Optimizers/Matrices.h"

#include "llvm/Support/FormatVariadic.h"

#include <cmath>

using namespace mlir;
using namespace zero;

namespace {

/// What the result of an iteration is multiplied by.
struct Factor {
  double by = 1;
  std::string name = ""; ///< unique for it, for names of kernels
  bool isLast = false;   ///< of the last iteration, whose result is the step
};

class Muon : public Optimizer {
public:
  explicit Muon(const Settings &settings)
      : Optimizer(settings), momentum(settings.number("momentum")), epsilon(settings.number("eps")),
        steps(unsigned(settings.number("ns-steps"))),
        coefficients(settings.numbers("ns-coefficients")),
        isNesterov(!settings.isOn("no-nesterov")),
        matchesRms(settings.word("muon-scale") == "match_rms_adamw"),
        isOfProducts(settings.word("muon-orientation") == "product"),
        isRounded(settings.word("ns-precision") == "bf16"),
        largestScore(settings.number("qk-clip")) {}

  SmallVector<ParameterState> states() const override { return {{"momentum_buffer"}}; }
  unsigned numScalars() const override { return 2; }

  /// Scalars: 1 - lr * wd, -lr.
  void buildScalars(OpBuilder &builder, Location loc, Value lr, ValueRange,
                    SmallVectorImpl<Value> &results) const override {
    Formula f(builder, loc);
    Type f64 = lr.getType();
    Value decay = f.sub(f.constant(1.0, f64), f.mul(lr, f.constant(weightDecay, f64)));
    results.append({decay, arith::NegFOp::create(builder, loc, lr)});
  }

  bool isOfMatrices() const override { return true; }

  void buildMatrixDirection(OpBuilder &builder, Location loc, ValueRange operands,
                            SmallVectorImpl<Value> &results) const override {
    Formula f(builder, loc);
    Value gradient = operands[1];
    Value share = f.constant(1 - momentum, gradient.getType());
    Value next = f.fma(share, f.sub(gradient, operands[0]), operands[0]);
    results.append({next, isNesterov ? f.fma(share, f.sub(gradient, next), next) : next});
  }

  void buildMatrixStep(MatrixBuilder &matrices, Value direction, ValueRange,
                       SmallVectorImpl<Value> &results) const override;

  std::string describeMatrixStep(ArrayRef<int64_t> shape,
                                 MatrixOrientation orientation) const override {
    const auto [rows, columns] = sidesOf(shape, orientation);
    return llvm::formatv(", scaled as {0}x{1}", rows, columns);
  }

  /// The gradient is the step.
  void buildUpdate(OpBuilder &builder, Location loc, ValueRange operands,
                   SmallVectorImpl<Value> &results) const override {
    Formula f(builder, loc);
    Value weight = operands[0], step = operands[1], decay = operands[2], minusLr = operands[3];
    results.push_back(f.fma(minusLr, step, weightDecay == 0 ? weight : f.mul(weight, decay)));
  }

  double scoreLimit() const override {
    return largestScore > 0 ? largestScore : Optimizer::scoreLimit();
  }

  /// With a learning rate of 0 no step changes the parameter.
  Value buildScaledStep(Formula &f, Value parameter, Value step, Value factor,
                        ValueRange scalars) const override {
    Value decay = scalars[0], minusLr = scalars[1], one = f.constant(1, step.getType());
    Value decayed = weightDecay == 0 ? parameter : f.mul(parameter, decay);
    Value change = f.div(f.mul(f.sub(factor, one), decayed), minusLr);
    return f.select(f.isZero(minusLr), step, f.fma(factor, step, change));
  }

private:
  Value normalise(OpBuilder &builder, Location loc, Value matrix) const;
  Value evaluatePolynomial(OpBuilder &builder, Location loc, ValueRange powers, double by) const;
  Value iterate(MatrixBuilder &matrices, Value x, bool isTall, const Factor &factor) const;
  Value iterateRounded(MatrixBuilder &matrices, Value x, bool isTall, const Factor &factor) const;
  std::pair<int64_t, int64_t> sidesOf(ArrayRef<int64_t> shape, MatrixOrientation orientation) const;
  double scaleOf(int64_t rows, int64_t columns) const;

  double momentum, epsilon;
  unsigned steps;
  SmallVector<double, 3> coefficients;
  bool isNesterov, matchesRms, isOfProducts, isRounded;
  double largestScore; ///< of attention; 0: any
};

} // namespace

/// A tensor of `type` that `body` makes of the elements of `operands`.
static Value mapElements(OpBuilder &builder, Location loc, ValueRange operands,
                         RankedTensorType type, ElementBody body) {
  auto all = llvm::map_to_vector(
      operands, [](Value operand) { return TensorOperand{operand, allDims(operand)}; });
  return mapTensors(builder, loc, all, type, body);
}

/// `matrix` over its norm.
Value Muon::normalise(OpBuilder &builder, Location loc, Value matrix) const {
  auto type = cast<RankedTensorType>(matrix.getType());
  const unsigned rank = type.getRank();
  Type f64 = builder.getF64Type(), f32 = builder.getF32Type();
  auto rounded = [&](Formula &f, Value value) {
    Value single = f.cast(value, f32);
    return isRounded ? f.cast(f.cast(single, builder.getBF16Type()), f32) : single;
  };
  Value squares = sumTensor(builder, loc, matrix, {rank - 2, rank - 1}, f64,
                            [&](Formula &f, ValueRange values) {
                              Value value = f.cast(rounded(f, values[0]), f64);
                              return f.mul(value, value);
                            });
  auto result = isRounded ? type.clone(builder.getBF16Type()) : type;
  return mapElements(builder, loc, {matrix, squares}, result, [&](Formula &f, ValueRange values) {
    Value norm = f.max(rounded(f, f.sqrt(values[1])), f.constant(epsilon, f32));
    return f.cast(f.div(rounded(f, values[0]), norm), result.getElementType());
  });
}

/// `by` times a I + b G + c G G of `powers` G and G G.
Value Muon::evaluatePolynomial(OpBuilder &builder, Location loc, ValueRange powers,
                               double by) const {
  auto type = cast<RankedTensorType>(powers[0].getType());
  Type f32 = type.getElementType();
  return mapElements(builder, loc, powers, type, [&](Formula &f, ValueRange values) {
    Value zero = f.constant(0, f32), a = f.constant(by * coefficients[0], f32);
    Value constant = f.select(f.isOnDiagonal(type.getRank()), a, zero);
    Value linear = f.fma(f.constant(by * coefficients[1], f32), values[0], constant);
    return f.fma(f.constant(by * coefficients[2], f32), values[1], linear);
  });
}

/// The next X.
Value Muon::iterate(MatrixBuilder &matrices, Value x, bool isTall, const Factor &factor) const {
  Value gram = isTall ? matrices.gramOfColumns(x) : matrices.gramOfRows(x);
  Value polynomial =
      matrices.compute("polynomial" + factor.name, {gram, matrices.product(gram, gram)},
                       [&](OpBuilder &b, Location l, ValueRange powers) {
                         return evaluatePolynomial(b, l, powers, factor.by);
                       });
  return isTall ? matrices.product(x, polynomial) : matrices.product(polynomial, x);
}

/// The next X in bf16, a X + (b G + c G G) X, and in f32 if it is the last one.
Value Muon::iterateRounded(MatrixBuilder &matrices, Value x, bool isTall,
                           const Factor &factor) const {
  Type f32 = Float32Type::get(x.getContext()), bf16 = BFloat16Type::get(x.getContext());
  // p * given[0] + q * given[1], rounded.
  auto combine = [&](Formula &f, ValueRange given, double p, double q) {
    Value scaled = f.mul(f.constant(p, f32), f.cast(given[0], f32));
    return f.cast(f.fma(f.constant(q, f32), given[1], scaled), bf16);
  };
  auto typeOf = [](ValueRange given) { return cast<RankedTensorType>(given.front().getType()); };
  Value gram = isTall ? matrices.gramOfColumns(x, bf16) : matrices.gramOfRows(x, bf16);
  Value polynomial = matrices.compute(
      "polynomial", {gram, matrices.product(gram, gram)},
      [&](OpBuilder &b, Location l, ValueRange given) {
        return mapElements(b, l, given, typeOf(given), [&](Formula &f, ValueRange values) {
          return combine(f, values, coefficients[1], coefficients[2]);
        });
      });
  Value change = isTall ? matrices.product(x, polynomial) : matrices.product(polynomial, x);
  Type element = factor.isLast ? f32 : bf16;
  return matrices.compute(
      "next" + factor.name, {x, change},
      [&](OpBuilder &b, Location l, ValueRange given) {
        return mapElements(
            b, l, given, typeOf(given).clone(element), [&](Formula &f, ValueRange values) {
              Value next = combine(f, values, coefficients[0], 1);
              return factor.isLast ? f.mul(f.constant(factor.by, f32), f.cast(next, f32)) : next;
            });
      },
      element);
}

/// The rows and columns that the step of a matrix is scaled by.
std::pair<int64_t, int64_t> Muon::sidesOf(ArrayRef<int64_t> shape,
                                          MatrixOrientation orientation) const {
  const int64_t rows = shape.end()[-2], columns = shape.end()[-1];
  if (isOfProducts && orientation == MatrixOrientation::InputsFirst)
    return {columns, rows};
  return {rows, columns};
}

/// The factor of the step of a matrix, torch's `adjust_lr_fn`.
double Muon::scaleOf(int64_t rows, int64_t columns) const {
  return matchesRms ? 0.2 * std::sqrt(double(std::max(rows, columns)))
                    : std::sqrt(std::max(1.0, double(rows) / double(columns)));
}

void Muon::buildMatrixStep(MatrixBuilder &matrices, Value direction, ValueRange,
                           SmallVectorImpl<Value> &results) const {
  ArrayRef<int64_t> shape = cast<RankedTensorType>(direction.getType()).getShape();
  const bool isTall = shape.end()[-2] > shape.end()[-1];
  const auto [rows, columns] = sidesOf(shape, matrices.getOrientation());
  auto normalised = [&](OpBuilder &b, Location l, ValueRange given) {
    return normalise(b, l, given.front());
  };
  Value x = matrices.compute("normalise", direction, normalised,
                             isRounded ? Type(BFloat16Type::get(direction.getContext())) : Type());
  for (unsigned step = 1; step < steps; ++step)
    x = isRounded ? iterateRounded(matrices, x, isTall, {}) : iterate(matrices, x, isTall, {});
  const Factor last{scaleOf(rows, columns), llvm::formatv("_{0}x{1}", rows, columns), true};
  results.push_back(isRounded ? iterateRounded(matrices, x, isTall, last)
                              : iterate(matrices, x, isTall, last));
}

static std::string checkMuon(const Settings &settings) {
  return checkIterations(settings, "ns-steps", /*most=*/20);
}

namespace zero {
void registerMuon() {
  registerOptimizer(
      {.name = "muon",
       .summary = "momentum of matrices, orthogonalised; another optimizer for the rest",
       .source = "Jordan et al. 2024; Liu et al., arXiv 2502.16982",
       .torch = "Muon",
       .deepSpeed = {.type = "Muon",
                     .matrixRate = "muon_lr",
                     .otherRate = "adam_lr",
                     .other = "adamw",
                     .ofOther = {{"betas", "0.9,0.95"}, {"eps", "1e-10"}}},
       .hyperparameters =
           {{"momentum", Range::BelowOne, {0.95}, "momentum"},
            {.flag = "no-nesterov",
             .range = Range::Switch,
             .meaning = "momentum without Nesterov's form",
             .foreignKey = "nesterov",
             .isNegation = true},
            {"muon-scale",
             Range::Word,
             {},
             "factor of a step: root of max(1, rows / columns), or 0.2 times the root "
             "of max(rows, columns)",
             "adjust_lr_fn",
             {"original", "match_rms_adamw"}},
            {"muon-orientation",
             Range::Word,
             {},
             "rows and columns of this factor: those of the tensor as it is stored, or the outputs "
             "and inputs of the products that read it",
             "",
             {"stored", "product"}},
            {"ns-steps", Range::Count, {5}, "iterations that orthogonalise"},
            {"ns-precision",
             Range::Word,
             {},
             "type of the matrices that are multiplied; products sum in f32",
             "",
             {"f32", "bf16"}},
            {"ns-coefficients",
             Range::Any,
             {3.4445, -4.775, 2.0315},
             "a, b and c of their polynomial"},
            {"eps", Range::NotNegative, {1e-7}, "minimum of the norm of a matrix"},
            {"qk-clip",
             Range::NotNegative,
             {0},
             "largest score of attention: scale queries and keys of heads with larger ones; 0 for "
             "no limit"},
            weightDecayParameter()},
       .examples = {"--lr=0.02 --weight-decay=0.1"},
       .create = make<Muon>,
       .check = checkMuon});
}
} // namespace zero
