//===- NonFinite.h - steps whose gradients are not finite -------*- C++ -*-===//

#ifndef ZERO_TRANSFORMS_STEP_NONFINITE_H
#define ZERO_TRANSFORMS_STEP_NONFINITE_H

#include "zero/Options/Words.h"

namespace zero {

/// What happens to a step of which a gradient is NaN or infinite: the run ends, or the step changes
/// nothing.
enum class NonFinite { Stop, Skip };
inline llvm::ArrayRef<Word<NonFinite>> wordsOf(NonFinite) {
  static constexpr Word<NonFinite> words[] = {{NonFinite::Stop, "stop"}, {NonFinite::Skip, "skip"}};
  return words;
}

} // namespace zero

#endif // ZERO_TRANSFORMS_STEP_NONFINITE_H
