//===- nccl_group.cpp - ranks with one GPU each ---------------------------===//

#include "runtime/comm/nccl/nccl_group.h"

#include "runtime/comm/device/sum_code.h"
#include "runtime/comm/host/group_member.h"

#include <chrono>
#include <set>
#include <thread>

namespace zero::rt::cuda {

namespace {

/// For the others at the end, when nothing depends on them any more.
constexpr double kEndSeconds = 5;

int typeOf(DType dtype) {
  switch (dtype) {
  case ZERO_RT_F32:
    return kNcclFloat32;
  case ZERO_RT_F64:
    return kNcclFloat64;
  case ZERO_RT_F16:
    return kNcclFloat16;
  case ZERO_RT_BF16:
    return kNcclBfloat16;
  case ZERO_RT_I32:
    return kNcclInt32;
  default:
    return kNcclInt64;
  }
}

/// One rank's communicator of NCCL.
class Connection {
public:
  Connection(std::shared_ptr<const Nccl> nccl, double timeoutSeconds)
      : nccl(std::move(nccl)), timeoutSeconds(timeoutSeconds) {}

  /// Only begins: all ranks of this process have to, before one can end.
  Status begin(const NcclId &id, int rank, int ranks) {
    NcclConfig config;
    return nccl->check(nccl->ncclCommInitRankConfig(&handle, ranks, id, rank, &config),
                       "ncclCommInitRankConfig", handle);
  }

  /// Waits on the host until the last operation is complete.
  Status settle(const std::string &what) { return settle(what, timeoutSeconds); }
  Status settle(const std::string &what, double seconds) {
    using Clock = std::chrono::steady_clock;
    const auto deadline = Clock::now() + std::chrono::duration<double>(seconds);
    for (;;) {
      if (!handle)
        return Status(ZERO_RT_ABORTED, "the group has ended");
      NcclResult state = kNcclSuccess;
      ZERO_RT_TRY(nccl->check(nccl->ncclCommGetAsyncError(handle, &state), "ncclCommGetAsyncError",
                              handle));
      if (state != kNcclInProgress)
        return nccl->check(state, what.c_str(), handle);
      if (Clock::now() > deadline) {
        abort();
        return fail(ZERO_RT_TIMEOUT, "%s: not all ranks arrived within %g s", what.c_str(),
                    seconds);
      }
      std::this_thread::sleep_for(std::chrono::microseconds(50));
    }
  }

  /// Begins to leave the group, as all ranks of this process have to before one can end.
  void finalize() {
    if (handle)
      (void)nccl->ncclCommFinalize(handle);
  }
  void destroy() {
    if (!settle("NCCL's end", std::min(timeoutSeconds, kEndSeconds)).ok())
      abort();
    if (handle)
      nccl->ncclCommDestroy(std::exchange(handle, nullptr));
  }

  /// Ends the work on the GPU.
  void abort() {
    if (handle)
      nccl->ncclCommAbort(std::exchange(handle, nullptr));
  }

  const Nccl &functions() const { return *nccl; }
  NcclHandle get() const { return handle; }

private:
  std::shared_ptr<const Nccl> nccl;
  double timeoutSeconds;
  NcclHandle handle = nullptr;
};

/// Those of all ranks of this process, which leave NCCL together.
struct Connections {
  std::vector<std::unique_ptr<Connection>> all;
  ~Connections() {
    for (const auto &each : all)
      each->finalize();
    for (const auto &each : all)
      each->destroy();
  }
};

class NcclCommunicator : public GroupMember {
public:
  /// `group`: the threads of this process; only one if the process has one rank.
  NcclCommunicator(std::shared_ptr<Rendezvous> group, int rank, int ranks,
                   const GroupOptions &options, std::shared_ptr<Connections> connections,
                   Connection &connection, std::shared_ptr<const SumKernels> scaling,
                   std::shared_ptr<Lanes> lanes)
      : GroupMember(std::move(group), {rank, options.ranks == 1 ? 0 : rank, ranks}, options),
        connections(std::move(connections)), connection(&connection), scaling(std::move(scaling)),
        lanes(std::move(lanes)) {}

  Status allGather(const Call &call, DType dtype, const void *source, void *destination,
                   uint64_t elements) override {
    ZERO_RT_TRY(enter(call, Gather, source, elements));
    count(call, dtype, elements * uint64_t(ranks() - 1));
    if (elements == 0)
      return {};
    return issue(call, functions().ncclAllGather(source, destination, elements * sizeOf(dtype),
                                                 kNcclUint8, connection->get(), lanes->current()));
  }

  Status reduceScatter(const Call &call, const Reduction &how, const void *source,
                       void *destination, uint64_t elements) override {
    ZERO_RT_TRY(checkReduction(how));
    ZERO_RT_TRY(enter(call, ReduceScatter, source, elements));
    count(call, how.dtype, elements * uint64_t(ranks() - 1));
    if (elements == 0)
      return {};
    ZERO_RT_TRY(
        issue(call, functions().ncclReduceScatter(source, destination, elements, typeOf(how.dtype),
                                                  kNcclSum, connection->get(), lanes->current())));
    return scale(how, destination, elements);
  }

