//===- nccl_group.cpp - ranks with one GPU each ---------------------------===//

#include "runtime/comm/nccl/nccl_group.h"

#include "runtime/comm/device/sum_code.h"
#include "runtime/comm/host/group_member.h"
#include "runtime/comm/nccl/collective_marks.h"

#include <algorithm>
#include <chrono>
#include <mutex>
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

/// One rank's communicator of NCCL. Any thread may abort it: NCCL allows only one thread at a time
/// in a communicator, and its calls return at once, so a mutex is held during each.
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

  /// Calls enqueue(handle) for `what`, and waits on the host until NCCL has done that.
  template <typename Enqueue>
  Status call(const std::string &what, Enqueue enqueue) {
    {
      std::lock_guard<std::mutex> lock(mutex);
      if (!handle)
        return ended();
      const NcclResult result = enqueue(handle);
      ZERO_RT_TRY(nccl->check(result, what.c_str(), handle));
      if (result != kNcclInProgress)
        return {};
    }
    return settle(what);
  }

  /// Fails if the network or another rank has failed, or the group has ended.
  Status check(const std::string &what) {
    bool isBusy = false;
    return poll(what, isBusy);
  }

  /// Waits on the host until the last operation is complete. After a failure all ranks of this
  /// process have to abort.
  Status settle(const std::string &what) { return settle(what, timeoutSeconds); }
  Status settle(const std::string &what, double seconds) {
    using Clock = std::chrono::steady_clock;
    const auto deadline = Clock::now() + std::chrono::duration<double>(seconds);
    for (bool isBusy = true;;) {
      ZERO_RT_TRY(poll(what, isBusy));
      if (!isBusy)
        return {};
      if (Clock::now() > deadline)
        return fail(ZERO_RT_TIMEOUT, "%s: not all ranks arrived within %g s", what.c_str(),
                    seconds);
      std::this_thread::sleep_for(std::chrono::microseconds(50));
    }
  }

  /// Begins to leave the group, as all ranks of this process have to before one can end.
  void finalize() {
    std::lock_guard<std::mutex> lock(mutex);
    if (handle)
      (void)nccl->ncclCommFinalize(handle);
  }
  bool isFinal() { return settle("NCCL's end", std::min(timeoutSeconds, kEndSeconds)).ok(); }
  void destroy() {
    std::lock_guard<std::mutex> lock(mutex);
    if (handle)
      nccl->ncclCommDestroy(std::exchange(handle, nullptr));
  }

  /// Ends the work on the GPU.
  void abort() {
    std::lock_guard<std::mutex> lock(mutex);
    if (handle)
      nccl->ncclCommAbort(std::exchange(handle, nullptr));
  }

  const Nccl &functions() const { return *nccl; }

private:
  static Status ended() { return Status(ZERO_RT_ABORTED, "the group has ended"); }

  Status poll(const std::string &what, bool &isBusy) {
    std::lock_guard<std::mutex> lock(mutex);
    if (!handle)
      return ended();
    NcclResult state = kNcclSuccess;
    ZERO_RT_TRY(
        nccl->check(nccl->ncclCommGetAsyncError(handle, &state), "ncclCommGetAsyncError", handle));
    isBusy = state == kNcclInProgress;
    return isBusy ? Status() : nccl->check(state, what.c_str(), handle);
  }

  std::shared_ptr<const Nccl> nccl;
  double timeoutSeconds;
  std::mutex mutex;
  NcclHandle handle = nullptr;
};

/// Those of all ranks of this process, which leave NCCL together.
struct Connections {
  std::vector<std::unique_ptr<Connection>> all;

