//===- lanes.cpp - the streams of one rank --------------------------------===//

#include "runtime/device/cuda/lanes.h"

#include <chrono>
#include <thread>

namespace zero::rt::cuda {

/// A mark is recorded after so many commands, and so many marks are kept.
static constexpr uint64_t kCommandsOfMark = 8;
static constexpr size_t kMarks = 64;
/// What is watched is looked at after so long, and then that often.
static constexpr std::chrono::milliseconds kWatch{1};

OwnedEvent::~OwnedEvent() {
  if (event && gpu->canFree())
    gpu->driver().cuEventDestroy(event);
}

Status OwnedEvent::create(std::shared_ptr<const Gpu> on, unsigned flags) {
  gpu = std::move(on);
  return gpu->driver().check(gpu->driver().cuEventCreate(&event, flags), "cuEventCreate");
}

Status Lanes::create(const std::shared_ptr<const Gpu> &gpu, std::span<const uint32_t> used,
                     double timeoutSeconds, std::shared_ptr<Lanes> &lanes) {
  ZERO_RT_TRY(gpu->makeCurrent());
  std::shared_ptr<Lanes> made(new Lanes(gpu, timeoutSeconds));
  int least = 0, greatest = 0;
  ZERO_RT_CUDA(gpu->driver(), cuCtxGetStreamPriorityRange, &least, &greatest);
  for (uint32_t number : used) {
    made->at.resize(std::max<size_t>(made->at.size(), number + 1));
    made->at[number] = made->lanes.size();
    Lane &lane = made->lanes.emplace_back();
    // The few blocks of a collective must not wait for the many of a kernel that runs beside it:
    // other ranks wait for them.
    ZERO_RT_CUDA(gpu->driver(), cuStreamCreateWithPriority, &lane.stream, kStreamNonBlocking,
                 number == proto::COLLECTIVE ? greatest : least);
    ZERO_RT_TRY(lane.met.create(gpu));
  }
  for (size_t i = 0; i < kMarks; ++i)
    ZERO_RT_TRY(made->marks.emplace_back().create(gpu));
  made->active = made->lanes.front().stream;
  lanes = std::move(made);
  return {};
}

Lanes::~Lanes() {
  if (!device->canFree())
    return;
  for (const Lane &lane : lanes)
    if (lane.stream)
      driver().cuStreamDestroy(lane.stream);
}

Status Lanes::makeSignals(uint32_t count) {
  if (givenAt.size() < count)
    givenAt.resize(count, 0);
  while (signals.size() < count)
    ZERO_RT_TRY(signals.emplace_back().create(device));
  return {};
}

Status Lanes::call(HostFunction function, void *context) {
  const Lane &calls = lanes[*at[kCalls]];
  ZERO_RT_LANES(*this, cuEventRecord, calls.met.get(), active);
  ZERO_RT_LANES(*this, cuStreamWaitEvent, calls.stream, calls.met.get(), 0);
  ZERO_RT_LANES(*this, cuLaunchHostFunc, calls.stream, function, context);
  return {};
}

Status Lanes::begin(const Order &order) {
  active = lanes[*at[order.lane]].stream;
  for (uint32_t signal : order.waits)
    if (givenAt[signal] == meetings)
      ZERO_RT_LANES(*this, cuStreamWaitEvent, active, signals[signal].get(), 0);
  return {};
}

Status Lanes::end(const Order &order) {
  if (order.signal >= 0) {
    ZERO_RT_LANES(*this, cuEventRecord, signals[size_t(order.signal)].get(), active);
    givenAt[size_t(order.signal)] = meetings;
  }
  return !captured && ++ended % kCommandsOfMark == 0 ? mark() : Status();
}

Status Lanes::mark() {
  ZERO_RT_LANES(*this, cuEventRecord, marks[nextMark++ % kMarks].get(), active);
  return {};
}

Status Lanes::join() {
  active = lanes.front().stream;
  for (const Lane &lane : std::span(lanes).subspan(1)) {
    ZERO_RT_LANES(*this, cuEventRecord, lane.met.get(), lane.stream);
    ZERO_RT_LANES(*this, cuStreamWaitEvent, active, lane.met.get(), 0);
  }
  return {};
}

Status Lanes::fork() {
  active = lanes.front().stream;
  ++meetings;
  if (lanes.size() == 1)
    return {};
  ZERO_RT_LANES(*this, cuEventRecord, lanes.front().met.get(), active);
  for (const Lane &lane : std::span(lanes).subspan(1))
    ZERO_RT_LANES(*this, cuStreamWaitEvent, lane.stream, lanes.front().met.get(), 0);
  return {};
}

Status Lanes::makeNotes(size_t count) {
  ZERO_RT_TRY(device->makeCurrent());
  while (notes.size() < count)
    ZERO_RT_TRY(notes.emplace_back().create(device, kEventDefault));
  return {};
}

Status Lanes::note(size_t index) {
  ZERO_RT_LANES(*this, cuEventRecord, notes[index].get(), active);
  return {};
}

Status Lanes::secondsBetween(size_t first, size_t second, double &seconds) const {
  constexpr double kMilliseconds = 1e-3;
  float milliseconds = 0;
  ZERO_RT_LANES(*this, cuEventElapsedTime, &milliseconds, notes[first].get(), notes[second].get());
  seconds = kMilliseconds * double(milliseconds);
  return {};
}

Status Lanes::meet() {
  ZERO_RT_TRY(join());
  return fork();
}

//===----------------------------------------------------------------------===//
// Graphs
//===----------------------------------------------------------------------===//

Status Lanes::beginGraph() {
  active = lanes.front().stream;
  captured = std::make_unique<GpuGraph>(device);
  ZERO_RT_LANES(*this, cuStreamBeginCapture, active, kCaptureThreadLocal);
  return fork();
}

Status Lanes::endGraph(std::unique_ptr<Graph> &graph) {
  ZERO_RT_TRY(join());
  ZERO_RT_TRY(captured->create(active));
  ++meetings;
  graph = std::move(captured);
  return {};
}

void Lanes::dropGraph() {
  if (!captured)
    return;
  GraphHandle graph = nullptr;
  (void)join();
  driver().cuStreamEndCapture(lanes.front().stream, &graph);
  if (graph)
    driver().cuGraphDestroy(graph);
  captured.reset();
  ++meetings;
}

Status Lanes::run(const GpuGraph &graph) {
  ZERO_RT_TRY(join());
  if (graph.first) {
    announce(*graph.first);
    announce(*graph.last);
  }
  ZERO_RT_LANES(*this, cuGraphLaunch, graph.get(), active);
  endOfGraph = nextMark % kMarks;
  ZERO_RT_TRY(mark());
  return fork();
}

//===----------------------------------------------------------------------===//
// Waiting
//===----------------------------------------------------------------------===//

void Lanes::announce(const std::string &name) {
  const std::string *&from = captured ? captured->first : first;
  from = from ? from : &name;
  (captured ? captured->last : last) = &name;
}

static bool isFault(Result result) {
  return result == kIllegalAddress || result == kLaunchTimeout ||
         (result >= kAssert && result <= kLaunchFailed);
}

Status Lanes::check(Result result, const char *call) const {
  Status status = driver().check(result, call);
  if (!isFault(result) || !first)
    return status;
  const std::string kernels =
      first == last ? format("kernel '%s'", escape(*first).c_str())
                    : format("one of the kernels from '%s' to '%s'; with CUDA_LAUNCH_BLOCKING=1 "
                             "the driver waits for each",
                             escape(*first).c_str(), escape(*last).c_str());
  return fail(status.getCode(), "GPU %d: %s, by %s", device->ordinal(), status.getMessage().c_str(),
              kernels.c_str());
}

Status Lanes::causeOf(const Status &failure) {
  dropGraph(); // a stream that is captured cannot be asked
  const Result result = driver().cuStreamQuery(active);
  return isFault(result) ? check(result, "cuStreamQuery") : failure;
}

/// Which marks have been reached.
std::vector<bool> Lanes::progress() const {
  std::vector<bool> reached;
  for (const OwnedEvent &mark : marks)
    reached.push_back(driver().cuEventQuery(mark.get()) == kSuccess);
  return reached;
}

Status Lanes::askWatched() {
  Status status = watched ? watched() : Status();
  if (!status.ok())
    watched = {}; // what still runs comes to its end, and is waited for
  return status;
}

void Lanes::setStuck(bool value) {
  if (stuck != value)
    driver().countStuck(value ? 1 : -1);
  stuck = value;
}

bool Lanes::isInGraph() const {
  return endOfGraph && driver().cuEventQuery(marks[*endOfGraph].get()) == kNotReady;
}

/// What to do after a time without progress. While kernels wait for those of other ranks, the error
/// is that of the rank that does not come: it has half a timeout more to be reported by itself.
Status Lanes::giveUp(bool &waited) {
  const std::string reason = waitsFor ? waitsFor() : "";
  ZERO_RT_TRY(askWatched()); // now: kernels that no longer wait may have been aborted
  if (!reason.empty() && !std::exchange(waited, true))
    return {};
  setStuck(true);
  const char *where = "";
  if (!reason.empty())
    where = ": it waits for other ranks in ";
  else if (waitsFor && isInGraph())
    where = ", in a graph: with --gpu-graphs=off an error tells whether it waits for other ranks";
  return fail(ZERO_RT_TIMEOUT, "GPU %d has finished no work within %g s%s%s", device->ordinal(),
              timeoutSeconds, where, reason.c_str());
}

template <typename Query>
Status Lanes::poll(const char *call, Query query) {
  using Clock = std::chrono::steady_clock;
  const auto begin = Clock::now();
  const auto patience =
      std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(timeoutSeconds));
  auto deadline = begin + patience, look = begin + kWatch;
  std::vector<bool> before;
  bool waited = false;
  for (;;) {
    const Result result = query();
    if (result != kNotReady)
      return check(result, call);
    const auto now = Clock::now();
    if (now > deadline) {
      std::vector<bool> reached = progress();
      const bool works = reached != before;
      if (!works)
        ZERO_RT_TRY(giveUp(waited));
      before = std::move(reached);
      deadline = now + (works ? patience : patience / 2);
    }
    if (now > look) {
      if (before.empty())
        before = progress();
      ZERO_RT_TRY(askWatched());
      look = now + kWatch;
    }
    // Most waits are short; long ones leave the core to others.
    if (now - begin < kWatch)
      std::this_thread::yield();
    else
      std::this_thread::sleep_for(std::chrono::microseconds(50));
  }
}

Status Lanes::finish() {
  ZERO_RT_TRY(device->makeCurrent()); // also at the end, by another thread
  for (const Lane &lane : lanes)
    ZERO_RT_TRY(poll("cuStreamQuery", [&] { return driver().cuStreamQuery(lane.stream); }));
  first = last = nullptr;
  setStuck(false);
  return {};
}

Status Lanes::await(Event event) {
  return poll("cuEventQuery", [&] { return driver().cuEventQuery(event); });
}

Status Lanes::isDone(uint32_t signal, bool &done) const {
  ZERO_RT_TRY(device->makeCurrent());
  const Result result = driver().cuEventQuery(signals[signal].get());
  done = result == kSuccess;
  return result == kNotReady ? Status() : driver().check(result, "cuEventQuery");
}

Status Lanes::look(bool &works) {
  ZERO_RT_TRY(askWatched());
  for (const Lane &lane : lanes)
    if (const Result result = driver().cuStreamQuery(lane.stream); result != kNotReady)
      ZERO_RT_TRY(check(result, "cuStreamQuery"));
  std::vector<bool> reached = progress();
  works = reached != seen;
  seen = std::move(reached);
  return {};
}

} // namespace zero::rt::cuda
