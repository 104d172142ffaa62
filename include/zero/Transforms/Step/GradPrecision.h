//===- GradPrecision.h - type of sums over micro-batches --------*- C++ -*-===//

#ifndef ZERO_TRANSFORMS_STEP_GRADPRECISION_H
#define ZERO_TRANSFORMS_STEP_GRADPRECISION_H

#include "zero/Options/Words.h"

namespace zero {

/// The type of the sum of a gradient over micro-batches: f32, or bf16, to which each sum is rounded
/// up or down at random.
enum class GradPrecision { F32, BF16 };
inline llvm::ArrayRef<Word<GradPrecision>> wordsOf(GradPrecision) {
  static constexpr Word<GradPrecision> words[] = {{GradPrecision::F32, "f32"},
                                                  {GradPrecision::BF16, "bf16"}};
  return words;
}

} // namespace zero

#endif // ZERO_TRANSFORMS_STEP_GRADPRECISION_H
