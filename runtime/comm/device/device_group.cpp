//===- device_group.cpp - ranks that share a GPU --------------------------===//

#include "runtime/comm/device/device_group.h"

#include "runtime/comm/device/sum_code.h"
#include "runtime/comm/host/group_member.h"

namespace zero::rt::cuda {

namespace {

/// The progress of a rank's stream in a collective. Other streams only wait for an event between
/// two barriers between which its owner does not record it, so one event of each kind suffices.
struct Moments {
  OwnedEvent ready;  ///< sources are written, destinations are free
  OwnedEvent summed; ///< the own slice of an all-reduce is
  OwnedEvent done;   ///< nothing of others is read any more
};

struct Shared {
  std::vector<Moments> moments;                              ///< by rank
  std::map<AxisSet, std::shared_ptr<const SumKernels>> sums; ///< by axes of groups
};

class DeviceCommunicator : public GroupMember {
public:
  DeviceCommunicator(std::shared_ptr<Rendezvous> group, int rank, const GroupOptions &options,
                     std::shared_ptr<Shared> shared, std::shared_ptr<Lanes> lanes)
      : GroupMember(std::move(group), {rank, rank}, options), shared(std::move(shared)),
        lanes(std::move(lanes)), addresses(size_t(ranks()) + 1) {}

  /// Its collectives of several ranks use events of other streams, whose threads meet.
  GraphUse graphUse() const override { return ranks() > 1 ? GraphUse::Between : GraphUse::Within; }
  Status allGather(const Call &call, DType dtype, const void *source, void *destination,
                   uint64_t elements) override;
  Status reduceScatter(const Call &call, const Reduction &how, const void *source,
                       void *destination, uint64_t elements) override;
  Status allReduce(const Call &call, const Reduction &how, void *data, uint64_t elements) override;
  Status broadcast(const Call &call, DType dtype, const void *source, void *destination,
                   uint64_t elements, int root) override;

private:
  /// The rank of a member; its place at the rendezvous is the same.
  int rankAt(int index) const { return members().ranks.rankAt(index); }
  Status start(const Call &call, Kind kind, const void *data, uint64_t elements) {
    ZERO_RT_TRY(lanes->gpu().makeCurrent());
    ZERO_RT_TRY(record(&Moments::ready));
    ZERO_RT_TRY(begin(call, kind, data, /*destination=*/nullptr, elements));
    if (!shared->sums.contains(members().axes))
      return fail(ZERO_RT_INTERNAL, "collective %llu ('%s'): the program lists no such group",
                  static_cast<unsigned long long>(call.index), escape(call.label).c_str());
    return awaitOthers(&Moments::ready);
  }
  /// All streams go on once all are at `moment`.
  Status pass(const Call &call, OwnedEvent Moments::*moment) {
    ZERO_RT_TRY(record(moment));
    ZERO_RT_TRY(arrive(call));
    return awaitOthers(moment);
  }
  Status record(OwnedEvent Moments::*moment) {
    ZERO_RT_LANES(*lanes, cuEventRecord, (shared->moments[size_t(self)].*moment).get(),
                  lanes->current());
    return {};
  }
  Status awaitOthers(OwnedEvent Moments::*moment);
  Status copy(void *destination, const void *source, uint64_t bytes);
  Status sumOverRanks(const Reduction &how, uint64_t start, void *destination, uint64_t elements);

