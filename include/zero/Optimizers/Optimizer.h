//===- Optimizer.h - optimizers as kernels ----------------------*- C++ -*-===//
// An optimizer is two kernels: one computes the scalars of the step (in f64, rounded once), the
// other updates any slice of a parameter with its states, element by element. A layerwise optimizer
// has a third kernel before these, which advances the states and measures the direction of each
// tensor. An optimizer of matrices has formulas on whole matrices instead of that kernel. There is
// one file for each optimizer.
//===----------------------------------------------------------------------===//

#ifndef ZERO_OPTIMIZERS_OPTIMIZER_H
#define ZERO_OPTIMIZERS_OPTIMIZER_H

#include "dialects/Zero/Zero.h"
#include "zero/Optimizers/Definition.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/STLFunctionalExtras.h"

#include <limits>
#include <memory>
#include <string>

namespace zero {

/// A program-wide scalar that the optimizer keeps from step to step.
struct ScalarState {
  std::string name; ///< symbol, e.g. "optimizer.beta1_power"
  double init;
  /// Its value after a number of steps, for a run that resumes from one without it: unknown, that
  /// number, or always `late`.
  enum class Late { Unknown, Steps, Constant };
  Late kind = Late::Unknown;
  double late = 0;
};

/// A state that the optimizer keeps for each parameter, flat and sharded like it.
struct ParameterState {
  std::string suffix; ///< "exp_avg"
  double init = 0.0;
  bool isPositive = false; ///< never negative
  bool isAverage = false;  ///< of the parameter: begins with its value, and is always f32
};

/// A state of a whole tensor with a shape of its own, initially zero. The rank that computes the
/// step of the tensor has all of it.
struct TensorState {
  std::string suffix; ///< "row_var"
  llvm::SmallVector<int64_t> shape;
};

class Formula;
class MatrixBuilder;
enum class MatrixOrientation;

/// Created by its definition, see Definition.h.
class Optimizer {
public:
  virtual ~Optimizer();

  /// The settings that it was created from.
  const Settings &getSettings() const { return settings; }

  virtual llvm::SmallVector<ParameterState> states() const = 0;

  /// f64 scalars kept from step to step.
  virtual llvm::SmallVector<ScalarState> scalarStates() const { return {}; }

  /// The number of f32 scalars of the update kernel.
  virtual unsigned numScalars() const = 0;

  /// Given the learning rate (f64) and the scalar states' values (f64), appends
  /// the states' next values and then the f64 scalars of the update.
  virtual void buildScalars(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value lr,
                            mlir::ValueRange states,
                            llvm::SmallVectorImpl<mlir::Value> &results) const = 0;

  /// Given f32 values parameter, states..., gradient, scalars..., appends the next parameter and
  /// states. Only explicit math.fma, no fast-math: the result must be bitwise identical for any
  /// partition of the tensor. Not called if layerwise.
  virtual void buildUpdate(mlir::OpBuilder &builder, mlir::Location loc, mlir::ValueRange operands,
                           llvm::SmallVectorImpl<mlir::Value> &results) const = 0;

  /// Whether the step of each tensor is scaled by a ratio of norms, as in LAMB: the next parameter
  /// is parameter + scalars[0] * ratio * direction, with ratio = |parameter| / |direction| over the
  /// whole tensor, 1 if either is 0.
  virtual bool isLayerwise() const { return false; }
  /// Layerwise: operands as for buildUpdate; appends the next states.
  virtual void buildStates(mlir::OpBuilder &builder, mlir::Location loc, mlir::ValueRange operands,
                           llvm::SmallVectorImpl<mlir::Value> &results) const {}
  /// Layerwise: given parameter, next states..., scalars..., the direction.
  virtual mlir::Value buildDirection(mlir::OpBuilder &builder, mlir::Location loc,
                                     mlir::ValueRange operands) const {
    return {};
  }

  /// Whether the step of an element depends on the whole tensor, as in Adafactor: the owner of a
  /// tensor, or every rank, computes its step from the whole gradient, and `buildUpdate`, whose
  /// gradient is that step, applies the rank's slice of it.
  virtual bool isOfTensors() const { return false; }
  /// For optimizers of whole tensors and of matrices: the states of a parameter of `shape` that
  /// have shapes of their own. For one of whole tensors `states` is empty.
  virtual llvm::SmallVector<TensorState> tensorStates(llvm::ArrayRef<int64_t> shape) const {
    return {};
  }
  /// For optimizers of whole tensors: given the gradient (f32, in a tensor of the parameter's
  /// shape), the tensor states, the sum of squares of the parameter (f64) and the scalars (f32),
  /// appends the next states and the step.
  virtual void buildTensorStep(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value gradient,
                               mlir::ValueRange states, mlir::Value squares,
                               mlir::ValueRange scalars,
                               llvm::SmallVectorImpl<mlir::Value> &results) const {}

