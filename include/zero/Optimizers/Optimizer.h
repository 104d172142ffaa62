//===- Optimizer.h - optimizers as kernels ----------------------*- C++ -*-===//
//
// An optimizer is two kernels: one computes the step's scalars (in f64, rounded
// once), the other updates any slice of a parameter with its states, element by
// element. One file each.
//
//===----------------------------------------------------------------------===//

#ifndef ZERO_OPTIMIZERS_OPTIMIZER_H
#define ZERO_OPTIMIZERS_OPTIMIZER_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/STLFunctionalExtras.h"

#include <memory>
#include <string>

namespace zero {

/// Hyperparameters as people write them; each optimizer reads its own.
struct OptimizerOptions {
  std::string name = "adamw"; ///< sgd, adam, adamw
  double beta1 = 0.9;
  double beta2 = 0.999;
  double epsilon = 1e-8;
  double weightDecay = 0.0;
  double momentum = 0.0;
  double dampening = 0.0;
  bool nesterov = false;
};

/// A program-wide scalar that the optimizer keeps from step to step.
struct ScalarState {
  std::string name; ///< symbol, e.g. "optimizer.beta1_power"
  double init;
};

class Optimizer {
public:
  virtual ~Optimizer();

  /// Suffixes of the states it keeps for each parameter, all zero at the start:
  /// {"exp_avg", "exp_avg_sq"}. They are flat and sharded like the parameter.
  virtual llvm::SmallVector<std::string> states() const = 0;

  /// f64 scalars kept from step to step.
  virtual llvm::SmallVector<ScalarState> scalarStates() const = 0;

  /// How many f32 scalars the update kernel takes.
  virtual unsigned numScalars() const = 0;

  /// Given the learning rate (f64) and the scalar states' values (f64), appends
  /// the states' next values and then the f64 scalars of the update.
  virtual void buildScalars(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value lr,
                            mlir::ValueRange states,
                            llvm::SmallVectorImpl<mlir::Value> &results) const = 0;

  /// Given f32 values parameter, states..., gradient, scalars..., appends the
  /// next parameter and states. Explicit math.fma only, no fast-math: the bits
  /// must not depend on how the tensor is cut (promise 3).
  virtual void buildUpdate(mlir::OpBuilder &builder, mlir::Location loc, mlir::ValueRange operands,
                           llvm::SmallVectorImpl<mlir::Value> &results) const = 0;

  /// For people: "adamw(betas=0.9,0.999 eps=1e-08 weight_decay=0.01)".
  virtual std::string describe() const = 0;
};

/// The optimizer named in `options`, or null and a message in `error` when the
/// name is unknown or a value is out of range.
std::unique_ptr<Optimizer> createOptimizer(const OptimizerOptions &options, std::string &error);

/// Adds the kernel `name` over tensor<?xf32> made of `optimizer.buildUpdate`.
mlir::func::FuncOp buildUpdateKernel(mlir::ModuleOp module, const Optimizer &optimizer,
                                     llvm::StringRef name);
/// Adds the kernel `name`: (learning rate tensor<f32>, scalar states tensor<f64>
/// in place) -> (states..., scalars tensor<f32>...).
mlir::func::FuncOp buildScalarKernel(mlir::ModuleOp module, const Optimizer &optimizer,
                                     llvm::StringRef name);

} // namespace zero

#endif // ZERO_OPTIMIZERS_OPTIMIZER_H
