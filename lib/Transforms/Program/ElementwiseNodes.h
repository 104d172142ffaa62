//===- ElementwiseNodes.h - nodes that broadcast operands -------*- C++ -*-===//

#ifndef LIB_TRANSFORMS_PROGRAM_ELEMENTWISENODES_H
#define LIB_TRANSFORMS_PROGRAM_ELEMENTWISENODES_H

#include "zero/Ops/ElementFunctions.h"
#include "zero/Ops/OpTable.h"

namespace zero {

/// Whether `node` computes each element of its only result from the broadcast elements of its
/// operands, whatever its position. Then it has the factors of its kind.
inline bool isElementwise(onnx::NodeOp node) {
  const ops::OpDef *def = ops::lookup(node);
  return def && def->kind == ops::Kind::Elementwise && node.getNumResults() == 1 &&
         (node.getDomain().empty() || ops::isElementFunction(node)) && !def->factors;
}

} // namespace zero

#endif // LIB_TRANSFORMS_PROGRAM_ELEMENTWISENODES_H
