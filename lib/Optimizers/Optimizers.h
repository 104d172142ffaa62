//===- Optimizers.h - the optimizers ----------------------------*- C++ -*-===//

#ifndef LIB_OPTIMIZERS_OPTIMIZERS_H
#define LIB_OPTIMIZERS_OPTIMIZERS_H

#include "zero/Optimizers/Kernel.h"
#include "zero/Optimizers/Optimizer.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

namespace zero {

std::unique_ptr<Optimizer> createSgd(const OptimizerOptions &options);
/// Adam with L2 regularisation, or AdamW when `decoupled`.
std::unique_ptr<Optimizer> createAdam(const OptimizerOptions &options, bool decoupled);
std::unique_ptr<Optimizer> createLamb(const OptimizerOptions &options);
std::unique_ptr<Optimizer> createLion(const OptimizerOptions &options);

/// `value` as people write it: 1e-08, 0.9.
std::string number(double value);

/// What Adam and LAMB have in common: two moments of each gradient, and powers of their
/// decay rates for the bias correction.
class MomentOptimizer : public Optimizer {
public:
  llvm::SmallVector<std::string> states() const override { return {"exp_avg", "exp_avg_sq"}; }
  llvm::SmallVector<ScalarState> scalarStates() const override {
    return {{"optimizer.beta1_power", 1.0}, {"optimizer.beta2_power", 1.0}};
  }
  unsigned numScalars() const override { return 3; }
  std::string describe() const override;

protected:
  MomentOptimizer(const OptimizerOptions &options, std::string name)
      : options(options), name(std::move(name)) {}

  /// The next powers, of the first and of the second rate.
  std::pair<mlir::Value, mlir::Value> nextPowers(Formula &f, mlir::ValueRange powers) const;
  /// The next moments of `gradient`.
  std::pair<mlir::Value, mlir::Value> nextMoments(Formula &f, mlir::Value m, mlir::Value v,
                                                  mlir::Value gradient) const;

  OptimizerOptions options;

private:
  std::string name;
};

} // namespace zero

#endif // LIB_OPTIMIZERS_OPTIMIZERS_H
