//===- Adam.cpp - Adam and AdamW ------------------------------------------===//
//
// Adam: Kingma and Ba, arXiv 1412.6980, algorithm 1. AdamW: Loshchilov and
// Hutter, arXiv 1711.05101, algorithm 2, with the weight decay scaled by the
// learning rate as torch.optim.AdamW does. Epsilon is added after the bias
// correction. The correction itself is computed in f64 from powers of the betas
// that the program keeps, and rounded once.
//
//===----------------------------------------------------------------------===//

#include "../Optimizers.h"

using namespace mlir;
using namespace zero;

namespace {

class Adam : public MomentOptimizer {
public:
  Adam(const Settings &settings, bool decoupled)
      : MomentOptimizer(settings), decoupled(decoupled) {}

  /// Scalars: 1 - lr * wd, -lr / (1 - beta1^t), sqrt(1 - beta2^t).
  void buildScalars(OpBuilder &builder, Location loc, Value lr, ValueRange states,
                    SmallVectorImpl<Value> &results) const override {
    Formula f(builder, loc);
    Type f64 = lr.getType();
    Value one = f.constant(1.0, f64);
    auto [power1, power2] = nextPowers(f, states);
    Value decay = f.sub(one, f.mul(lr, f.constant(weightDecay, f64)));
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
    if (weightDecay != 0) {
      if (decoupled)
        weight = f.mul(weight, decay);
      else
        gradient = f.fma(f.constant(weightDecay, type), weight, gradient);
    }
    auto [nextM, nextV] = nextMoments(f, m, v, gradient);
    Value denominator = f.add(f.div(f.sqrt(nextV), correction), f.constant(epsilon, type));
    results.push_back(f.fma(step, f.div(nextM, denominator), weight));
    results.append({nextM, nextV});
  }

private:
  bool decoupled;
};

} // namespace

template <bool decoupled>
static std::unique_ptr<Optimizer> makeAdam(const Settings &settings) {
  return std::make_unique<Adam>(settings, decoupled);
}

/// DeepSpeed's Adam is AdamW unless adam_w_mode is false; so is torch's Adam under DeepSpeed, with
/// its own default weight decay.
static void registerOne(OptimizerDefinition adam, StringLiteral type) {
  adam.deepSpeed = {.type = type,
                    .neutral = {{"amsgrad", "false", "moments are as in the paper"},
                                {"bias_correction", "true", "moments are as in the paper"}},
                    .insteadBy = "adamw",
                    .unless = "adam_w_mode",
                    .when = "torch_adam",
                    .flag = kWeightDecay,
                    .value = "0.01"};
  adam.hyperparameters = {betasParameter(0.9, 0.999), epsilonParameter(1e-8),
                          weightDecayParameter()};
  adam.examples = {"--lr=1e-3 --eps=1e-4 --weight-decay=0.1",
                   "--lr=2e-3 --betas=0.8,0.98 --eps=1e-4"};
  registerOptimizer(std::move(adam));
}

namespace zero {
void registerAdam() {
  registerOne({.name = "adam",
               .summary = "Adam, with the weight decay as part of the gradient",
               .source = "Kingma and Ba, arXiv 1412.6980",
               .torch = "Adam",
               .create = makeAdam<false>},
              "Adam");
  registerOne({.name = "adamw",
               .summary = "Adam with decoupled weight decay, scaled by the learning rate",
               .source = "Loshchilov and Hutter, arXiv 1711.05101",
               .torch = "AdamW",
               .create = makeAdam<true>},
              "AdamW");
}
} // namespace zero
