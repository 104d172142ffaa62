//===- vote.cpp - whether any rank wants something ------------------------===//

#include "runtime/execute/vote.h"

#include <cstring>

namespace zero::rt {

Status Vote::any(Device &device, Queue &queue, Communicator &communicator, bool mine,
                 bool &result) {
  int64_t votes = mine;
  if (!number)
    ZERO_RT_TRY(device.reserve(communicator.rank(), proto::DEVICE, sizeof(votes), /*guarded=*/false,
                               number));
  ZERO_RT_TRY(number->write(0, sizeof(votes), [&](char *piece, uint64_t, uint64_t) {
    std::memcpy(piece, &votes, sizeof(votes));
    return Status();
  }));
  ZERO_RT_TRY(queue.meet());
  ZERO_RT_TRY(communicator.allReduce({"vote of the processes", 0, /*control=*/true}, {ZERO_RT_I64},
                                     number->base(), 1));
  ZERO_RT_TRY(queue.finish());
  ZERO_RT_TRY(communicator.check());
  ZERO_RT_TRY(number->read(0, sizeof(votes), [&](const char *piece, uint64_t, uint64_t) {
    std::memcpy(&votes, piece, sizeof(votes));
    return Status();
  }));
  result = votes > 0;
  return {};
}

} // namespace zero::rt