  /// Whether the step of a matrix is computed from the whole matrix by products, as in Muon. The
  /// gradient becomes the direction element by element, in slices; `buildMatrixStep` makes the step
  /// of the whole direction and advances `tensorStates`; `buildUpdate`, whose gradient is that
  /// step, applies the rank's slice of it. Another optimizer updates the parameters that are no
  /// matrices.
  virtual bool isOfMatrices() const { return false; }
  /// For optimizers of matrices: how many of `states`, the last ones, `buildMatrixDirection`
  /// advances; `buildUpdate` advances the others. 0 if there are `tensorStates`.
  virtual unsigned numDirectionStates() const { return isOfMatrices() ? states().size() : 0; }
  /// For optimizers of matrices: the largest number of rows or columns of a matrix; another
  /// optimizer updates larger ones.
  virtual int64_t largestSide() const { return std::numeric_limits<int64_t>::max(); }
  /// For optimizers of matrices: given f32 values states..., gradient, scalars..., appends the next
  /// states and the direction. The rules of `buildUpdate` hold. That of whole tensors, which have
  /// no such states, is the gradient.
  virtual void buildMatrixDirection(mlir::OpBuilder &builder, mlir::Location loc,
                                    mlir::ValueRange operands,
                                    llvm::SmallVectorImpl<mlir::Value> &results) const {
    results.push_back(operands.front());
  }
  /// For optimizers of matrices: given the direction, whose last two dimensions are those of its
  /// matrices, and the values of `tensorStates`, appends the next states and the step, of the shape
  /// of the direction.
  virtual void buildMatrixStep(MatrixBuilder &matrices, mlir::Value direction,
                               mlir::ValueRange states,
                               llvm::SmallVectorImpl<mlir::Value> &results) const {}

  /// For optimizers of matrices: the largest score of attention. Of a head with a larger one, the
  /// rows of queries and keys are scaled behind the step.
  virtual double scoreLimit() const { return std::numeric_limits<double>::infinity(); }
  /// Given f32 values, the step that lets `buildUpdate` make `factor` times the parameter that it
  /// makes of `parameter` and `step`; `step` itself where no step does. Called with a `scoreLimit`.
  virtual mlir::Value buildScaledStep(Formula &f, mlir::Value parameter, mlir::Value step,
                                      mlir::Value factor, mlir::ValueRange scalars) const {
    return step;
  }

  /// For optimizers of matrices: what users are told of the step of a matrix of `shape`, after its
  /// type; may be empty.
  virtual std::string describeMatrixStep(llvm::ArrayRef<int64_t> shape,
                                         MatrixOrientation orientation) const {
    return "";
  }

  /// Whether each element is updated by itself.
  bool isElementwise() const { return !isLayerwise() && !isOfTensors() && !isOfMatrices(); }

protected:
  explicit Optimizer(const Settings &settings)
      : settings(settings), weightDecay(settings.number(kWeightDecay)) {}

  Settings settings;
  double weightDecay;
};

/// How a state is stored.
struct StateForm {
  unsigned bits = 32;             ///< 32: f32, 16: bf16, 8 or 4: codes, with a scale for each block
  CodeMap map = CodeMap::Dynamic; ///< of codes
  int64_t block = 1;              ///< elements with one scale

  bool hasCodes() const { return bits < 16; }
  bool operator==(const StateForm &) const = default;
};

/// The types of an update kernel.
struct UpdateForm {
  mlir::Type parameter; ///< if it has 16 bits the first state is its f32 master, or there is none
  mlir::Type gradient;
  bool scaled = false; ///< the first scalar is a factor on the gradient
  /// Of each state of the optimizer; empty: all are f32. States of codes are of one block.
  llvm::SmallVector<StateForm, 2> states = {};
  bool keepsMaster = true; ///< of a 16-bit parameter
  /// Without a master: bf16 is rounded at random, by its own bits, those of the gradient and the
  /// number of the step, an i64 that is the last scalar. Else to nearest.
  bool roundsAtRandom = false;

  bool hasMaster() const { return !parameter.isF32() && keepsMaster; }
  /// Whether all states are f32, and a 16-bit parameter has a master.
  bool isPlain() const {
    return (parameter.isF32() || keepsMaster) &&
           llvm::all_of(states, [](const StateForm &state) { return state.bits == 32; });
  }
  bool operator==(const UpdateForm &) const = default;
};

/// Adds the kernels of an update (see zero.update) and returns their symbols: the kernel that
/// updates, and for a layerwise optimizer the two that sum and scale.
llvm::SmallVector<mlir::func::FuncOp> buildUpdateKernels(mlir::ModuleOp module,
                                                         const Optimizer &optimizer,
                                                         const UpdateForm &form,
                                                         llvm::StringRef name);

/// Adds the kernel `name` of an optimizer of matrices, for slices of any length: (states...,
/// gradient, a factor on the gradient if `form` is scaled, scalars...) -> (states..., direction
/// f32), states in place. With states of codes all of them are rows of blocks.
mlir::func::FuncOp buildDirectionKernel(mlir::ModuleOp module, const Optimizer &optimizer,
                                        const UpdateForm &form, llvm::StringRef name);

/// Adds the kernel `name` of an optimizer of tensors for parameters of `shape`: (gradient,
/// states..., sum of squares of the parameter f64, a factor on the gradient if `form` is scaled,
/// scalars...) -> (next states..., step f32).
mlir::func::FuncOp buildTensorKernel(mlir::ModuleOp module, const Optimizer &optimizer,
                                     const UpdateForm &form, llvm::ArrayRef<int64_t> shape,
                                     llvm::StringRef name);

/// Adds the kernel `name` of an optimizer with a `scoreLimit`: (step f32, parameter, factors f32 of
/// its dimension `dim`, scalars...) -> the step that scales the parameter.
mlir::func::FuncOp buildScaledStepKernel(mlir::ModuleOp module, const Optimizer &optimizer,
                                         mlir::RankedTensorType parameter, unsigned dim,
                                         llvm::StringRef name);

/// The scalar operations of the loops of `kernel`, a kernel of an optimizer of tensors.
double countOperations(mlir::func::FuncOp kernel);

} // namespace zero

#endif // ZERO_OPTIMIZERS_OPTIMIZER_H
