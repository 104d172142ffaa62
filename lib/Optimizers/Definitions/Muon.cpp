//===- Muon.cpp - orthogonalised momentum ---------------------------------===//
//
// Jordan et al., Muon (2024), and Liu et al., arXiv 2502.16982, as torch.optim.Muon. The step of a
// matrix is its momentum with all singular values near 1: Newton and Schulz's iteration
//
//   X = D / max(|D|, eps);  ns-steps times: G = X X', X = (a I + b G + c G G) X
//
// with X' X on the other side if X has more rows than columns, which is the same with the smaller
// of both products. torch does the products in bf16, this does them in f32. The step is scaled by
// the shape of the matrix as it is stored.
//
//===----------------------------------------------------------------------===//

#include "../Optimizers.h"

#include "zero/Optimizers/Matrices.h"

#include "llvm/Support/FormatVariadic.h"

#include <cmath>

using namespace mlir;
using namespace zero;

namespace {

class Muon : public Optimizer {
public:
  explicit Muon(const Settings &settings)
      : Optimizer(settings), momentum(settings.number("momentum")), epsilon(settings.number("eps")),
        steps(unsigned(settings.number("ns-steps"))),
        coefficients(settings.numbers("ns-coefficients")),
        isNesterov(!settings.isOn("no-nesterov")),
        matchesRms(settings.word("muon-scale") == "match_rms_adamw") {}

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

  /// The gradient is the step.
  void buildUpdate(OpBuilder &builder, Location loc, ValueRange operands,
                   SmallVectorImpl<Value> &results) const override {
    Formula f(builder, loc);
    Value weight = operands[0], step = operands[1], decay = operands[2], minusLr = operands[3];
    results.push_back(f.fma(minusLr, step, weightDecay == 0 ? weight : f.mul(weight, decay)));
  }

private:
  Value normalise(OpBuilder &builder, Location loc, Value matrix) const;
  Value evaluatePolynomial(OpBuilder &builder, Location loc, ValueRange powers, double by) const;
  double scaleOf(ArrayRef<int64_t> shape) const;

  double momentum, epsilon;
  unsigned steps;
  SmallVector<double, 3> coefficients;
  bool isNesterov, matchesRms;
};

} // namespace

/// `matrix` over its norm.
Value Muon::normalise(OpBuilder &builder, Location loc, Value matrix) const {
  auto type = cast<RankedTensorType>(matrix.getType());
  const unsigned rank = type.getRank();
  Type f64 = builder.getF64Type(), f32 = type.getElementType();
  Value squares = sumTensor(builder, loc, matrix, {rank - 2, rank - 1}, f64,
                            [&](Formula &f, ValueRange values) {
                              Value value = f.cast(values[0], f64);
                              return f.mul(value, value);
                            });
  return mapTensors(builder, loc, {{matrix, allDims(matrix)}, {squares, allDims(squares)}}, type,
                    [&](Formula &f, ValueRange values) {
                      Value norm = f.cast(f.sqrt(values[1]), f32);
                      return f.div(values[0], f.max(norm, f.constant(epsilon, f32)));
                    });
}

/// `by` times a I + b G + c G G of `powers` G and G G.
Value Muon::evaluatePolynomial(OpBuilder &builder, Location loc, ValueRange powers,
                               double by) const {
  auto type = cast<RankedTensorType>(powers[0].getType());
  Type f32 = type.getElementType();
  SmallVector<TensorOperand> operands;
  for (Value power : powers)
    operands.push_back({power, allDims(power)});
  return mapTensors(builder, loc, operands, type, [&](Formula &f, ValueRange values) {
    Value zero = f.constant(0, f32), a = f.constant(by * coefficients[0], f32);
    Value constant = f.select(f.isOnDiagonal(type.getRank()), a, zero);
    Value linear = f.fma(f.constant(by * coefficients[1], f32), values[0], constant);
    return f.fma(f.constant(by * coefficients[2], f32), values[1], linear);
  });
}

/// The factor of the step of a matrix, torch's `adjust_lr_fn`.
double Muon::scaleOf(ArrayRef<int64_t> shape) const {
  const double rows = double(shape.end()[-2]), columns = double(shape.end()[-1]);
  return matchesRms ? 0.2 * std::sqrt(std::max(rows, columns))
                    : std::sqrt(std::max(1.0, rows / columns));
}

void Muon::buildMatrixStep(MatrixBuilder &matrices, Value direction, ValueRange,
                           SmallVectorImpl<Value> &results) const {
  ArrayRef<int64_t> shape = cast<RankedTensorType>(direction.getType()).getShape();
  const bool isTall = shape.end()[-2] > shape.end()[-1];
  Value x =
      matrices.compute("normalise", direction, [&](OpBuilder &b, Location l, ValueRange given) {
        return normalise(b, l, given.front());
      });
  for (unsigned step = 0; step < steps; ++step) {
    const bool isLast = step + 1 == steps;
    const double by = isLast ? scaleOf(shape) : 1.0;
    Value gram = isTall ? matrices.gramOfColumns(x) : matrices.gramOfRows(x);
    // Of the last one the key has the shape of the matrix, which the factor depends on.
    std::string formula =
        isLast ? llvm::formatv("polynomial_{0}x{1}", shape.end()[-2], shape.end()[-1]).str()
               : "polynomial";
    Value polynomial = matrices.compute(formula, {gram, matrices.product(gram, gram)},
                                        [&](OpBuilder &b, Location l, ValueRange powers) {
                                          return evaluatePolynomial(b, l, powers, by);
                                        });
    x = isTall ? matrices.product(x, polynomial) : matrices.product(polynomial, x);
  }
  results.push_back(x);
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
            {"ns-steps", Range::Count, {5}, "iterations that orthogonalise"},
            {"ns-coefficients",
             Range::Any,
             {3.4445, -4.775, 2.0315},
             "a, b and c of their polynomial"},
            {"eps", Range::NotNegative, {1e-7}, "minimum of the norm of a matrix"},
            weightDecayParameter()},
       .examples = {"--lr=0.02 --weight-decay=0.1"},
       .create = make<Muon>,
       .check = checkMuon});
}
} // namespace zero
