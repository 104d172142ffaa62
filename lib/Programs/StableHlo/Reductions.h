//===- Reductions.h - how elements are combined -----------------*- C++ -*-===//

#ifndef LIB_PROGRAMS_STABLEHLO_REDUCTIONS_H
#define LIB_PROGRAMS_STABLEHLO_REDUCTIONS_H

#include "Rules.h"

namespace zero::hlo {

/// A combiner of two elements that nodes know.
struct Combiner {
  onnx::Operator reduction; ///< over dimensions
  onnx::Operator node;      ///< of two tensors
  enum { Zero, One, Lowest, Highest } neutral;
};

/// The combiner that op `name` is for elements of type `element`, or nothing.
std::optional<Combiner> combinerFor(llvm::StringRef name, mlir::Type element);

/// The scalar that changes no other when combined with it.
mlir::DenseElementsAttr neutralElement(const Combiner &combiner, mlir::Type element);

/// Whether `value` is that, in all its elements.
bool isNeutral(Emitter &b, mlir::Value value, const Combiner &combiner);

} // namespace zero::hlo

#endif // LIB_PROGRAMS_STABLEHLO_REDUCTIONS_H
