//===- proof.h - equality of a program and its reference --------*- C++ -*-===//

#ifndef CHECK_PROOF_H
#define CHECK_PROOF_H

#include <string>

namespace zero::check {

/// Proves that the step of the executable at `program` changes states as the one at `reference`
/// does, with gradients averaged over ranks and micro-batches, and has the mean of its losses.
/// Returns the rules that it used, one a line. Throws a Refusal if it cannot.
std::string prove(const std::string &reference, const std::string &program, bool upToOrder);

} // namespace zero::check

#endif // CHECK_PROOF_H
