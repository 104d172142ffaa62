//===- SameSteps.h - compare the steps of whole matrices --------*- C++ -*-===//

#ifndef ZERO_ANALYSIS_SAMESTEPS_H
#define ZERO_ANALYSIS_SAMESTEPS_H

#include "dialects/Zero/Zero.h"

namespace zero {

/// Whether launches compute the same for `a` and `b` from their directions, or gradients of whole
/// tensors, and their own states: the same kernels of the same other operands. Then the launches of
/// one compute the step of the other from its values.
bool haveSameSteps(UpdateOp a, UpdateOp b);

} // namespace zero

#endif // ZERO_ANALYSIS_SAMESTEPS_H
