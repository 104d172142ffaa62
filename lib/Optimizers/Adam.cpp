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

class Adam : public Optimizer {
public:
  Adam(const OptimizerOptions &options, bool decoupled) : options(options), decoupled(decoupled) {}

  SmallVector<std::string> states() const override { return {"exp_avg", "exp_avg_sq"}; }
  SmallVector<ScalarState> scalarStates() const override {
    return {{"optimizer.beta1_power", 1.0}, {"optimizer.beta2_power", 1.0}};
  }
  unsigned numScalars() const override { return 3; }

  /// Scalars: 1 - lr * wd, -lr / (1 - beta1^t), sqrt(1 - beta2^t).
  void buildScalars(OpBuilder &builder, Location loc, Value lr, ValueRange states,
                    SmallVectorImpl<Value> &results) const override {
    Formula f(builder, loc);
    Type f64 = lr.getType();
    Value one = f.constant(1.0, f64);
    Value power1 = f.mul(states[0], f.constant(options.beta1, f64));
    Value power2 = f.mul(states[1], f.constant(options.beta2, f64));
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
    SmallVector<Value, 2> moments;
    buildMoments(f, options, m, v, gradient, moments);
    Value denominator =
        f.add(f.div(f.sqrt(moments[1]), correction), f.constant(options.epsilon, type));
    results.push_back(f.fma(step, f.div(moments[0], denominator), weight));
    llvm::append_range(results, moments);
  }

  std::string describe() const override {
    return std::string(decoupled ? "adamw" : "adam") + "(betas=" + number(options.beta1) + "," +
           number(options.beta2) + " eps=" + number(options.epsilon) +
           " weight_decay=" + number(options.weightDecay) + ")";
  }

private:
  OptimizerOptions options;
  bool decoupled;
};

} // namespace

void zero::buildMoments(Formula &f, const OptimizerOptions &options, Value m, Value v,
                        Value gradient, SmallVectorImpl<Value> &results) {
  Type type = gradient.getType();
  results.push_back(f.fma(f.constant(1 - options.beta1, type), f.sub(gradient, m), m));
  Value square = f.mul(gradient, gradient);
  results.push_back(f.fma(f.constant(1 - options.beta2, type), square,
                          f.mul(f.constant(options.beta2, type), v)));
}

std::unique_ptr<Optimizer> zero::createAdam(const OptimizerOptions &options, bool decoupled) {
  return std::make_unique<Adam>(options, decoupled);
}
