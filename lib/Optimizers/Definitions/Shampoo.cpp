//===- Shampoo.cpp - a preconditioner for each side of a matrix -----------===//
//
// Gupta et al., Shampoo, arXiv 1802.09568, with the moving means, grafting and momentum of Anil et
// al., arXiv 2002.09018. G is the gradient of a matrix:
//
//   L += (1 - beta2) * (G G' - L);  R += (1 - beta2) * (G' G - R)
//   S = L^(-1/4) G R^(-1/4), corrected for the zeros that L and R begin with
//   M = momentum * M + S;  W = (1 - lr * wd) * W - lr * M
//
// Roots are those of A = L / |L| + eps I, computed by products alone, as Anil et al. do: root-steps
// times
//
//   T = (5 I - A) / 4;  X = X T;  A = T^4 A
//
// from X = I on, which ends with A = I and X = A^(-1/4). Eigenvalues of A are between eps and about
// 1, and small ones grow by 2.4 in an iteration. Grafting gives a step the norm of another
// optimizer's: of the gradient (sgd), or of the gradient divided by the root of a moving mean of
// its squares (rmsprop).
//
//===----------------------------------------------------------------------===//

#include "../Optimizers.h"

#include "zero/Optimizers/Matrices.h"

using namespace mlir;
using namespace zero;

namespace {

class Shampoo : public Optimizer {
public:
  explicit Shampoo(const Settings &settings)
      : Optimizer(settings), momentum(settings.number("momentum")), beta2(settings.number("beta2")),
        epsilon(settings.number("eps")), rootSteps(unsigned(settings.number("root-steps"))),
        maxSide(int64_t(settings.number("largest-side"))),
        graftsGradient(settings.word("graft") == "sgd"),
        graftsRms(settings.word("graft") == "rmsprop") {}

  SmallVector<ParameterState> states() const override {
    return momentum == 0 ? SmallVector<ParameterState>()
                         : SmallVector<ParameterState>{{"momentum_buffer"}};
  }
  SmallVector<ScalarState> scalarStates() const override {
    return {{"optimizer.statistics_power", 1.0}};
  }
  unsigned numScalars() const override { return 3; }

  /// Scalars: 1 - lr * wd, -lr, root of 1 - beta2^t.
  void buildScalars(OpBuilder &builder, Location loc, Value lr, ValueRange states,
                    SmallVectorImpl<Value> &results) const override {
    Formula f(builder, loc);
    Type f64 = lr.getType();
    Value one = f.constant(1.0, f64), power = f.mul(states.front(), f.constant(beta2, f64));
    Value decay = f.sub(one, f.mul(lr, f.constant(weightDecay, f64)));
    // The norm of the gradient needs no correction.
    Value correction = graftsGradient ? one : f.sqrt(f.sub(one, power));
    results.append({power, decay, arith::NegFOp::create(builder, loc, lr), correction});
  }

  bool isOfMatrices() const override { return true; }
  unsigned numDirectionStates() const override { return 0; }
  int64_t largestSide() const override { return maxSide; }

  SmallVector<TensorState> tensorStates(ArrayRef<int64_t> shape) const override;

  /// The gradient is the direction.
  void buildMatrixDirection(OpBuilder &, Location, ValueRange operands,
                            SmallVectorImpl<Value> &results) const override {
    results.push_back(operands.front());
  }

  void buildMatrixStep(MatrixBuilder &matrices, Value gradient, ValueRange states,
                       SmallVectorImpl<Value> &results) const override;

  /// The gradient is the step.
  void buildUpdate(OpBuilder &builder, Location loc, ValueRange operands,
                   SmallVectorImpl<Value> &results) const override {
    Formula f(builder, loc);
    Value weight = operands.front(), decay = operands.end()[-3], minusLr = operands.end()[-2];
    Value change = f.mul(operands.end()[-4], operands.back());
    if (momentum != 0)
      change = f.fma(f.constant(momentum, weight.getType()), operands[1], change);
    results.push_back(f.fma(minusLr, change, weightDecay == 0 ? weight : f.mul(weight, decay)));
    if (momentum != 0)
      results.push_back(change);
  }

private:
  Value advance(MatrixBuilder &matrices, Value state, Value next) const;
  Value normalise(OpBuilder &builder, Location loc, Value statistics) const;
  Value computeRoot(MatrixBuilder &matrices, Value statistics) const;
  Value scale(OpBuilder &builder, Location loc, ValueRange given) const;
  Value graft(OpBuilder &builder, Location loc, ValueRange given) const;