  /// A communicator that is aborted may wait for the others of its node (nccl issue 863), so each
  /// has a thread.
  void abort() {
    std::vector<std::thread> threads;
    for (const auto &each : all)
      threads.emplace_back([&each] { each->abort(); });
    for (std::thread &thread : threads)
      thread.join();
  }
  ~Connections() {
    for (const auto &each : all)
      each->finalize();
    if (!std::ranges::all_of(all, [](const auto &each) { return each->isFinal(); }))
      abort();
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
        lanes(std::move(lanes)) {
    this->lanes->watch([this] { return check(); }, [this] { return marks.current(*this->lanes); });
  }
  Status open() { return marks.create(lanes->sharedGpu()); }
  ~NcclCommunicator() override { lanes->watch({}); }

  Status allGather(const Call &call, DType dtype, const void *source, void *destination,
                   uint64_t elements) override {
    ZERO_RT_TRY(enter(call, Gather, source, elements));
    count(call, dtype, elements * uint64_t(ranks() - 1));
    if (elements == 0)
      return {};
    return enqueue(call, [&](NcclHandle handle) {
      return functions().ncclAllGather(source, destination, elements * sizeOf(dtype), kNcclUint8,
                                       handle, lanes->current());
    });
  }

  Status reduceScatter(const Call &call, const Reduction &how, const void *source,
                       void *destination, uint64_t elements) override {
    ZERO_RT_TRY(checkReduction(how));
    ZERO_RT_TRY(enter(call, ReduceScatter, source, elements));
    count(call, how.dtype, elements * uint64_t(ranks() - 1));
    if (elements == 0)
      return {};
    ZERO_RT_TRY(enqueue(call, [&](NcclHandle handle) {
      return functions().ncclReduceScatter(source, destination, elements, typeOf(how.dtype),
                                           operationOf(how), handle, lanes->current());
    }));
    return scale(how, destination, elements);
  }

  Status allReduce(const Call &call, const Reduction &how, void *data, uint64_t elements) override {
    ZERO_RT_TRY(checkReduction(how));
    ZERO_RT_TRY(enter(call, AllReduce, data, elements));
    count(call, how.dtype, receivedOf(elements));
    if (elements == 0)
      return {};
    ZERO_RT_TRY(enqueue(call, [&](NcclHandle handle) {
      return functions().ncclAllReduce(data, data, elements, typeOf(how.dtype), operationOf(how),
                                       handle, lanes->current());
    }));
    return scale(how, data, elements);
  }

  Status broadcast(const Call &call, DType dtype, const void *source, void *destination,
                   uint64_t elements, int root) override {
    ZERO_RT_TRY(enter(call, Broadcast, source, elements));
    count(call, dtype, self == root ? 0 : elements);
    if (elements == 0)
      return {};
    return enqueue(call, [&](NcclHandle handle) {
      return functions().ncclBroadcast(source, destination, elements * sizeOf(dtype), kNcclUint8,
                                       root, handle, lanes->current());
    });
  }

  /// Aborts all ranks of this process: NCCL's kernels of a rank wait for those of the others, and
  /// the memory of none can be freed while one of them runs.
  void abort(const Status &reason) override {
    GroupMember::abort(reason);
    connections->abort();
  }

  Status check() override {
    Status status = connection->check("NCCL");
    return !status.ok() && group->isAborted() ? group->abortReason() : status;
  }

private:
  const Nccl &functions() const { return connection->functions(); }

  Status enter(const Call &call, Kind kind, const void *data, uint64_t elements) {
    ZERO_RT_TRY(lanes->gpu().makeCurrent());
    return begin(call, kind, data, /*destination=*/nullptr, elements);
  }

  template <typename Body>
  Status enqueue(const Call &call, Body body) {
    const std::string name = nameOf(call);
    ZERO_RT_TRY(marks.begin(*lanes, name));
    Status status = connection->call(name, body);
    if (!status.ok())
      return group->isAborted() ? group->abortReason() : lanes->causeOf(status);
    return marks.end(*lanes);
  }

  static std::string nameOf(const Call &call) {
    return format("collective %llu ('%s')", static_cast<unsigned long long>(call.index),
                  escape(call.label).c_str());
  }

  /// A sum of many float16 values may be out of range where their mean is not.
  static bool dividesFirst(const Reduction &how) { return how.mean && how.dtype == ZERO_RT_F16; }
  static int operationOf(const Reduction &how) { return dividesFirst(how) ? kNcclMean : kNcclSum; }

  /// A sum becomes a mean.
  Status scale(const Reduction &how, void *data, uint64_t elements) {
    if (!how.mean || dividesFirst(how))
      return {};
    const auto address = reinterpret_cast<Address>(data);
    const Address addresses[] = {address, address};
    return scaling->run(how, addresses, elements, ranks(), *lanes);
  }

  std::shared_ptr<Connections> connections;
  Connection *connection; ///< the own one
  std::shared_ptr<const SumKernels> scaling;
  std::shared_ptr<Lanes> lanes;
  CollectiveMarks marks;
};

/// Waits until all ranks of the group have come.
Status start(Connections &connections, const Lanes &lanes, Connection &own) {
  ZERO_RT_TRY(lanes.gpu().makeCurrent());
  Status status = own.settle("NCCL's start");
  if (!status.ok())
    connections.abort();
  return status;
}

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
    Connection &connection = *connections->all[size_t(rank)];
    ZERO_RT_TRY(start(*connections, *own, connection));
    std::shared_ptr<const SumKernels> scaling;
    ZERO_RT_TRY(SumKernels::load(own->sharedGpu(), {1, 1}, scaling));
    auto made = std::make_unique<NcclCommunicator>(group, rank, options.ranks, options, connections,
                                                   connection, scaling, own);
    ZERO_RT_TRY(made->open());
    ends.push_back(std::move(made));
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
  ZERO_RT_TRY(start(*connections, *lanes, connection));
  std::shared_ptr<const SumKernels> scaling;
  ZERO_RT_TRY(SumKernels::load(lanes->sharedGpu(), {1, 1}, scaling));
  const GroupOptions alone{1, timeoutSeconds};
  auto made = std::make_unique<NcclCommunicator>(std::make_shared<Rendezvous>(1, timeoutSeconds),
                                                 rank, ranks, alone, connections, connection,
                                                 scaling, std::move(lanes));
  ZERO_RT_TRY(made->open());
  end = std::move(made);
  return {};
}

} // namespace zero::rt::cuda
