//===- Adafactor.cpp - factored second moments ----------------------------===//
//
// Shazeer and Stern, arXiv 1804.04235, algorithm 4, as torch.optim.Adafactor. A matrix G is the
// last two dimensions of a tensor. Its second moment is the product of those of its rows and of its
// columns, divided by the mean of the rows'. For a vector the full second moment is stored.
//
//   share = t^beta2-decay;  rows += share * (mean of G * G over columns - rows), columns alike
//   V = rows * columns / max(mean of rows, eps1);  U = G / sqrt(max(V, eps1 * eps1))
//   W = (1 - lr * wd) * W - min(lr, 1 / sqrt(t)) * max(eps2, RMS(W)) / max(1, RMS(U) / d) * U
//
// RMS(W) is of the parameter as it is stored, before its decay, as in torch.
//
//===----------------------------------------------------------------------===//

#include "../Optimizers.h"

using namespace mlir;
using namespace zero;

namespace {

class Adafactor : public Optimizer {
public:
  explicit Adafactor(const Settings &settings)
      : Optimizer(settings), beta2Decay(settings.number("beta2-decay")),
        epsilon1(settings.numbers("eps-pair")[0]), epsilon2(settings.numbers("eps-pair")[1]),
        threshold(settings.number("clip-threshold")) {}

  SmallVector<ParameterState> states() const override { return {}; }
  SmallVector<ScalarState> scalarStates() const override {
    return {{"optimizer.adafactor_updates", 0.0}};
  }
  unsigned numScalars() const override { return 3; }

  /// Scalars: 1 - lr * wd, (t + 1)^beta2-decay, -min(lr, 1 / sqrt(t + 1)).
  void buildScalars(OpBuilder &builder, Location loc, Value lr, ValueRange states,
                    SmallVectorImpl<Value> &results) const override {
    Formula f(builder, loc);
    Type f64 = lr.getType();
    Value one = f.constant(1.0, f64), next = f.add(states.front(), one);
    Value decay = f.sub(one, f.mul(lr, f.constant(weightDecay, f64)));
    Value share = math::PowFOp::create(builder, loc, next, f.constant(beta2Decay, f64));
    Value rate = f.min(lr, f.div(one, f.sqrt(next)));
    results.append({next, decay, share, arith::NegFOp::create(builder, loc, rate)});
  }

  bool isOfTensors() const override { return true; }

  SmallVector<TensorState> tensorStates(ArrayRef<int64_t> shape) const override {
    if (shape.size() < 2)
      return {{"variance", SmallVector<int64_t>(shape)}};
    SmallVector<int64_t> rows(shape.drop_back()), columns(shape.drop_back(2));
    columns.push_back(shape.back());
    return {{"row_var", rows}, {"col_var", columns}};
  }

  void buildTensorStep(OpBuilder &builder, Location loc, Value gradient, ValueRange states,
                       Value squares, ValueRange scalars,
                       SmallVectorImpl<Value> &results) const override;

  /// The gradient is the step.
  void buildUpdate(OpBuilder &builder, Location loc, ValueRange operands,
                   SmallVectorImpl<Value> &results) const override {
    Formula f(builder, loc);
    Value weight = operands[0], step = operands[1], decay = operands[2];
    results.push_back(weightDecay == 0 ? f.add(weight, step) : f.fma(weight, decay, step));
  }

private:
  Value next(OpBuilder &builder, Location loc, Value state, Value sums, double count,
             Value share) const;
  Value factored(OpBuilder &builder, Location loc, Value gradient, Value rows, Value columns) const;
  Value scale(Formula &f, Value ofParameter, Value ofUpdate, double count, Value rate) const;

  double beta2Decay, epsilon1, epsilon2, threshold;
};

} // namespace

/// `state` on its way to the means of `sums` over `count` elements.
Value Adafactor::next(OpBuilder &builder, Location loc, Value state, Value sums, double count,
                      Value share) const {
  auto type = cast<RankedTensorType>(state.getType());
  SmallVector<unsigned> dims = allDims(state);
  return mapTensors(builder, loc, {{sums, dims}, {state, dims}}, type,
                    [&](Formula &f, ValueRange values) {
                      Value mean = f.div(values[0], f.constant(count, type.getElementType()));
                      return f.fma(share, f.sub(mean, values[1]), values[1]);
                    });
}

