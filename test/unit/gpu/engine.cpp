//===- engine.cpp - simulated streams, events and memory ------------------===//

#include "engine.h"

#include <cstdlib>
#include <cstring>

namespace recording {

/// No host address has this bit, so dereferencing a device address on the host faults.
static constexpr uint64_t kDeviceBit = uint64_t(1) << 62;

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
  void *memory = std::aligned_alloc(256, (bytes + 255) / 256 * 256);
  std::memset(memory, 0xa5, bytes);
  const auto place = reinterpret_cast<uint64_t>(memory) | (onDevice ? kDeviceBit : 0);
  (onDevice ? deviceMemory : hostMemory)[place] = bytes;
  ++(onDevice ? counted.deviceAllocations : counted.hostAllocations);
  (onDevice ? counted.deviceBytes : counted.hostBytes) += bytes;
  ++counted.alive;
  return place;
}

Result Engine::release(bool onDevice, uint64_t place, const char *call) {
  auto &memory = onDevice ? deviceMemory : hostMemory;
  auto it = memory.find(place);
  if (it == memory.end()) {
    problem(std::string(call) + " of memory that is not there");
    return kInvalidValue;
  }
  if (isTouched(place, place + it->second))
    problem(std::string(call) + " of memory in use");
  std::free(reinterpret_cast<void *>(place & ~kDeviceBit));
  memory.erase(it);
  --counted.alive;
  return kSuccess;
}

static bool contains(const std::map<uint64_t, uint64_t> &memory, uint64_t place, uint64_t bytes) {
  auto it = memory.upper_bound(place);
  if (it == memory.begin())
    return false;
  --it;
  return place + bytes <= it->first + it->second;
}

char *Engine::translate(uint64_t place, uint64_t bytes, const char *who) {
  if (!contains(deviceMemory, place, bytes)) {
    problem(std::string(who) + ": an address outside of device memory");
    return nullptr;
  }
  return reinterpret_cast<char *>(place & ~kDeviceBit);
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
  --counted.alive;
  return kSuccess;
}

Result Engine::add(Stream stream, Work work) {
  if (!isStream(stream)) {
    problem("work for a stream that is not there");
    return kInvalidValue;
  }
  streams[stream].push_back(std::move(work));
  // Runs work sometimes early and sometimes late.
  for (uint64_t some = random() % 4 == 0 ? random() % 6 : 0; some > 0; --some)
    runOne();
  return kSuccess;
}

bool Engine::runOne() {
  std::vector<std::deque<Work> *> able;
  for (auto &[stream, work] : streams)
    if (!work.empty() && (!work.front().ready || work.front().ready()))
      able.push_back(&work);
  if (able.empty())
    return false;
  std::deque<Work> &chosen = *able[random() % able.size()];
  Work work = std::move(chosen.front());
  if (work.run)
    work.run();
  chosen.pop_front();
  return true;
}

void Engine::progress() {
  for (uint64_t some = 1 + random() % 8; some > 0 && runOne(); --some)
    ;
}

bool Engine::isTouched(uint64_t first, uint64_t last) const {
  for (const auto &[stream, queue] : streams)
    for (const Work &work : queue)
      for (uint64_t place : work.places)
        if (place >= first && place < last)
          return true;
  return false;
}

//===----------------------------------------------------------------------===//
// For tests
//===----------------------------------------------------------------------===//

void reset(const Settings &settings) {
  Engine &engine = Engine::get();
  std::lock_guard<std::recursive_mutex> lock(engine.mutex);
  engine.settings = settings;
  engine.random.seed(settings.seed);
  engine.counted = {};
  engine.problems.clear();
  engine.kernels.clear();
  engine.stalled.clear();
  engine.contexts.assign(size_t(settings.devices), {});
  for (int i = 0; i < settings.devices; ++i)
    engine.contexts[size_t(i)].device = i;
}

void addKernel(const std::string &symbol, int pointers, int scalars, Kernel kernel) {
  Engine &engine = Engine::get();
  std::lock_guard<std::recursive_mutex> lock(engine.mutex);
  engine.kernels[symbol] = {pointers, scalars, std::move(kernel)};
}

void stall(const std::string &symbol) {
  Engine &engine = Engine::get();
  std::lock_guard<std::recursive_mutex> lock(engine.mutex);
  engine.stalled.insert(symbol);
}

void release() {
  Engine &engine = Engine::get();
  std::lock_guard<std::recursive_mutex> lock(engine.mutex);
  engine.stalled.clear();
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