  double momentum, beta2, epsilon;
  unsigned rootSteps;
  int64_t maxSide;
  bool graftsGradient, graftsRms;
};

} // namespace

/// The least norm that is divided by, so that zeros stay zeros.
static constexpr double kLeast = 1e-30;

/// The sums of squares of the matrices of `tensor`, in f64.
static Value sumSquares(OpBuilder &builder, Location loc, Value tensor) {
  const unsigned rank = cast<RankedTensorType>(tensor.getType()).getRank();
  Type f64 = builder.getF64Type();
  return sumTensor(builder, loc, tensor, {rank - 2, rank - 1}, f64, [&](Formula &f, ValueRange v) {
    Value value = f.cast(v.front(), f64);
    return f.mul(value, value);
  });
}

/// The norm of a matrix from its sum of squares, at least `kLeast`.
static Value normOf(Formula &f, Value squares) {
  return f.max(f.sqrt(squares), f.constant(kLeast, squares.getType()));
}

SmallVector<TensorState> Shampoo::tensorStates(ArrayRef<int64_t> shape) const {
  if (shape.size() < 2)
    return {};
  SmallVector<int64_t> left(shape), right(shape);
  left.back() = shape.end()[-2];
  right.end()[-2] = shape.back();
  SmallVector<TensorState> states{{"left", left}, {"right", right}};
  if (graftsRms)
    states.push_back({"square_avg", SmallVector<int64_t>(shape)});
  return states;
}

/// The moving mean `state` with `next`.
Value Shampoo::advance(MatrixBuilder &matrices, Value state, Value next) const {
  return matrices.compute("advance", {state, next}, [&](OpBuilder &b, Location l, ValueRange in) {
    const SmallVector<unsigned> dims = allDims(in.front());
    auto type = cast<RankedTensorType>(in.front().getType());
    return mapTensors(b, l, {{in[0], dims}, {in[1], dims}}, type, [&](Formula &f, ValueRange v) {
      return f.fma(f.constant(1 - beta2, type.getElementType()), f.sub(v[1], v[0]), v[0]);
    });
  });
}

/// A = statistics / |statistics| + eps I.
Value Shampoo::normalise(OpBuilder &builder, Location loc, Value statistics) const {
  auto type = cast<RankedTensorType>(statistics.getType());
  Type f32 = type.getElementType();
  Value squares = sumSquares(builder, loc, statistics);
  return mapTensors(builder, loc, {{statistics, allDims(statistics)}, {squares, allDims(squares)}},
                    type, [&](Formula &f, ValueRange values) {
                      Value damping = f.select(f.isOnDiagonal(type.getRank()),
                                               f.constant(epsilon, f32), f.constant(0, f32));
                      return f.add(f.div(values[0], f.cast(normOf(f, values[1]), f32)), damping);
                    });
}

/// The inverse fourth root of A.
Value Shampoo::computeRoot(MatrixBuilder &matrices, Value statistics) const {
  Value a = matrices.compute("normalise", statistics, [&](OpBuilder &b, Location l, ValueRange in) {
    return normalise(b, l, in.front());
  });
  Value root;
  for (unsigned step = 0; step < rootSteps; ++step) {
    Value t = matrices.compute("iterate", a, [&](OpBuilder &b, Location l, ValueRange in) {
      auto type = cast<RankedTensorType>(in.front().getType());
      Type f32 = type.getElementType();
      return mapTensors(
          b, l, {{in.front(), allDims(in.front())}}, type, [&](Formula &f, ValueRange v) {
            Value identity =
                f.select(f.isOnDiagonal(type.getRank()), f.constant(1.25, f32), f.constant(0, f32));
            return f.fma(f.constant(-0.25, f32), v.front(), identity);
          });
    });
    root = root ? matrices.product(root, t) : t;
    if (step + 1 == rootSteps)
      break;
    Value square = matrices.product(t, t);
    a = matrices.product(matrices.product(square, square), a);
  }
  return root;
}

