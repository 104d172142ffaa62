//===- PlainForms.h - rules that write nodes in plain ONNX ------*- C++ -*-===//

#ifndef LIB_TRANSFORMS_EMITONNX_PLAINFORMS_H
#define LIB_TRANSFORMS_EMITONNX_PLAINFORMS_H

#include "zero/Ops/OpTable.h"

namespace zero {

/// The rule for `node`, or null if it has none.
ops::ExpandFn plainForm(onnx::NodeOp node);

/// Whether `node`, for which there is no rule, is an operator of the emitted opset.
bool isPlain(onnx::NodeOp node);

} // namespace zero

#endif // LIB_TRANSFORMS_EMITONNX_PLAINFORMS_H
