//===- nccl_group.cpp - ranks with one GPU each ---------------------------===//

#include "runtime/comm/nccl/nccl_group.h"

#include "runtime/comm/device/sum_code.h"
#include "runtime/comm/host/group_member.h"
#include "runtime/comm/nccl/collective_marks.h"

#include <algorithm>
#include <chrono>
#include <mutex>
#include <numeric>
#include <set>
#include <thread>

namespace zero::rt::cuda {

namespace {

/// For the others at the end, when nothing depends on them any more.
constexpr double kEndSeconds = 5;
/// NCCL enqueues a collective in a thread of its own, which takes tens of microseconds: waits poll
/// for so long before they sleep for so long each time.
constexpr std::chrono::microseconds kSpin{500}, kSleep{50};

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
  Connection(std::shared_ptr<const Nccl> nccl, std::shared_ptr<const Gpu> gpu,
             double timeoutSeconds)
      : nccl(std::move(nccl)), gpu(std::move(gpu)), timeoutSeconds(timeoutSeconds) {}
  /// Where nothing can be freed, graphs are not destroyed, and the abort waits for these.
  ~Connection() {
    if (ending.joinable() && gpu->driver().isStuck())
      ending.detach();
    else if (ending.joinable())
      ending.join();
  }

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
    const auto begin = Clock::now(), deadline = begin + std::chrono::duration_cast<Clock::duration>(
                                                            std::chrono::duration<double>(seconds));
    for (bool isBusy = true;;) {
      ZERO_RT_TRY(poll(what, isBusy));
      if (!isBusy)
        return {};
      const auto now = Clock::now();
      if (now > deadline)
        return fail(ZERO_RT_TIMEOUT, "%s: not all ranks arrived within %g s", what.c_str(),
                    seconds);
      if (now < begin + kSpin)
        std::this_thread::yield();
      else
        std::this_thread::sleep_for(kSleep);
    }
  }

  /// Once it is connected: its collectives access `memory` without copies where they can.
  Status use(void *memory, uint64_t bytes) {
    std::lock_guard<std::mutex> lock(mutex);
    if (!handle)
      return ended();
    return nccl->check(nccl->ncclCommRegister(handle, memory, bytes, &registered),
                       "ncclCommRegister", handle);
  }

  /// Begins to leave the group, as all ranks of this process have to before one can end.
  void finalize() {
    std::lock_guard<std::mutex> lock(mutex);
    if (handle && registered)
      (void)nccl->ncclCommDeregister(handle, std::exchange(registered, nullptr));
    if (handle)
      (void)nccl->ncclCommFinalize(handle);
  }
  bool isFinal() { return settle("NCCL's end", std::min(timeoutSeconds, kEndSeconds)).ok(); }
  /// All graphs with its collectives are gone.
  void destroy() {
    std::lock_guard<std::mutex> lock(mutex);
    if (handle)
      nccl->ncclCommDestroy(std::exchange(handle, nullptr));
  }

  /// Ends the work on the GPU. NCCL does that at once, but then ncclCommAbort waits for the other
  /// communicators of the node (nccl issue 863), and until the last graph with a collective of this
  /// one is destroyed. The rank's own thread does that later, so another thread waits.
  void abort() {
    std::lock_guard<std::mutex> lock(mutex);
    if (NcclHandle ended = std::exchange(handle, nullptr))
      ending = std::thread([nccl = nccl, ended] { nccl->ncclCommAbort(ended); });
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
  std::shared_ptr<const Gpu> gpu;
  double timeoutSeconds;
  std::mutex mutex;
  NcclHandle handle = nullptr;
  void *registered = nullptr; ///< the memory of use(), which an abort forgets
  std::thread ending;         ///< aborts it
};

/// Those of all ranks of this process, for each group, which leave NCCL together.
struct Connections {
  std::vector<std::unique_ptr<Connection>> all;

  /// Begins one for the group of a rank on `gpu`, in which NCCL numbers the rank `number`.
  Status begin(std::shared_ptr<const Nccl> nccl, std::shared_ptr<const Gpu> gpu,
               double timeoutSeconds, const NcclId &id, int number, int size, Connection *&made) {
    made = all.emplace_back(
                  std::make_unique<Connection>(std::move(nccl), std::move(gpu), timeoutSeconds))
               .get();
    return made->begin(id, number, size);
  }

