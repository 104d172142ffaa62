//===- collective_marks.h - which collective a GPU is in --------*- C++ -*-===//

#ifndef RUNTIME_COMM_NCCL_COLLECTIVE_MARKS_H
#define RUNTIME_COMM_NCCL_COLLECTIVE_MARKS_H

#include "runtime/device/cuda/lanes.h"

namespace zero::rt::cuda {

/// Events before and behind the kernels of NCCL on one GPU. They tell a GPU that waits for other
/// ranks from one that does not come to a collective. Collectives of graphs have none: the host may
/// not query events of a capture. Used by the rank's thread.
class CollectiveMarks {
public:
  Status create(const std::shared_ptr<const Gpu> &gpu);

  /// Before and behind the kernel of a collective in the current lane.
  Status begin(const Lanes &lanes, const std::string &name);
  Status end(const Lanes &lanes);
  /// The collective that has begun on the GPU and has not ended; empty: none.
  std::string current(const Lanes &lanes) const;

private:
  struct Mark {
    OwnedEvent begun, ended;
    std::string name; ///< empty: not in use yet
  };
  std::vector<Mark> marks; ///< used in turn
  size_t next = 0;
  bool marksThis = false; ///< false if captured, or if its mark is of one that has not ended
};

} // namespace zero::rt::cuda

#endif // RUNTIME_COMM_NCCL_COLLECTIVE_MARKS_H
