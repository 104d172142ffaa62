//===- collect.h - bring values of all ranks to process 0 -------*- C++ -*-===//

#ifndef RUNTIME_SESSION_COLLECT_H
#define RUNTIME_SESSION_COLLECT_H

#include "runtime/session/ranks.h"
#include "runtime/session/values.h"

namespace zero::rt {

/// What process 0 reads of ranks of other processes. It announces each request, and then all
/// processes do the same.
struct Request {
  enum Kind : int { End, Tensor, Gradient, Output, Stats, Recording, FinishStep };
  Kind kind = End;
  int index = 0;         ///< of the tensor, gradient or output
  int rank = 0;          ///< of an output, stats or recording
  ValueRange range = {}; ///< of a tensor, gradient or output
};

/// Announces `request` to the other processes, which are in awaitRequest(). Does nothing if all
/// ranks are in this process.
Status announce(Ranks &ranks, const Request &request);
Status awaitRequest(Ranks &ranks, Request &request);

/// Brings `bytes` of `rank` to process 0: there to `destination`, from `source` where the rank is.
Status fetch(Ranks &ranks, int rank, const void *source, void *destination, uint64_t bytes);

/// Assembles `range` of a tensor at `destination` of process 0, from the memory of all ranks.
Status collectTensor(Ranks &ranks, const proto::Tensor &tensor, const ValueRange &range,
                     void *destination);

/// Reads bytes of a gradient of which the ranks of this process have the parts.
using ReadGradient = std::function<Status(uint64_t offset, void *destination, uint64_t bytes)>;
/// The same for a gradient.
Status collectGradient(Ranks &ranks, const proto::Gradient &gradient, const ValueRange &range,
                       const ReadGradient &read, void *destination);

} // namespace zero::rt

#endif // RUNTIME_SESSION_COLLECT_H
