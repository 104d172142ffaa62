//===- Function.h - what operators compute ----------------------*- C++ -*-===//
// Passes that recognise or rewrite nodes ask for the function that a node computes and for the use
// that it makes of an operand, and name no operator: several operators, of several domains, may
// compute the same. An operator states both in its definition.
//===----------------------------------------------------------------------===//

#ifndef ZERO_OPS_FUNCTION_H
#define ZERO_OPS_FUNCTION_H

#include "dialects/Onnx/Onnx.h"

namespace zero::ops {

/// What an operator computes. None: a function that no pass asks for.
enum class Function : uint8_t {
  None,
  // Elements from the broadcast elements of the operands.
  Add,
  Sub,
  Mul,
  Div,
  Min,
  Max,
  Pow,
  Sqrt,
  Reciprocal,
  Log,
  Compare, ///< an order or equality of two operands
  Select,  ///< operand 1 where operand 0 holds, else operand 2
  Convert, ///< operand 0 in another element type
  // Elements of operand 0, or of all operands, at other places.
  Broadcast,
  Permute,
  Slice,
  Split,
  Concatenate,
  Lookup, ///< slices of operand 0 that the indices of operand 1 choose
  // One element from those along dimensions of operand 0.
  ReduceSum,
  ReduceMean,
  ReduceMax,
  ReduceMin,
  ReduceSumSquare,
  ReduceL2,
  // Layers.
  Product, ///< sums of products of operands 0 and 1, of which one may be weights; operand 2 is
           ///< added
};

/// What an operand is to an operator.
enum class OperandRole : uint8_t {
  Data,
  Setting,      ///< numbers that say how to compute, such as axes
  Scale,        ///< a weight by which results are multiplied
  Offset,       ///< a weight that is added to results
  Statistics,   ///< running statistics
  ClassWeights, ///< weights of classes in a loss
  Scores,       ///< scores of which a softmax is taken, or the mask that is added to them
  Angle,
};

/// The function of `node`'s operator.
Function functionOf(onnx::NodeOp node);
/// Whether the function of `node` is among `functions`; false if `node` is null.
bool computes(onnx::NodeOp node, llvm::ArrayRef<Function> functions);
/// Whether the result of `node` is its first operand.
bool isIdentity(onnx::NodeOp node);
/// The role of an operand of a node; Data if the owner is no node.
OperandRole roleOf(mlir::OpOperand &use);

} // namespace zero::ops

#endif // ZERO_OPS_FUNCTION_H
