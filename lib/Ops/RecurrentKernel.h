//===- RecurrentKernel.h - kernels of recurrent layers ----------*- C++ -*-===//

#ifndef LIB_OPS_RECURRENTKERNEL_H
#define LIB_OPS_RECURRENTKERNEL_H

#include "Recurrent.h"
#include "RecurrentLoops.h"

namespace zero::ops {

/// The common part of forward and its gradient. The batch of operands and results is divided into
/// chunks, [..., chunks, rows, ...], so that threads may divide the chunks.
class RecurrentKernel {
public:
  RecurrentKernel(onnx::NodeOp node, mlir::ValueRange inputs, mlir::OpBuilder &builder,
                  unsigned gatesOperand, unsigned weightsOperand);

protected:
  /// A row, its unit and the step that is computed, inside the loops.
  struct Place {
    mlir::ImplicitLocOpBuilder &b;
    mlir::Value chunk, step, row, unit;
  };

  bool has(unsigned operand) const { return bool(inputs[operand]); }
  /// Result `index` with its batch cut, not written yet.
  mlir::Value result(unsigned index);
  /// Visits all chunks; returns the results with complete batches. Carried values have `slots`
  /// places, the first of which are the results.
  llvm::SmallVector<mlir::Value> forChunks(unsigned slots, CarryBody visit);
  mlir::RankedTensorType local(int64_t columns) const {
    return mlir::RankedTensorType::get({rows, columns}, element);
  }
  /// A tensor of `columns` for each row of the chunk at `carry`'s place.
  mlir::Value scratch(mlir::ImplicitLocOpBuilder &b, int64_t columns) const;
  /// Writes the products of `left` with the rows of gates [firstGate, endGate) of the weights in
  /// operand `weights` to `out`, from column `firstColumn` on.
  mlir::Value multiplyGates(mlir::ImplicitLocOpBuilder &b, unsigned weights, int64_t firstGate,
                            int64_t endGate, ElementAt left, mlir::Value out, int64_t firstColumn);
  /// Operand `index`, [batch, hidden], of the chunk; zeros where it is not given.
  mlir::Value loaded(mlir::ImplicitLocOpBuilder &b, unsigned operand, mlir::Value chunk);
  /// Copies a chunk's `value` into `into` [chunks, rows, hidden].
  mlir::Value stored(mlir::ImplicitLocOpBuilder &b, mlir::Value value, mlir::Value into,
                     mlir::Value chunk);
  /// The step of iteration `index`, from the first in the layer's direction or from the last.
  mlir::Value stepOf(mlir::ImplicitLocOpBuilder &b, mlir::Value index, bool fromLast) const;

  Number number(const Place &p, mlir::Value value) const { return {&p.b, value}; }
  /// The element of a local tensor for the unit of gate `gate`, of which each has `width` columns.
  Number own(const Place &p, mlir::Value tensor, int64_t gate = 0) const;
  /// The element of operand or result `tensor`, [steps, chunks, rows, columns].
  Number inStep(const Place &p, mlir::Value tensor, int64_t gate = 0, int64_t later = 0) const;
  /// Writes there.
  mlir::Value putStep(const Place &p, mlir::Value tensor, mlir::Value value, int64_t gate = 0,
                      int64_t later = 0) const;
  Number peephole(const Place &p, unsigned operand, int64_t gate) const;
  /// Whether the row's sequence has this step; null where all have.
  mlir::Value isActive(const Place &p, unsigned lengths) const;
  /// `active` where the row's sequence has the step, else `idle`.
  Number chosen(mlir::Value condition, Number active, Number idle) const {
    return condition ? select(condition, active, idle) : active;
  }

  onnx::NodeOp node;
  mlir::ImplicitLocOpBuilder b;
  RecurrentForm form;
  mlir::Type element;
  int64_t rows, chunks;
  int64_t width; ///< columns of a gate in products: `hidden`, or those of blocks
  llvm::SmallVector<mlir::Value> inputs; ///< those with a batch have it cut
};

} // namespace zero::ops

#endif // LIB_OPS_RECURRENTKERNEL_H
