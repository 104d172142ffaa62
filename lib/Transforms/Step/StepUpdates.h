//===- StepUpdates.h - updates of the step ----------------------*- C++ -*-===//

#ifndef LIB_TRANSFORMS_STEP_STEPUPDATES_H
#define LIB_TRANSFORMS_STEP_STEPUPDATES_H

#include "MatrixParameters.h"
#include "ParameterGroups.h"
#include "ScoreLimit.h"
#include "zero/Optimizers/Matrices.h"
#include "zero/Optimizers/StatePrecision.h"
#include "zero/Transforms/Step/MasterWeights.h"
#include "zero/Transforms/Step/StepGradients.h"

namespace zero {

/// Adds the symbols and values that one update of all parameters needs.
class StepUpdates {
public:
  StepUpdates(mlir::ModuleOp module, mlir::func::FuncOp step, ParameterGroups &groups,
              const MatrixParameters &matrices, const ScheduleOptions &schedule,
              const StatePrecision &precision, MasterWeights masters)
      : module(module), step(step), groups(groups), matrices(matrices), schedule(schedule),
        precision(precision), masters(masters), symbols(module),
        builder(step.getBody().front().getTerminator()) {}

  /// Fails after an error when a parameter is of a type that is not updated, or the model
  /// has taken the name of an optimizer state.
  llvm::LogicalResult check(llvm::ArrayRef<GradientOp> gradients);
  /// Lets `limit`, whose factors were added, scale matrices behind their steps.
  void setScoreLimit(const ScoreLimit &limit) { scores = &limit; }
  void addScalars(mlir::TypedValue<mlir::RankedTensorType> counts);
  void addUpdate(GradientOp gradient, const GradientFactor &factor);
  /// Says how many states are stored as asked for.
  void remarkPrecision();
  /// Says which optimizer updates each parameter if there are two.
  void remarkMatrices(llvm::ArrayRef<GradientOp> gradients);

private:
  /// The number of the group of `parameter`.
  unsigned groupOf(ParameterOp parameter);
  /// The scalars of `group`.
  llvm::ArrayRef<mlir::Value> scalarsOf(unsigned group) const;
  llvm::LogicalResult checkRounding(ParameterOp parameter);
  /// Optimizer states are saved under names that follow from the parameters'.
  llvm::LogicalResult checkNames(llvm::ArrayRef<GradientOp> gradients);
  StateOp addState(mlir::OpBuilder &after, ParameterOp parameter, llvm::StringRef suffix,
                   mlir::RankedTensorType type, std::optional<double> init);
  void addStates(ParameterOp parameter, const Optimizer &optimizer, const UpdateForm &form,
                 llvm::SmallVectorImpl<mlir::Attribute> &states);
  const llvm::SmallVector<mlir::func::FuncOp> &kernelsFor(unsigned group, const UpdateForm &form);
  llvm::SmallVector<ScalarState> scalarStates() const;
  /// The whole tensor of which `shard`, of the shape of `parameter`, is that of a rank along
  /// tensor; `shard` itself if ranks have all of it.
  mlir::Value gatherTensor(ParameterOp parameter, mlir::Value shard);
  /// The rank's shard of `whole`, a tensor of the shape of the model's.
  mlir::Value takeOwnShard(ParameterOp parameter, mlir::Value whole);
  mlir::Value addSquareSum(ParameterOp parameter);
  mlir::func::FuncOp tensorKernelFor(unsigned group, const UpdateForm &form,
                                     mlir::RankedTensorType type);
  mlir::Value addDirection(GradientOp gradient, llvm::ArrayRef<mlir::FlatSymbolRefAttr> states,
                           unsigned group, const UpdateForm &form, const GradientFactor &factor);
  mlir::Value addTensorStep(GradientOp gradient, ParameterOp parameter, unsigned group,
                            UpdateForm form, const GradientFactor &factor);
  llvm::SmallVector<ReadOp> addWholeStates(ParameterOp parameter, const Optimizer &optimizer);
  void writeWholeStates(llvm::ArrayRef<ReadOp> reads, mlir::ValueRange next,
                        const GradientFactor &factor);
  mlir::Value addMatrixStep(GradientOp gradient, ParameterOp parameter,
                            llvm::ArrayRef<mlir::FlatSymbolRefAttr> states, unsigned group,
                            const UpdateForm &form, const GradientFactor &factor);

  mlir::Value scaleOutputs(ParameterOp parameter, mlir::Value step, unsigned group);

  struct Kernels {
    unsigned group;
    UpdateForm form;
    llvm::SmallVector<mlir::func::FuncOp> symbols;
  };
  mlir::ModuleOp module;
  mlir::func::FuncOp step;
  ParameterGroups &groups;
  const MatrixParameters &matrices;
  const ScheduleOptions &schedule;
  const StatePrecision &precision;
  MasterWeights masters; ///< of 16-bit parameters
  mlir::SymbolTable symbols;
  mlir::OpBuilder builder;
  struct TensorKernel {
    unsigned group;
    UpdateForm form;
    mlir::RankedTensorType type;
    mlir::func::FuncOp symbol;
  };
  struct MatrixKernels {
    unsigned group;
    UpdateForm form;
    mlir::func::FuncOp direction;
    MatrixBuilder::Kernels ofMatrices = {};
  };
  MatrixKernels &matrixKernelsFor(unsigned group, const UpdateForm &form);
  std::vector<MatrixKernels> matrixKernels;
  mlir::ArrayAttr collecting; ///< see kDirectionAttr; null before the first direction or step
  std::vector<Kernels> kernels;
  std::vector<TensorKernel> tensorKernels;
  /// That sum squares of parameters, by element type, and their sums.
  llvm::DenseMap<mlir::Type, mlir::ArrayAttr> squareKernels;
  llvm::SmallVector<mlir::Value> scalars; ///< of all groups
  const ScoreLimit *scores = nullptr;     ///< null: there is no limit
  /// By the type of the parameter, the group and the dimension of outputs.
  llvm::DenseMap<std::pair<mlir::Type, unsigned>, mlir::func::FuncOp> scalingKernels;
};

} // namespace zero

#endif // LIB_TRANSFORMS_STEP_STEPUPDATES_H
