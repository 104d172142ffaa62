//===- collective_marks.cpp - which collective a GPU is in ----------------===//

#include "runtime/comm/nccl/collective_marks.h"

namespace zero::rt::cuda {

/// Collectives that are in progress at a time, at most, each with a mark.
static constexpr size_t kMarks = 256;

Status CollectiveMarks::create(const std::shared_ptr<const Gpu> &gpu) {
  marks.resize(kMarks);
  for (Mark &mark : marks) {
    ZERO_RT_TRY(mark.begun.create(gpu));
    ZERO_RT_TRY(mark.ended.create(gpu));
  }
  return {};
}

static bool isPending(const Lanes &lanes, const OwnedEvent &event) {
  return lanes.driver().cuEventQuery(event.get()) == kNotReady;
}

Status CollectiveMarks::begin(const Lanes &lanes, const std::string &name) {
  Mark &mark = marks[next];
  marksThis = !lanes.isCapturing() && (mark.name.empty() || !isPending(lanes, mark.ended));
  if (!marksThis)
    return {};
  mark.name = name;
  ZERO_RT_LANES(lanes, cuEventRecord, mark.begun.get(), lanes.current());
  return {};
}

Status CollectiveMarks::end(const Lanes &lanes) {
  if (!marksThis)
    return {};
  const Mark &mark = marks[next];
  next = (next + 1) % marks.size();
  ZERO_RT_LANES(lanes, cuEventRecord, mark.ended.get(), lanes.current());
  return {};
}

/// From the oldest mark on, the first one that is pending: NCCL runs collectives in their order.
std::string CollectiveMarks::current(const Lanes &lanes) const {
  for (size_t i = 0; i < marks.size(); ++i) {
    const Mark &mark = marks[(next + i) % marks.size()];
    if (!mark.name.empty() && isPending(lanes, mark.ended))
      return isPending(lanes, mark.begun) ? "" : mark.name;
  }
  return {};
}

} // namespace zero::rt::cuda
