//===- engine.cpp - simulated streams, events and memory ------------------===//

#include "engine.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <utility>

namespace recording {

static uint64_t fromEnvironment(const char *name, uint64_t otherwise) {
  const char *text = std::getenv(name);
  return text ? std::strtoull(text, nullptr, 10) : otherwise;
}

Engine::Engine() {
  settings.seed = fromEnvironment("ZERO_RECORDING_SEED", settings.seed);
  settings.devices = int(fromEnvironment("ZERO_RECORDING_DEVICES", uint64_t(settings.devices)));
  settings.fastest = int(fromEnvironment("ZERO_RECORDING_FASTEST", uint64_t(settings.fastest)));
  restart();
}

void Engine::restart() {
  random.seed(settings.seed);
  contexts.assign(size_t(settings.devices), {});
  for (int i = 0; i < settings.devices; ++i)
    contexts[size_t(i)].device = i;
}

Engine::~Engine() {
  if (isTest)
    return;
  if (faults.empty() && counted.alive > 0)
    problem(std::to_string(counted.alive) + " things of the driver's were not freed");
  for (const std::string &what : problems)
    std::fprintf(stderr, "recording driver: %s\n", what.c_str());
  std::fflush(nullptr);
  if (!problems.empty())
    std::_Exit(70);
}

Engine &Engine::get() {
  static Engine engine;
  return engine;
}

Context &current() {
  static thread_local Context context = nullptr;
  return context;
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

uint64_t Engine::allocate(bool onDevice, size_t bytes) {
  ++(onDevice ? counted.deviceAllocations : counted.hostAllocations);
  (onDevice ? counted.deviceBytes : counted.hostBytes) += bytes;
  ++counted.alive;
  if (onDevice) {
    deviceBytes += bytes;
    counted.mostDeviceBytes = std::max(counted.mostDeviceBytes, deviceBytes);
    return memory.allocate(bytes).address;
  }
  void *pinned = std::aligned_alloc(256, (bytes + 255) / 256 * 256);
  std::memset(pinned, 0xa5, bytes);
  const auto place = reinterpret_cast<uint64_t>(pinned);
  hostMemory[place] = bytes;
  return place;
}

Result Engine::release(bool onDevice, uint64_t place, const char *call) {
  const ptx::Region *region = onDevice ? memory.find(place, 0) : nullptr;
  auto pinned = hostMemory.find(place);
  if (onDevice ? !region || region->address != place : pinned == hostMemory.end()) {
    problem(std::string(call) + " of memory that is not there");
    return kInvalidValue;
  }
  if (isTouched(place, place + (onDevice ? region->bytes : pinned->second)))
    problem(std::string(call) + " of memory in use");
  --counted.alive;
  if (onDevice) {
    deviceBytes -= region->bytes;
    memory.release(place);
  } else {
    std::free(reinterpret_cast<void *>(place));
    hostMemory.erase(pinned);
  }
  return kSuccess;
}

char *Engine::translate(uint64_t place, uint64_t bytes, const char *who) {
  ptx::Region *region = memory.find(place, bytes);
  if (!region) {
    problem(std::string(who) + ": " + memory.describe(place));
    return nullptr;
  }
  return region->host.get() + (place - region->address);
}

void Engine::wrote(uint64_t place, std::optional<uint64_t> bytes) {
  if (ptx::Region *region = memory.find(place, bytes.value_or(0))) {
    const uint64_t offset = place - region->address;
    region->shadow.fill(offset, bytes.value_or(region->bytes - offset));
  }
}

void Engine::checkWritten(uint64_t place, uint64_t bytes, const char *who) {
  ptx::Region *region = memory.find(place, bytes);
  if (region && !region->shadow.isWritten(place - region->address, bytes))
    problem(std::string(who) + " reads what nobody has written: " + memory.describe(place));
}

void Engine::launch(const ptx::Entry &entry, ptx::Shape shape,
                    const std::vector<uint8_t> &arguments, uint64_t sharedBytes) {
  try {
    ptx::run(entry, shape, arguments, sharedBytes, memory, random);
  } catch (const ptx::Fault &caught) {
    problem(caught.what());
    fail(caught.what());
  }
}

void Engine::fail(const std::string &what) { faults.try_emplace(active, what); }

std::string Engine::fault() const {
  auto found = current() ? faults.find(current()->device) : faults.end();
  return found == faults.end() ? "" : found->second;
}

static bool contains(const std::map<uint64_t, uint64_t> &memory, uint64_t place, uint64_t bytes) {
  auto it = memory.upper_bound(place);
  if (it == memory.begin())
    return false;
  --it;
  return place + bytes <= it->first + it->second;
}

void Engine::checkPinned(const void *place, uint64_t bytes, const char *who) {
  if (!contains(hostMemory, reinterpret_cast<uint64_t>(place), bytes))
    problem(std::string(who) + ": host memory that is not pinned");
}

//===----------------------------------------------------------------------===//
// Streams
//===----------------------------------------------------------------------===//

Stream Engine::makeStream() {
  auto stream = reinterpret_cast<Stream>(nextStream++);
  streams[stream];
  deviceOf[stream] = current()->device;
  ++counted.made;
  ++counted.alive;
  return stream;
}

Result Engine::destroy(Stream stream) {
  if (!isStream(stream)) {
    problem("cuStreamDestroy of a stream that is not there");
    return kInvalidValue;
  }
  if (!isDone(stream))
    problem("cuStreamDestroy of a stream with work to do");
  streams.erase(stream);
  captures.erase(stream);
  --counted.alive;
  return kSuccess;
}

Result Engine::add(Stream stream, Work work) {
  if (!isStream(stream)) {
    problem("work for a stream that is not there");
    return kInvalidValue;
  }
  if (faults.count(deviceOf[stream]))
    return kLaunchFailed;
  streams[stream].push_back(std::move(work));
  // Runs work sometimes early and sometimes late.
  for (uint64_t some = random() % 4 == 0 ? random() % 6 : 0; some > 0; --some)
    runOne();
  return kSuccess;
}

Result Engine::start(Stream stream, Work work) {
  if (std::shared_ptr<Capture> capture = captureOf(stream)) {
    if (capture->error != kSuccess)
      return kCaptureInvalidated;
    std::set<size_t> &tail = capture->tails[stream];
    capture->nodes.push_back({std::move(work), std::exchange(tail, {capture->nodes.size()})});
    return kSuccess;
  }
  ++counted.starts;
  spoil(work);
  return add(stream, work.renew ? work.renew() : std::move(work));
}

void Engine::spoil(const Work &work) {
  if (!work.spoils)
    return;
  auto [place, bytes] = *work.spoils;
  const bool isRead = isSource(reinterpret_cast<uint64_t>(place), bytes) ||
                      anyPending([](const Work &each) { return each.isCall; });
  if (!isRead)
    std::memset(place, 0xcd, bytes);
}

bool GraphRun::isOpen(size_t index) const {
  const Node &node = nodes[index];
  return !done[index] && std::ranges::all_of(node.after, [&](size_t each) { return done[each]; }) &&
         (!node.work.ready || node.work.ready());
}

/// Runs the first work of a stream; of a graph, a node of it.
void Engine::runFirst(std::deque<Work> &queue, size_t node) {
  Work &work = queue.front();
  GraphRun *graph = work.graph.get();
  const auto &run = graph ? graph->nodes[node].work.run : work.run;
  if (run)
    run();
  if (graph) {
    graph->done[node] = true;
    --graph->left;
  }
  if (!graph || graph->left == 0)
    queue.pop_front();
}

bool Engine::runOne() {
  struct Choice {
    Stream stream;
    size_t node;
  };
  std::vector<Choice> able;
  for (auto &[stream, work] : streams) {
    if (work.empty())
      continue;
    if (const GraphRun *graph = work.front().graph.get()) {
      for (size_t node = 0; node < graph->nodes.size(); ++node)
        if (graph->isOpen(node))
          able.push_back({stream, node});
    } else if (!work.front().ready || work.front().ready()) {
      able.push_back({stream, 0});
    }
  }
  if (able.empty())
    return false;
  auto [stream, node] = able[random() % able.size()];
  active = deviceOf[stream];
  runFirst(streams[stream], node);
  if (faults.count(active)) // what follows on this device is lost
    for (auto &[other, left] : streams)
      if (deviceOf[other] == active)
        left.clear();
  return true;
}

void Engine::progress() {
  for (uint64_t some = 1 + random() % 8; some > 0 && runOne(); --some)
    ;
}

bool Engine::isSource(uint64_t place, uint64_t bytes) const {
  return anyPending([=](const Work &work) {
    return work.source < place + bytes && place < work.source + work.bytes;
  });
}

bool Engine::isTouched(uint64_t first, uint64_t last) const {
  return anyPending([=](const Work &work) {
    return std::ranges::any_of(work.places,
                               [=](uint64_t place) { return place >= first && place < last; });
  });
}

//===----------------------------------------------------------------------===//
// For tests
//===----------------------------------------------------------------------===//

void reset(const Settings &settings) {
  Engine &engine = Engine::get();
  std::lock_guard<std::recursive_mutex> lock(engine.mutex);
  engine.isTest = true;
  engine.settings = settings;
  engine.counted = {};
  ++engine.resets;
  engine.problems.clear();
  engine.faults.clear();
  engine.kernels.clear();
  engine.stalled.clear();
  engine.failing.clear();
  engine.streams.clear();
  engine.captures.clear();
  for (GraphExec graph : std::exchange(engine.graphs, {}))
    delete graph;
  engine.restart();
}

void addKernel(const std::string &symbol, int pointers, int scalars, Kernel kernel) {
  Engine &engine = Engine::get();
  std::lock_guard<std::recursive_mutex> lock(engine.mutex);
  engine.kernels[symbol] = {pointers, scalars, std::move(kernel)};
}

void stall(const std::string &symbol, int device) {
  Engine &engine = Engine::get();
  std::lock_guard<std::recursive_mutex> lock(engine.mutex);
  engine.stalled.insert({symbol, device});
}

void fail(const std::string &symbol, int device) {
  Engine &engine = Engine::get();
  std::lock_guard<std::recursive_mutex> lock(engine.mutex);
  engine.failing.insert({symbol, device});
}

void release() {
  Engine &engine = Engine::get();
  std::lock_guard<std::recursive_mutex> lock(engine.mutex);
  engine.stalled.clear();
}

std::vector<std::string> takeProblems() {
  Engine &engine = Engine::get();
  std::lock_guard<std::recursive_mutex> lock(engine.mutex);
  return std::exchange(engine.problems, {});
}

std::vector<std::string> problems() {
  Engine &engine = Engine::get();
  std::lock_guard<std::recursive_mutex> lock(engine.mutex);
  return engine.problems;
}

Counts counts() {
  Engine &engine = Engine::get();
  std::lock_guard<std::recursive_mutex> lock(engine.mutex);
  return engine.counted;
}

} // namespace recording
