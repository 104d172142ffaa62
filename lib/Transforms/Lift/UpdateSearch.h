//===- UpdateSearch.h - the search of UpdateAnalysis.cpp --------*- C++ -*-===//

#ifndef LIB_TRANSFORMS_LIFT_UPDATESEARCH_H
#define LIB_TRANSFORMS_LIFT_UPDATESEARCH_H

#include "GradientCut.h"
#include "UpdateAnalysis.h"
#include "UpdateNodes.h"

namespace zero {

/// The search for gradients and updates in one step.
class UpdateSearch {
public:
  UpdateSearch(mlir::ModuleOp module, mlir::func::FuncOp step) : module(module), step(step) {}

  llvm::FailureOr<LiftedStep> run();

private:
  void collectState();
  void markForward(mlir::Value loss);
  llvm::LogicalResult markLocal();
  CarriedState *carriedBy(ReadOp read);
  void addStates(mlir::Value next, llvm::SmallVectorImpl<CarriedState> &states);
  void collectRoots(const LiftedUpdate &update, llvm::SmallVectorImpl<mlir::Value> &roots) const;
  void collectGradientRoots(const LiftedUpdate &update,
                            llvm::SmallVectorImpl<mlir::Value> &roots) const;
  /// A value that could be the gradient.
  struct Candidate {
    mlir::Value value;
    unsigned scalars; ///< local scalars met before it
    bool isLinear;    ///< whether it is linear in what was met behind it
  };
  bool isCoefficient(mlir::Value value) const;
  bool isLinear(onnx::NodeOp node) const;
  bool dependsOn(mlir::Value value, mlir::Value source) const;
  llvm::SmallVector<mlir::Value> searchGradient(const LiftedUpdate &update,
                                                llvm::SmallVectorImpl<Candidate> &candidates,
                                                llvm::SmallVectorImpl<mlir::Value> &scalars) const;
  bool chooseGradient(LiftedUpdate &update, llvm::SmallVectorImpl<mlir::Value> &ends) const;
  llvm::LogicalResult findGradient(LiftedUpdate &update);
  llvm::LogicalResult verifyGradient(LiftedUpdate &update);
  std::optional<NonlinearCut> findCut(mlir::Value gradient) const;
  mlir::Value findDirection(mlir::Value step) const;
  bool findMatrixStep(LiftedUpdate &update);
  bool findMatrixWithStates(LiftedUpdate &update);
  bool collectMatrixNodes(MatrixStep &matrix) const;
  llvm::LogicalResult collectDirection(LiftedUpdate &update);
  mlir::Value normOf(onnx::NodeOp node) const;
  llvm::LogicalResult findLayerRatio(LiftedUpdate &update);
  /// Norms of gradients, and the nodes between them and values of one element.
  struct NormSearch {
    llvm::DenseSet<mlir::Value> seen;
    llvm::DenseSet<mlir::Operation *> between;
    llvm::SmallVector<GradientNorm> norms;
  };
  mlir::Value searchNorms(llvm::SmallVector<mlir::Value> open, NormSearch &search) const;
  llvm::LogicalResult findNorms(LiftedStep &result);
  /// Nodes of an update, which begin at the values `own`.
  struct NodeSearch {
    llvm::DenseSet<mlir::Value> own;
    llvm::SmallVector<mlir::Value> roots;
    llvm::SmallVector<onnx::NodeOp> nodes;
  };
  llvm::LogicalResult collect(const LiftedUpdate &update, NodeSearch &search,
                              llvm::SetVector<mlir::Value> &scalars) const;
  llvm::LogicalResult collectNodes(LiftedUpdate &update);
  void adoptFollowers(llvm::MutableArrayRef<LiftedUpdate> updates);
  llvm::LogicalResult sortOthers(LiftedStep &result);

  bool isForward(mlir::Value value) const { return forward.contains(value); }
  bool isLocal(mlir::Value value) const { return local.contains(value); }
  int64_t position(mlir::Value value) const {
    mlir::Operation *op = value.getDefiningOp();
    return op ? positions.lookup(op) : -1;
  }
  /// As zero::elementwiseNode(), but null if the loss depends on a local `value`.
  onnx::NodeOp elementwiseNode(mlir::Value value) const {
    return isForward(value) && isLocal(value) ? onnx::NodeOp() : zero::elementwiseNode(value);
  }
  /// The leaves of the elementwise nodes above `value` that have its shape.
  void visitLeaves(mlir::Value value, llvm::function_ref<void(mlir::Value)> visit) const;

  mlir::ModuleOp module;
  mlir::func::FuncOp step;
  llvm::MapVector<mlir::StringAttr, CarriedState> carried;
  llvm::DenseMap<mlir::Operation *, int64_t> positions;
  llvm::DenseSet<mlir::Value> forward, local;
  llvm::DenseSet<mlir::Value>
      ofState; ///< what follows from tensors of state that the loss does not read
  llvm::DenseSet<mlir::StringAttr> owned; ///< parameters, and states of one
  mlir::BlockArgument learningRate;
  llvm::DenseSet<mlir::Value> gradients;
  llvm::DenseSet<mlir::Value> ofRatios; ///< scalars that follow from the ratio of one parameter
};

} // namespace zero

#endif // LIB_TRANSFORMS_LIFT_UPDATESEARCH_H