  void abort() {
    for (const auto &each : all)
      each->abort();
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

using OwnConnections = std::map<AxisSet, Connection *>;

/// NCCL's number of member `index` of the group along `axes`: that of its slice. Sums are in no
/// order that we could choose.
int numberOf(const GroupOptions &options, AxisSet axes, int index) {
  const auto known = options.slices.find(axes);
  return known == options.slices.end() ? index : known->second[size_t(index)];
}

class NcclCommunicator : public GroupMember {
public:
  /// `group`: the threads of this process; only one if the process has one rank. `own`: of this
  /// rank, by axes.
  NcclCommunicator(std::shared_ptr<Rendezvous> group, int rank, const GroupOptions &options,
                   std::shared_ptr<Connections> connections, OwnConnections own,
                   std::shared_ptr<const SumKernels> scaling, std::shared_ptr<Lanes> lanes)
      : GroupMember(group, {rank, group->size() == 1 ? 0 : rank}, options), options(options),
        connections(std::move(connections)), own(std::move(own)), scaling(std::move(scaling)),
        lanes(std::move(lanes)) {
    this->lanes->watch([this] { return check(); }, [this] { return marks.current(*this->lanes); });
  }
  Status open() { return marks.create(lanes->sharedGpu()); }
  ~NcclCommunicator() override { lanes->watch({}); }

  /// All ranks register, and all of their memory: NCCL allows no mixture, and falls back to copies
  /// by itself where places differ among ranks.
  Status use(void *memory, uint64_t bytes) override {
    ZERO_RT_TRY(lanes->gpu().makeCurrent());
    for (const auto &[axes, each] : own)
      if (each->functions().hasMemory() && bytes > 0)
        ZERO_RT_TRY(each->use(memory, bytes));
    return {};
  }
  bool isOneProcess() const override { return group->size() == ranks(); }
  /// NCCL's guide warns of deadlocks where one process launches the graphs of several GPUs. Graphs
  /// between collectives would end the overlap of the two.
  GraphUse graphUse() const override {
    return group->size() > 1 ? GraphUse::None : GraphUse::Within;
  }
  Status allGather(const Call &call, DType dtype, const void *source, void *destination,
                   uint64_t elements) override {
    ZERO_RT_TRY(enter(call, Gather, source, elements));
    count(call, dtype, othersOf(elements));
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
    count(call, how.dtype, othersOf(elements));
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
    count(call, dtype, members().own() == root ? 0 : elements);
    if (elements == 0)
      return {};
    return enqueue(call, [&](NcclHandle handle) {
      return functions().ncclBroadcast(source, destination, elements * sizeOf(dtype), kNcclUint8,
                                       numberOf(options, members().axes, root), handle,
                                       lanes->current());
    });
  }

  /// Aborts all ranks of this process: NCCL's kernels of a rank wait for those of the others, and
  /// the memory of none can be freed while one of them runs.
  void abort(const Status &reason) override {
    GroupMember::abort(reason);
    connections->abort();
  }

  Status check() override {
    for (const auto &[axes, each] : own)
      if (Status status = each->check("NCCL"); !status.ok())
        return group->isAborted() ? group->abortReason() : status;
    return {};
  }

private:
  const Nccl &functions() const { return connection->functions(); }

  Status enter(const Call &call, Kind kind, const void *data, uint64_t elements) {
    ZERO_RT_TRY(lanes->gpu().makeCurrent());
    ZERO_RT_TRY(begin(call, kind, data, /*destination=*/nullptr, elements));
    const auto found = own.find(members().axes);
    if (found == own.end())
      return fail(ZERO_RT_INTERNAL, "%s: the program lists no such group", nameOf(call).c_str());
    connection = found->second;
    const auto numbers = options.slices.find(members().axes);
    const bool isInOrder = numbers == options.slices.end()
                               ? call.slices.empty()
                               : std::ranges::equal(numbers->second, call.slices);
    if ((kind == Gather || kind == ReduceScatter) && !isInOrder)
      return fail(ZERO_RT_INTERNAL, "%s: its slices have another order than those of its group",
                  nameOf(call).c_str());
    // NCCL has no barrier of threads at the end. A rank that goes on in other groups must not write
    // its second next offer before the slowest of this one has read the present.
    return own.size() > 1 ? arrive(call) : Status();
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
    return scaling->run(how, addresses, elements, members().size(), *lanes);
  }

  GroupOptions options;
  std::shared_ptr<Connections> connections;
  OwnConnections own;
  Connection *connection = nullptr; ///< of the collective in progress
  std::shared_ptr<const SumKernels> scaling;
  std::shared_ptr<Lanes> lanes;
  CollectiveMarks marks;
};

/// Calls body(axes, number of the group) for each set of axes; groups are numbered by these and by
/// their first members. `rank` is in the group of that number.
template <typename Body>
Status forEachGroup(const GroupOptions &options, int rank, Body body) {
  const Mesh mesh = options.meshOfRanks();
  size_t before = 0;
  for (AxisSet axes : options.groupAxes()) {
    const auto others = mesh.proper(~axes);
    std::vector<int> list;
    for (int axis = 0; axis < mesh.axes(); ++axis)
      if (others >> axis & 1)
        list.push_back(axis);
    ZERO_RT_TRY(body(axes, before + size_t(mesh.share(list, rank))));
    before += size_t(mesh.shares(list));
  }
  return {};
}

/// Connects `ranks`, those of this process, to their groups: one group after the other, since no
/// rank can end before all have begun. own[i]: of the i-th of them.
Status connect(const std::shared_ptr<const Nccl> &nccl, const std::vector<NcclId> &ids,
               const std::vector<int> &ranks, const std::vector<std::shared_ptr<Lanes>> &lanes,
               const GroupOptions &options, Connections &connections,
               std::vector<OwnConnections> &own) {
  const Mesh mesh = options.meshOfRanks();
  own.resize(ranks.size());
  for (AxisSet along : options.groupAxes()) {
    for (size_t i = 0; i < ranks.size(); ++i) {
      ZERO_RT_TRY(lanes[i]->gpu().makeCurrent());
      ZERO_RT_TRY(forEachGroup(options, ranks[i], [&](AxisSet axes, size_t number) {
        if (axes != along)
          return Status();
        if (number >= ids.size())
          return fail(ZERO_RT_INTERNAL, "no id of NCCL for group %zu among %zu", number,
                      ids.size());
        const RankGroup group(mesh, axes, ranks[i]);
        return connections.begin(nccl, lanes[i]->sharedGpu(), options.timeoutSeconds, ids[number],
                                 numberOf(options, axes, group.index()), group.size(),
                                 own[i][axes]);
      }));
    }
    for (size_t i = 0; i < ranks.size(); ++i) {
      ZERO_RT_TRY(lanes[i]->gpu().makeCurrent());
      if (Status status = own[i].at(along)->settle("NCCL's start"); !status.ok()) {
        connections.abort();
        return status;
      }
    }
  }
  return {};
}

/// Adds the end of `rank`.
Status addEnd(std::shared_ptr<Rendezvous> group, int rank, const GroupOptions &options,
              const std::shared_ptr<Connections> &connections, OwnConnections own,
              std::shared_ptr<Lanes> lanes, std::vector<std::unique_ptr<Communicator>> &ends) {
  ZERO_RT_TRY(lanes->gpu().makeCurrent());
  std::shared_ptr<const SumKernels> scaling;
  ZERO_RT_TRY(SumKernels::load(lanes->sharedGpu(), {1, 1}, scaling));
  auto made = std::make_unique<NcclCommunicator>(std::move(group), rank, options, connections,
                                                 std::move(own), scaling, std::move(lanes));
  ZERO_RT_TRY(made->open());
  ends.push_back(std::move(made));
  return {};
}

} // namespace

Status makeNcclIds(const Nccl &nccl, const GroupOptions &options, std::vector<NcclId> &ids) {
  size_t groups = 0;
  ZERO_RT_TRY(forEachGroup(options, options.ranks - 1, [&](AxisSet, size_t number) {
    groups = number + 1; // the last rank is in the last group
    return Status();
  }));
  ids.resize(groups);
  for (NcclId &id : ids)
    ZERO_RT_TRY(nccl.check(nccl.ncclGetUniqueId(&id), "ncclGetUniqueId"));
  return {};
}

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
  std::vector<NcclId> ids;
  ZERO_RT_TRY(makeNcclIds(*nccl, options, ids));
  auto connections = std::make_shared<Connections>();
  std::vector<OwnConnections> own;
  std::vector<int> ranks(size_t(options.ranks), 0);
  std::iota(ranks.begin(), ranks.end(), 0);
  ZERO_RT_TRY(connect(nccl, ids, ranks, lanes, options, *connections, own));
  auto group = std::make_shared<Rendezvous>(options.ranks, options.timeoutSeconds);
  for (int rank = 0; rank < options.ranks; ++rank)
    ZERO_RT_TRY(
        addEnd(group, rank, options, connections, own[size_t(rank)], lanes[size_t(rank)], ends));
  return {};
}

Status joinNcclGroup(std::shared_ptr<const Nccl> nccl, const std::vector<NcclId> &ids, int rank,
                     const GroupOptions &options, std::shared_ptr<Lanes> lanes,
                     std::vector<std::unique_ptr<Communicator>> &ends) {
  auto connections = std::make_shared<Connections>();
  std::vector<OwnConnections> own;
  ZERO_RT_TRY(connect(nccl, ids, {rank}, {lanes}, options, *connections, own));
  auto alone = std::make_shared<Rendezvous>(RendezvousPage::make(1), std::vector<int>{rank},
                                            options.timeoutSeconds);
  return addEnd(std::move(alone), rank, options, connections, std::move(own[0]), std::move(lanes),
                ends);
}

} // namespace zero::rt::cuda
