//===- exchange.cpp - exchange messages between ranks ---------------------===//

#include "runtime/execute/exchange.h"

#include <cstring>

namespace zero::rt {

Status Exchange::run(Device &device, Queue &queue, Communicator &communicator, const Note &own,
                     std::vector<Note> &all) {
  const int self = communicator.rank();
  const uint64_t mine = uint64_t(self) * sizeof(Note);
  all.resize(size_t(communicator.ranks()));
  if (!notes)
    ZERO_RT_TRY(device.reserve(self, all.size() * sizeof(Note), /*guarded=*/false, notes));
  ZERO_RT_TRY(notes->write(mine, sizeof(Note), [&](char *piece, uint64_t, uint64_t) {
    std::memcpy(piece, &own, sizeof(Note));
    return Status();
  }));
  ZERO_RT_TRY(queue.meet());
  ZERO_RT_TRY(communicator.allGather({"metadata that ranks exchange", 0, /*control=*/true},
                                     ZERO_RT_I64, notes->base() + mine, notes->base(),
                                     sizeof(Note) / sizeof(int64_t)));
  ZERO_RT_TRY(queue.finish());
  ZERO_RT_TRY(communicator.check());
  return notes->read(0, all.size() * sizeof(Note),
                     [&](const char *piece, uint64_t done, uint64_t count) {
                       std::memcpy(reinterpret_cast<char *>(all.data()) + done, piece, count);
                       return Status();
                     });
}

} // namespace zero::rt
