//===- coded_parameter.h - parameters in blocks of codes --------*- C++ -*-===//
// A frozen parameter may be stored as codes in blocks, whose scales are stored so, too (double
// quantization, QLoRA, arXiv 2305.14314, section 3).
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_FORMAT_CODED_PARAMETER_H
#define RUNTIME_FORMAT_CODED_PARAMETER_H

#include "runtime/format/tables.h"
#include "runtime/format/tiers.h"

#include <functional>

namespace zero::rt {

/// Reads `count` elements of a whole tensor as f32, from element `begin` on.
using ReadElements = std::function<Status(uint64_t begin, uint64_t count, float *target)>;

/// The elements that encodeParameter() reads, some of them twice.
uint64_t elementsToEncode(const proto::Program &program, const proto::Tensor &tensor, int rank);

/// Writes the part of `rank` of the codes and scales of `tensor` with the elements that `read`
/// reads, in pieces. A rank that holds scales reads all elements once more, since these depend on
/// the mean of all.
Status encodeParameter(const proto::Program &program, const proto::Tensor &tensor, int rank,
                       const MemoryByTier &memory, const ReadElements &read);

/// Reads elements of a parameter, whose own ones `read` reads, as ranks store them: rounded to 16
/// bits, or as what their codes stand for.
ReadElements readAsStored(const proto::Program &program, const proto::Tensor &parameter,
                          ReadElements read);

/// The parameter called `name`, which validate() has found.
const proto::Tensor &parameterOf(const proto::Program &program, const std::string &name);

} // namespace zero::rt

#endif // RUNTIME_FORMAT_CODED_PARAMETER_H
