//===- HalfFloats.h - floats of 16 bits -------------------------*- C++ -*-===//

#ifndef ZERO_TRANSFORMS_PRECISION_HALFFLOATS_H
#define ZERO_TRANSFORMS_PRECISION_HALFFLOATS_H

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/TypeUtilities.h"

namespace zero {

/// On the module: the 16-bit element type of frozen parameters if the other parameters are f32.
inline constexpr llvm::StringLiteral kFrozenPrecisionAttr = "zero.frozen_precision";

/// On a module whose source is a program that computes in 16 bits where its types say so.
inline constexpr llvm::StringLiteral kOwnTypesAttr = "zero.own_types";

/// Whether `type`, or the elements of it, are f16 or bf16.
inline bool isHalfFloat(mlir::Type type) {
  return llvm::isa<mlir::Float16Type, mlir::BFloat16Type>(mlir::getElementTypeOrSelf(type));
}

/// `elements` rounded to `to`; null if `exact` is set and one of them changes.
inline mlir::DenseElementsAttr convertElements(mlir::DenseElementsAttr elements, mlir::FloatType to,
                                               bool exact) {
  bool isExact = true;
  mlir::DenseElementsAttr result = elements.mapValues(to, [&](const llvm::APFloat &element) {
    bool losesInfo;
    llvm::APFloat value = element;
    value.convert(to.getFloatSemantics(), llvm::APFloat::rmNearestTiesToEven, &losesInfo);
    isExact &= !losesInfo;
    return value.bitcastToAPInt();
  });
  return exact && !isExact ? mlir::DenseElementsAttr() : result;
}

} // namespace zero

#endif // ZERO_TRANSFORMS_PRECISION_HALFFLOATS_H
