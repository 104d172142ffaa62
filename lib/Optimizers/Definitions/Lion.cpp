//===- Lion.cpp - the sign of a momentum ----------------------------------===//
//
// Chen et al., Symbolic Discovery of Optimization Algorithms, arXiv 2302.06675,
// program 1: the update is the sign of beta1 * m + (1 - beta1) * g, and m is updated with
// beta2. Weight decay is decoupled and scaled by the learning rate, as in AdamW.
//
//===----------------------------------------------------------------------===//

#include "../Optimizers.h"

using namespace mlir;
using namespace zero;

/// 1, -1, or `value` itself: a zero, or a NaN, which must not get lost.
static Value buildSign(OpBuilder &builder, Location loc, Value value) {
  Formula f(builder, loc);
  Value zero = f.constant(0.0, value.getType());
  auto where = [&](arith::CmpFPredicate predicate, double sign, Value otherwise) {
    Value holds = arith::CmpFOp::create(builder, loc, predicate, value, zero);
    return f.select(holds, f.constant(sign, value.getType()), otherwise);
  };
  return where(arith::CmpFPredicate::OGT, 1.0, where(arith::CmpFPredicate::OLT, -1.0, value));
}

namespace {

class Lion : public Optimizer {
public:
  explicit Lion(const Settings &settings)
      : Optimizer(settings), beta1(settings.numbers("betas")[0]),
        beta2(settings.numbers("betas")[1]) {}

  SmallVector<ParameterState> states() const override { return {{"exp_avg"}}; }
  unsigned numScalars() const override { return 2; }

  /// Scalars: 1 - lr * wd, -lr.
  void buildScalars(OpBuilder &builder, Location loc, Value lr, ValueRange,
                    SmallVectorImpl<Value> &results) const override {
    Formula f(builder, loc);
    Type f64 = lr.getType();
    results.push_back(f.sub(f.constant(1.0, f64), f.mul(lr, f.constant(weightDecay, f64))));
    results.push_back(arith::NegFOp::create(builder, loc, lr));
  }

  void buildUpdate(OpBuilder &builder, Location loc, ValueRange operands,
                   SmallVectorImpl<Value> &results) const override {
    Formula f(builder, loc);
    Value weight = operands[0], m = operands[1], gradient = operands[2];
    Value decay = operands[3], minusLr = operands[4];
    Type type = weight.getType();
    if (weightDecay != 0)
      weight = f.mul(weight, decay);
    Value difference = f.sub(gradient, m);
    Value mix = f.fma(f.constant(1 - beta1, type), difference, m);
    results.push_back(f.fma(minusLr, buildSign(builder, loc, mix), weight));
    results.push_back(f.fma(f.constant(1 - beta2, type), difference, m));
  }

private:
  double beta1, beta2;
};

} // namespace

namespace zero {
void registerLion() {
  registerOptimizer({.name = "lion",
                     .summary = "the sign of a momentum",
                     .source = "Chen et al., arXiv 2302.06675",
                     .torch = "",
                     .deepSpeed = {.type = "Lion"},
                     .hyperparameters = {betasParameter(0.9, 0.99), weightDecayParameter()},
                     .examples = {"--lr=1e-4 --weight-decay=0.5"},
                     .create = make<Lion>});
}
} // namespace zero
