//===- FoldElements.h - one element of a folded op --------------*- C++ -*-===//

#ifndef LIB_PROGRAMS_STABLEHLO_FOLDELEMENTS_H
#define LIB_PROGRAMS_STABLEHLO_FOLDELEMENTS_H

#include "mlir/IR/Operation.h"

namespace zero::hlo {

/// The element of type `element` that elementwise `op` computes from those of its operands, or null
/// if it is not folded.
mlir::Attribute foldElement(mlir::Operation *op, llvm::ArrayRef<mlir::Attribute> operands,
                            mlir::Type element);

} // namespace zero::hlo

#endif // LIB_PROGRAMS_STABLEHLO_FOLDELEMENTS_H
