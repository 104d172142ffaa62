//===- MasterWeights.h - f32 values of 16-bit parameters --------*- C++ -*-===//

#ifndef ZERO_TRANSFORMS_STEP_MASTERWEIGHTS_H
#define ZERO_TRANSFORMS_STEP_MASTERWEIGHTS_H

#include "zero/Options/Words.h"

namespace zero {

/// What the optimizer updates where parameters are stored in 16 bits: an f32 value of each, or the
/// stored value, which is then rounded up or down at random, or to nearest.
enum class MasterWeights { F32, None, Nearest };
inline llvm::ArrayRef<Word<MasterWeights>> wordsOf(MasterWeights) {
  static constexpr Word<MasterWeights> words[] = {{MasterWeights::F32, "f32"},
                                                  {MasterWeights::None, "none"},
                                                  {MasterWeights::Nearest, "nearest"}};
  return words;
}

} // namespace zero

#endif // ZERO_TRANSFORMS_STEP_MASTERWEIGHTS_H
