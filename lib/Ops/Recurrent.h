//===- Recurrent.h - recurrent layers ---------------------------*- C++ -*-===//
//
// The nodes that LSTM, GRU and RNN expand to, one for each direction (Recurrent.cpp),
// their gradients and their loops.
//
//===----------------------------------------------------------------------===//

#ifndef LIB_OPS_RECURRENT_H
#define LIB_OPS_RECURRENT_H

#include "RecurrentActivations.h"

namespace zero::ops {

enum class Cell { RNN, GRU, LSTM };

/// Rows of a layer's weights for each hidden unit.
inline int64_t gatesOf(Cell cell) { return cell == Cell::RNN ? 1 : cell == Cell::GRU ? 3 : 4; }
/// Activation functions of a direction: f, g and h as ONNX has them.
inline int64_t functionsOf(Cell cell) { return cell == Cell::RNN ? 1 : cell == Cell::GRU ? 2 : 3; }

/// Operands of zero::LSTM, GRU and RNN; onnx.none where there is none.
struct StepsOperand {
  enum : unsigned {
    Gates,
    Weights,
    CandidateBias,
    Lengths,
    Initial,
    InitialCell,
    Peepholes,
    Count
  };
};
/// Their results; the last two are an LSTM's.
struct StepsResult {
  enum : unsigned { States, Last, Cells, LastCell };
};
/// Operands of zero::LSTMGrad, GRUGrad and RNNGrad; onnx.none where there is none.
struct GradOperand {
  enum : unsigned {
    States,
    Last,
    LastCell,
    Gates,
    Transposed,
    Lengths,
    Cells,
    Peepholes,
    Recurrent,
    Previous,
    Weights,
    CandidateBias,
    Count
  };
};

/// One direction of a layer, from its node, forward or gradient.
struct RecurrentForm {
  explicit RecurrentForm(onnx::NodeOp node);

  int64_t gates() const { return gatesOf(cell); }

  Cell cell;
  int64_t steps, batch, hidden;
  bool reverse;           ///< from the last step to the first
  bool inputForget;       ///< an LSTM whose forget gate is one minus its input gate
  bool linearBeforeReset; ///< a GRU that resets the product instead of the state
  llvm::SmallVector<Activation> activations;
};

llvm::LogicalResult lowerSteps(onnx::NodeOp node, mlir::ValueRange inputs, mlir::OpBuilder &builder,
                               Lowered &lowered);
llvm::LogicalResult lowerStepsGrad(onnx::NodeOp node, mlir::ValueRange inputs,
                                   mlir::OpBuilder &builder, Lowered &lowered);
llvm::LogicalResult stepsGradient(onnx::NodeOp node, mlir::ValueRange outputGrads,
                                  llvm::ArrayRef<bool> wanted, NodeBuilder &builder,
                                  llvm::MutableArrayRef<mlir::Value> inputGrads);

} // namespace zero::ops

#endif // LIB_OPS_RECURRENT_H
