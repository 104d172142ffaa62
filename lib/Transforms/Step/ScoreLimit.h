//===- ScoreLimit.h - limit the scores of attention -------------*- C++ -*-===//

#ifndef LIB_TRANSFORMS_STEP_SCORELIMIT_H
#define LIB_TRANSFORMS_STEP_SCORELIMIT_H

#include "MatrixParameters.h"

#include "dialects/Onnx/Onnx.h"

#include "llvm/ADT/MapVector.h"

#include <cmath>

namespace zero {

/// The factors of the outputs of a matrix behind its step, f32.
struct OutputFactors {
  mlir::Value values;
  unsigned dim = 0; ///< of the matrix, whose indices are the outputs
};

/// Measures the largest score of each head in the batch of a step, and scales the matrices that
/// make its queries and keys where it is above a limit, as MuonClip does: with g = limit / score
/// for such a head and 1 for others, and m the least g of the heads that share keys, those keys by
/// the root of m, and queries of a head by g over the root of m.
class ScoreLimit {
public:
  ScoreLimit(mlir::ModuleOp module, mlir::func::FuncOp step, double limit)
      : module(module), step(step), limit(limit) {}

  bool exists() const { return std::isfinite(limit); }
  /// Adds what measures scores to the forward pass. Fails after an error if there is no attention,
  /// or queries or keys are no outputs of one of `matrices`.
  llvm::LogicalResult measure(const MatrixParameters &matrices,
                              llvm::ArrayRef<GradientOp> gradients);
  /// Adds the factors of the matrices, behind the last micro-batch.
  void addFactors();
  /// Nothing if no attention reads outputs of `parameter`.
  std::optional<OutputFactors> factorsOf(ParameterOp parameter) const;

private:
  /// Queries or keys among the outputs of a matrix.
  struct Section {
    unsigned attention; ///< by its number
    bool areKeys;
    int64_t start, width; ///< outputs, and those of a head
  };
  struct Projection {
    unsigned dim = 0;
    int64_t outputs = 0;
    llvm::SmallVector<Section> sections = {};
  };
  struct Heads {
    int64_t queries, keys;
  };

  int64_t headsOf(const Section &section) const {
    return section.areKeys ? heads[section.attention].keys : heads[section.attention].queries;
  }
  llvm::LogicalResult addSection(onnx::NodeOp attention, mlir::Value outputs, Section section,
                                 int64_t heads);
  llvm::LogicalResult checkProjections(const MatrixParameters &matrices,
                                       llvm::ArrayRef<GradientOp> gradients);
  mlir::Value overMicroBatches(mlir::OpBuilder &builder);
  mlir::Value overRanks(mlir::OpBuilder &builder);
  mlir::func::FuncOp buildLarger();

  mlir::ModuleOp module;
  mlir::func::FuncOp step;
  double limit;
  llvm::SmallVector<Heads> heads; ///< of each attention
  llvm::MapVector<mlir::StringAttr, Projection> projections;
  mlir::func::FuncOp larger; ///< the kernel that combines scores
  mlir::Value scores;        ///< of the heads of all attentions, of the rank
  llvm::DenseMap<mlir::StringAttr, OutputFactors> factors;
};

} // namespace zero

#endif // LIB_TRANSFORMS_STEP_SCORELIMIT_H