/// `gradient` over the root of the product of `rows` and `columns`.
Value Adafactor::factored(OpBuilder &builder, Location loc, Value gradient, Value rows,
                          Value columns) const {
  auto type = cast<RankedTensorType>(gradient.getType());
  Type f32 = type.getElementType();
  unsigned rank = type.getRank();
  double numRows = double(type.getDimSize(rank - 2));
  Value total = sumTensor(builder, loc, rows, {rank - 2}, f32,
                          [](Formula &, ValueRange values) { return values[0]; });
  SmallVector<unsigned> all = allDims(gradient), ofRows(all), ofColumns(all);
  ofRows.pop_back();
  ofColumns.erase(ofColumns.end() - 2);
  return mapTensors(
      builder, loc,
      {{gradient, all}, {rows, ofRows}, {columns, ofColumns}, {total, allDims(total)}}, type,
      [&](Formula &f, ValueRange values) {
        Value mean = f.max(f.div(values[3], f.constant(numRows, f32)), f.constant(epsilon1, f32));
        Value moment = f.div(f.mul(values[1], values[2]), mean);
        Value least = f.constant(epsilon1 * epsilon1, f32);
        return f.div(values[0], f.sqrt(f.max(moment, least)));
      });
}

/// The factor of an update, computed from sums of squares.
Value Adafactor::scale(Formula &f, Value ofParameter, Value ofUpdate, double count,
                       Value rate) const {
  Type f64 = ofParameter.getType();
  auto rms = [&](Value squares) { return f.sqrt(f.div(squares, f.constant(count, f64))); };
  Value length = f.max(rms(ofParameter), f.constant(epsilon2, f64));
  Value clip = f.max(f.div(rms(ofUpdate), f.constant(threshold, f64)), f.constant(1.0, f64));
  return f.cast(f.mul(f.cast(rate, f64), f.div(length, clip)), rate.getType());
}

void Adafactor::buildTensorStep(OpBuilder &builder, Location loc, Value gradient, ValueRange states,
                                Value squares, ValueRange scalars,
                                SmallVectorImpl<Value> &results) const {
  auto type = cast<RankedTensorType>(gradient.getType());
  Type f32 = type.getElementType(), f64 = squares.getType();
  unsigned rank = type.getRank();
  SmallVector<unsigned> all = allDims(gradient);
  Value share = scalars[1], update;
  auto squared = [](Formula &f, ValueRange values) { return f.mul(values[0], values[0]); };
  if (rank < 2) {
    Value own = mapTensors(builder, loc, {{gradient, all}}, type, squared);
    results.push_back(next(builder, loc, states[0], own, 1, share));
    update = mapTensors(builder, loc, {{gradient, all}, {results[0], all}}, type,
                        [&](Formula &f, ValueRange values) {
                          Value least = f.constant(epsilon1 * epsilon1, f32);
                          return f.div(values[0], f.sqrt(f.max(values[1], least)));
                        });
  } else {
    Value rows = sumTensor(builder, loc, gradient, {rank - 1}, f32, squared);
    Value columns = sumTensor(builder, loc, gradient, {rank - 2}, f32, squared);
    results.push_back(
        next(builder, loc, states[0], rows, double(type.getDimSize(rank - 1)), share));
    results.push_back(
        next(builder, loc, states[1], columns, double(type.getDimSize(rank - 2)), share));
    update = factored(builder, loc, gradient, results[0], results[1]);
  }
  Formula f(builder, loc);
  Value total = sumTensor(builder, loc, update, all, f64, [&](Formula &f, ValueRange values) {
    Value value = f.cast(values[0], f64);
    return f.mul(value, value);
  });
  Value by = scale(f, squares, f.element(total), double(type.getNumElements()), scalars[2]);
  results.push_back(
      mapTensors(builder, loc, {{update, all}}, type,
                 [&](Formula &f, ValueRange values) { return f.mul(values[0], by); }));
}

static std::string checkAdafactor(const Settings &settings) {
  double threshold = settings.number("clip-threshold");
  return threshold >= 1 ? "" : "clip-threshold: expected a number >= 1, got " + number(threshold);
}

namespace zero {
void registerAdafactor() {
  registerOptimizer(
      {.name = "adafactor",
       .summary = "second moments factored into rows and columns, steps relative to the parameter",
       .source = "Shazeer and Stern, arXiv 1804.04235",
       .torch = "Adafactor",
       .deepSpeed = {.type = "Adafactor"},
       .hyperparameters = {{"beta2-decay",
                            Range::NotPositive,
                            {-0.8},
                            "exponent d of the weight t^d of a new gradient after t updates"},
                           {"eps-pair",
                            Range::NotNegative,
                            {0x1p-23, 1e-3},
                            "minimum of the root of a second moment, and of the RMS of a parameter",
                            "eps"},
                           {"clip-threshold",
                            Range::Positive,
                            {1.0},
                            "maximum RMS of an update before scaling",
                            "d"},
                           weightDecayParameter()},
       .examples = {"--lr=1e-2", "--lr=0.02 --beta2-decay=-0.5 --eps-pair=1e-6,2e-2 "
                                 "--clip-threshold=1.2 --weight-decay=0.02"},
       .create = make<Adafactor>,
       .check = checkAdafactor});
}
} // namespace zero