  std::shared_ptr<Shared> shared;
  std::shared_ptr<Lanes> lanes;
  std::vector<Address> addresses;
};

Address addressOf(const void *place) { return reinterpret_cast<Address>(place); }

} // namespace

Status DeviceCommunicator::awaitOthers(OwnedEvent Moments::*moment) {
  for (int peer : members().ranks.ranks())
    if (peer != self)
      ZERO_RT_LANES(*lanes, cuStreamWaitEvent, lanes->current(),
                    (shared->moments[size_t(peer)].*moment).get(), 0);
  return {};
}

Status DeviceCommunicator::copy(void *destination, const void *source, uint64_t bytes) {
  if (bytes == 0 || destination == source)
    return {};
  ZERO_RT_LANES(*lanes, cuMemcpyDtoDAsync, addressOf(destination), addressOf(source), bytes,
                lanes->current());
  return {};
}

/// destination = sum over members of their sources from element `start` on.
Status DeviceCommunicator::sumOverRanks(const Reduction &how, uint64_t start, void *destination,
                                        uint64_t elements) {
  const auto size = size_t(members().size());
  for (size_t i = 0; i < size; ++i)
    addresses[i] = addressOf(sourceOf(rankAt(int(i)))) + start * sizeOf(how.dtype);
  addresses[size] = addressOf(destination);
  return shared->sums.at(members().axes)
      ->run(how, std::span(addresses).first(size + 1), elements, how.mean ? int(size) : 1, *lanes);
}

Status DeviceCommunicator::allGather(const Call &call, DType dtype, const void *source,
                                     void *destination, uint64_t elements) {
  ZERO_RT_TRY(start(call, Gather, source, elements));
  const Slices slices = wholeOf(elements * sizeOf(dtype));
  for (int i = 0; i < members().size(); ++i)
    ZERO_RT_TRY(
        copy(static_cast<char *>(destination) + slices[i].begin, sourceOf(rankAt(i)), slices.each));
  count(call, dtype, othersOf(elements));
  return pass(call, &Moments::done);
}

Status DeviceCommunicator::reduceScatter(const Call &call, const Reduction &how, const void *source,
                                         void *destination, uint64_t elements) {
  ZERO_RT_TRY(checkReduction(how));
  ZERO_RT_TRY(start(call, ReduceScatter, source, elements));
  ZERO_RT_TRY(sumOverRanks(how, wholeOf(elements)[members().own()].begin, destination, elements));
  count(call, how.dtype, othersOf(elements));
  return pass(call, &Moments::done);
}

Status DeviceCommunicator::allReduce(const Call &call, const Reduction &how, void *data,
                                     uint64_t elements) {
  ZERO_RT_TRY(checkReduction(how));
  ZERO_RT_TRY(start(call, AllReduce, data, elements));
  auto at = [&](void *base, uint64_t element) {
    return static_cast<char *>(base) + element * sizeOf(how.dtype);
  };
  const Slices slices = slicesOf(elements);
  const Slices::Slice own = slices[members().own()];
  ZERO_RT_TRY(sumOverRanks(how, own.begin, at(data, own.begin), own.count));
  ZERO_RT_TRY(pass(call, &Moments::summed));
  for (int i = 0; i < members().size(); ++i)
    if (const Slices::Slice slice = slices[i]; i != members().own())
      ZERO_RT_TRY(copy(at(data, slice.begin), at(sourceOf(rankAt(i)), slice.begin),
                       slice.count * sizeOf(how.dtype)));
  count(call, how.dtype, receivedOf(elements));
  return pass(call, &Moments::done);
}

Status DeviceCommunicator::broadcast(const Call &call, DType dtype, const void *source,
                                     void *destination, uint64_t elements, int root) {
  ZERO_RT_TRY(start(call, Broadcast, source, elements));
  ZERO_RT_TRY(copy(destination, sourceOf(rankAt(root)), elements * sizeOf(dtype)));
  count(call, dtype, members().own() == root ? 0 : elements);
  return pass(call, &Moments::done);
}

Status makeDeviceGroup(const GroupOptions &options,
                       const std::vector<std::shared_ptr<Lanes>> &lanes,
                       std::vector<std::unique_ptr<Communicator>> &ends) {
  auto group = std::make_shared<Rendezvous>(options.ranks, options.timeoutSeconds);
  auto shared = std::make_shared<Shared>();
  const std::shared_ptr<const Gpu> gpu = lanes.front()->sharedGpu();
  ZERO_RT_TRY(gpu->makeCurrent());
  const Mesh mesh = options.meshOfRanks();
  for (AxisSet axes : options.groupAxes())
    ZERO_RT_TRY(SumKernels::load(
        gpu, SumOrder::of(mesh.groupSize(axes), sumsOf(mesh, axes, options.ranksPerNode)),
        shared->sums[axes]));
  for (int rank = 0; rank < options.ranks; ++rank) {
    Moments &moments = shared->moments.emplace_back();
    for (OwnedEvent *event : {&moments.ready, &moments.summed, &moments.done})
      ZERO_RT_TRY(event->create(gpu));
  }
  for (int rank = 0; rank < options.ranks; ++rank)
    ends.push_back(
        std::make_unique<DeviceCommunicator>(group, rank, options, shared, lanes[size_t(rank)]));
  return {};
}

} // namespace zero::rt::cuda