/// The step of A times (|L| |R|)^(-1/4).
Value Shampoo::scale(OpBuilder &builder, Location loc, ValueRange given) const {
  Value step = given[0];
  auto type = cast<RankedTensorType>(step.getType());
  Value left = sumSquares(builder, loc, given[1]), right = sumSquares(builder, loc, given[2]);
  return mapTensors(builder, loc,
                    {{step, allDims(step)}, {left, allDims(left)}, {right, allDims(right)}}, type,
                    [&](Formula &f, ValueRange v) {
                      Value root = f.sqrt(f.sqrt(f.mul(normOf(f, v[1]), normOf(f, v[2]))));
                      return f.div(v[0], f.cast(root, type.getElementType()));
                    });
}

/// The step with the norm of the gradient, or of that divided by the root of its mean squares.
Value Shampoo::graft(OpBuilder &builder, Location loc, ValueRange given) const {
  Value step = given[0], other = given[1];
  auto type = cast<RankedTensorType>(step.getType());
  Type f32 = type.getElementType();
  const SmallVector<unsigned> dims = allDims(step);
  if (graftsRms)
    other = mapTensors(builder, loc, {{other, dims}, {given[2], dims}}, type,
                       [&](Formula &f, ValueRange v) {
                         return f.div(v[0], f.add(f.sqrt(v[1]), f.constant(1e-8, f32)));
                       });
  Value own = sumSquares(builder, loc, step), wanted = sumSquares(builder, loc, other);
  return mapTensors(builder, loc, {{step, dims}, {own, allDims(own)}, {wanted, allDims(wanted)}},
                    type, [&](Formula &f, ValueRange v) {
                      Value factor = f.div(f.sqrt(v[2]), normOf(f, v[1]));
                      return f.mul(v[0], f.cast(factor, f32));
                    });
}

void Shampoo::buildMatrixStep(MatrixBuilder &matrices, Value gradient, ValueRange states,
                              SmallVectorImpl<Value> &results) const {
  Value left = advance(matrices, states[0], matrices.gramOfRows(gradient));
  Value right = advance(matrices, states[1], matrices.gramOfColumns(gradient));
  results.append({left, right});
  SmallVector<Value> given{matrices.product(matrices.product(computeRoot(matrices, left), gradient),
                                            computeRoot(matrices, right))};
  if (!graftsGradient && !graftsRms) {
    given.append({left, right});
    results.push_back(
        matrices.compute("scale", given, [&](OpBuilder &b, Location l, ValueRange operands) {
          return scale(b, l, operands);
        }));
    return;
  }
  given.push_back(gradient);
  if (graftsRms) {
    Value squares =
        matrices.compute("square", gradient, [&](OpBuilder &b, Location l, ValueRange in) {
          return mapTensors(b, l, {{in.front(), allDims(in.front())}},
                            cast<RankedTensorType>(in.front().getType()),
                            [](Formula &f, ValueRange v) { return f.mul(v[0], v[0]); });
        });
    results.push_back(advance(matrices, states[2], squares));
    given.push_back(results.back());
  }
  results.push_back(
      matrices.compute("graft", given, [&](OpBuilder &b, Location l, ValueRange operands) {
        return graft(b, l, operands);
      }));
}

static std::string checkShampoo(const Settings &settings) {
  return checkIterations(settings, "root-steps", /*most=*/50);
}

namespace zero {
void registerShampoo() {
  registerOptimizer(
      {.name = "shampoo",
       .summary = "preconditioners of the rows and columns of matrices; another optimizer for the "
                  "rest",
       .source = "Gupta et al., arXiv 1802.09568; Anil et al., arXiv 2002.09018",
       .torch = "",
       .deepSpeed = {.type = "Shampoo", .other = "adamw"},
       .hyperparameters =
           {{"momentum", Range::BelowOne, {0.9}, "momentum"},
            {"beta2", Range::BelowOne, {0.99}, "decay rate of the statistics"},
            {"eps",
             Range::Positive,
             {1e-5},
             "added to the eigenvalues of statistics, relative to their norm"},
            {"root-steps", Range::Count, {20}, "iterations that compute an inverse fourth root"},
            {"graft",
             Range::Word,
             {},
             "the norm of a step: its own, that of the gradient, or that of RMSprop's step",
             "",
             {"none", "sgd", "rmsprop"}},
            {"largest-side",
             Range::Count,
             {8192},
             "most rows or columns of a matrix; another optimizer updates larger ones"},
            weightDecayParameter()},
       .examples = {"--lr=0.01 --weight-decay=0.1"},
       .create = make<Shampoo>,
       .check = checkShampoo});
}
} // namespace zero
