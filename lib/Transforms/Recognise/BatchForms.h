//===- BatchForms.h - operators on sums and means of a batch ----*- C++ -*-===//

#ifndef LIB_TRANSFORMS_RECOGNISE_BATCHFORMS_H
#define LIB_TRANSFORMS_RECOGNISE_BATCHFORMS_H

#include "dialects/Onnx/Onnx.h"

namespace zero {

/// What a node computes of sums and means over the batch.
enum class BatchForm {
  Passing,  ///< a linear function of its first operand
  Additive, ///< a linear function of all operands together
  Product,  ///< a linear function of each operand
  Quotient,
  Other,
};

BatchForm formOf(onnx::NodeOp node);

} // namespace zero

#endif // LIB_TRANSFORMS_RECOGNISE_BATCHFORMS_H
