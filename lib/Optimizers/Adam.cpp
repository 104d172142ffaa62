//===- Adam.cpp - Adam and AdamW ------------------------------------------===//
//
// Adam: Kingma and Ba, arXiv 1412.6980, algorithm 1. AdamW: Loshchilov and
// Hutter, arXiv 1711.05101, algorithm 2, with the weight decay scaled by the
// learning rate as torch.optim.AdamW does. Epsilon is added after the bias
// correction. The correction itself is computed in f64 from powers of the betas
// that the program keeps, and rounded once.
//
//===----------------------------------------------------------------------===//

#include "Optimizers.h"

using namespace mlir;
using namespace zero;

namespace {

class Adam : public MomentOptimizer {
public:
  Adam(const OptimizerOptions &options, bool decoupled)
      : MomentOptimizer(options, decoupled ? "adamw" : "adam"), decoupled(decoupled) {}

  /// Scalars: 1 - lr * wd, -lr / (1 - beta1^t), sqrt(1 - beta2^t).
  void buildScalars(OpBuilder &builder, Location loc, Value lr, ValueRange states,
                    SmallVectorImpl<Value> &results) const override {
    Formula f(builder, loc);
    Type f64 = lr.getType();
    Value one = f.constant(1.0, f64);
    auto [power1, power2] = nextPowers(f, states);
    Value decay = f.sub(one, f.mul(lr, f.constant(options.weightDecay, f64)));
    Value step = f.div(arith::NegFOp::create(builder, loc, lr), f.sub(one, power1));
    Value correction = f.sqrt(f.sub(one, power2));
    results.append({power1, power2, decay, step, correction});
  }

  void buildUpdate(OpBuilder &builder, Location loc, ValueRange operands,
                   SmallVectorImpl<Value> &results) const override {
    Formula f(builder, loc);
    Value weight = operands[0], m = operands[1], v = operands[2], gradient = operands[3];
    Value decay = operands[4], step = operands[5], correction = operands[6];
    Type type = weight.getType();
    if (options.weightDecay != 0) {
      if (decoupled)
        weight = f.mul(weight, decay);
      else
        gradient = f.fma(f.constant(options.weightDecay, type), weight, gradient);
    }
    auto [nextM, nextV] = nextMoments(f, m, v, gradient);
    Value denominator = f.add(f.div(f.sqrt(nextV), correction), f.constant(options.epsilon, type));
    results.push_back(f.fma(step, f.div(nextM, denominator), weight));
    results.append({nextM, nextV});
  }

private:
  bool decoupled;
};

} // namespace

std::unique_ptr<Optimizer> zero::createAdam(const OptimizerOptions &options, bool decoupled) {
  return std::make_unique<Adam>(options, decoupled);
}