  Status allReduce(const Call &call, const Reduction &how, void *data, uint64_t elements) override {
    ZERO_RT_TRY(checkReduction(how));
    ZERO_RT_TRY(enter(call, AllReduce, data, elements));
    count(call, how.dtype, receivedOf(elements));
    if (elements == 0)
      return {};
    ZERO_RT_TRY(
        issue(call, functions().ncclAllReduce(data, data, elements, typeOf(how.dtype), kNcclSum,
                                              connection->get(), lanes->current())));
    return scale(how, data, elements);
  }

  Status broadcast(const Call &call, DType dtype, const void *source, void *destination,
                   uint64_t elements, int root) override {
    ZERO_RT_TRY(enter(call, Broadcast, source, elements));
    count(call, dtype, self == root ? 0 : elements);
    if (elements == 0)
      return {};
    return issue(call,
                 functions().ncclBroadcast(source, destination, elements * sizeOf(dtype),
                                           kNcclUint8, root, connection->get(), lanes->current()));
  }

  void abort(const Status &reason) override {
    GroupMember::abort(reason);
    connection->abort();
  }

  Status check() override { return connection->settle("NCCL"); }

private:
  const Nccl &functions() const { return connection->functions(); }

  Status enter(const Call &call, Kind kind, const void *data, uint64_t elements) {
    ZERO_RT_TRY(lanes->gpu().makeCurrent());
    ZERO_RT_TRY(begin(call, kind, data, /*destination=*/nullptr, elements));
    return connection->get() ? Status() : Status(ZERO_RT_ABORTED, "the group has ended");
  }

  Status issue(const Call &call, NcclResult result) {
    const std::string what =
        format("collective %llu ('%s')", static_cast<unsigned long long>(call.index),
               escape(call.label).c_str());
    ZERO_RT_TRY(functions().check(result, what.c_str(), connection->get()));
    return result == kNcclInProgress ? connection->settle(what) : Status();
  }

  /// A sum becomes a mean.
  Status scale(const Reduction &how, void *data, uint64_t elements) {
    if (!how.mean)
      return {};
    const auto address = reinterpret_cast<Address>(data);
    const Address addresses[] = {address, address};
    return scaling->run(how, addresses, elements, ranks(), lanes->current());
  }

  std::shared_ptr<Connections> connections;
  Connection *connection; ///< the own one
  std::shared_ptr<const SumKernels> scaling;
  std::shared_ptr<Lanes> lanes;
};

} // namespace

Status makeNcclGroup(const GroupOptions &options, const std::vector<std::shared_ptr<Lanes>> &lanes,
                     std::vector<std::unique_ptr<Communicator>> &ends) {
  std::set<int> gpus;
  for (const auto &each : lanes)
    gpus.insert(each->gpu().ordinal());
  if (gpus.size() != lanes.size())
    return fail(ZERO_RT_UNSUPPORTED,
                "%zu ranks on %zu GPUs: expected all ranks on one GPU, or one rank on each",
                lanes.size(), gpus.size());
  std::shared_ptr<const Nccl> nccl;
  ZERO_RT_TRY(Nccl::open(nccl));
  NcclId id;
  ZERO_RT_TRY(nccl->check(nccl->ncclGetUniqueId(&id), "ncclGetUniqueId"));
  auto connections = std::make_shared<Connections>();
  for (int rank = 0; rank < options.ranks; ++rank) {
    ZERO_RT_TRY(lanes[size_t(rank)]->gpu().makeCurrent());
    connections->all.push_back(std::make_unique<Connection>(nccl, options.timeoutSeconds));
    ZERO_RT_TRY(connections->all.back()->begin(id, rank, options.ranks));
  }
  auto group = std::make_shared<Rendezvous>(options.ranks, options.timeoutSeconds);
  for (int rank = 0; rank < options.ranks; ++rank) {
    const std::shared_ptr<Lanes> &own = lanes[size_t(rank)];
    ZERO_RT_TRY(own->gpu().makeCurrent());
    Connection &connection = *connections->all[size_t(rank)];
    ZERO_RT_TRY(connection.settle("NCCL's start"));
    std::shared_ptr<const SumKernels> scaling;
    ZERO_RT_TRY(SumKernels::load(own->sharedGpu(), {1, 1}, scaling));
    ends.push_back(std::make_unique<NcclCommunicator>(group, rank, options.ranks, options,
                                                      connections, connection, scaling, own));
  }
  return {};
}

Status joinNcclGroup(std::shared_ptr<const Nccl> nccl, const NcclId &id, int rank, int ranks,
                     double timeoutSeconds, std::shared_ptr<Lanes> lanes,
                     std::unique_ptr<Communicator> &end) {
  ZERO_RT_TRY(lanes->gpu().makeCurrent());
  auto connections = std::make_shared<Connections>();
  connections->all.push_back(std::make_unique<Connection>(std::move(nccl), timeoutSeconds));
  Connection &connection = *connections->all.front();
  ZERO_RT_TRY(connection.begin(id, rank, ranks));
  ZERO_RT_TRY(connection.settle("NCCL's start"));
  std::shared_ptr<const SumKernels> scaling;
  ZERO_RT_TRY(SumKernels::load(lanes->sharedGpu(), {1, 1}, scaling));
  const GroupOptions alone{1, timeoutSeconds};
  end = std::make_unique<NcclCommunicator>(std::make_shared<Rendezvous>(1, timeoutSeconds), rank,
                                           ranks, alone, connections, connection, scaling,
                                           std::move(lanes));
  return {};
}

} // namespace zero::rt::cuda
