//===- Optimizers.h - common parts of optimizer definitions -----*- C++ -*-===//

#ifndef LIB_OPTIMIZERS_OPTIMIZERS_H
#define LIB_OPTIMIZERS_OPTIMIZERS_H

#include "zero/Optimizers/Kernel.h"
#include "zero/Optimizers/Schedule.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

namespace zero {

/// Adds a definition to those that `allOptimizers` lists. Each file FILE.cpp of Definitions has
/// one function `registerFILE` that calls it.
void registerOptimizer(OptimizerDefinition definition);

/// The creator of definitions whose class is T.
template <typename T>
std::unique_ptr<Optimizer> make(const Settings &settings) {
  return std::make_unique<T>(settings);
}

/// `value` in its shortest form: 1e-08, 0.9.
std::string number(double value);

/// The error of `flag`, a number of iterations of which each is a part of the program, if it is
/// more than `most`.
std::string checkIterations(const Settings &settings, llvm::StringRef flag, double most);

/// The weight decay of every optimizer, none by default.
Hyperparameter weightDecayParameter();
/// The decay rates of two moments, and the term that is added to the denominator.
Hyperparameter betasParameter(double beta1, double beta2);
Hyperparameter epsilonParameter(double value);

/// Computes an element of a result.
using ElementBody = llvm::function_ref<mlir::Value(Formula &, mlir::ValueRange)>;

/// An operand of `mapTensors` and the dimensions of the result that it has.
struct TensorOperand {
  mlir::Value value;
  llvm::SmallVector<unsigned> dims;
};

/// A tensor of `type`, element by element from `operands`, which are broadcast.
mlir::Value mapTensors(mlir::OpBuilder &builder, mlir::Location loc,
                       llvm::ArrayRef<TensorOperand> operands, mlir::RankedTensorType type,
                       ElementBody body);
/// The sum over the dimensions `over` of the results of `body` for each element, in type `element`.
mlir::Value sumTensor(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value input,
                      llvm::ArrayRef<unsigned> over, mlir::Type element, ElementBody body);
/// The kernel of an update with states that are not all f32.
mlir::func::FuncOp buildStoredUpdate(mlir::ModuleOp module, const Optimizer &optimizer,
                                     const UpdateForm &form, llvm::StringRef name);
/// The same of a kernel of directions, see buildDirectionKernel().
mlir::func::FuncOp buildStoredDirection(mlir::ModuleOp module, const Optimizer &optimizer,
                                        const UpdateForm &form, llvm::StringRef name);

/// 0, 1, ... of a tensor.
llvm::SmallVector<unsigned> allDims(mlir::Value tensor);

/// The common part of Adam and LAMB: two moments of each gradient, and powers of their decay rates
/// for the bias correction.
class MomentOptimizer : public Optimizer {
public:
  llvm::SmallVector<ParameterState> states() const override {
    return {{"exp_avg"}, {"exp_avg_sq", 0.0, true}};
  }
  llvm::SmallVector<ScalarState> scalarStates() const override {
    return {{"optimizer.beta1_power", 1.0}, {"optimizer.beta2_power", 1.0}};
  }
  unsigned numScalars() const override { return 3; }

protected:
  explicit MomentOptimizer(const Settings &settings)
      : Optimizer(settings), beta1(settings.numbers("betas")[0]),
        beta2(settings.numbers("betas")[1]), epsilon(settings.number("eps")) {}

  /// The next powers, of the first and of the second rate.
  std::pair<mlir::Value, mlir::Value> nextPowers(Formula &f, mlir::ValueRange powers) const;
  /// The next moments of `gradient`.
  std::pair<mlir::Value, mlir::Value> nextMoments(Formula &f, mlir::Value m, mlir::Value v,
                                                  mlir::Value gradient) const;

  double beta1, beta2, epsilon;
};

} // namespace zero

#endif // LIB_OPTIMIZERS_OPTIMIZERS_H
