//===- recording_driver.cpp - the symbols of libcuda ----------------------===//

#include "engine.h"

#include <cstring>

using namespace recording;

#define EXPORT extern "C" __attribute__((visibility("default"))) Result
#define LOCKED                                                                                     \
  Engine &engine = Engine::get();                                                                  \
  std::lock_guard<std::recursive_mutex> lock(engine.mutex)
/// Nearly every function requires a context on the calling thread.
#define IN_CONTEXT                                                                                 \
  LOCKED;                                                                                          \
  if (!current() || current()->retained == 0) {                                                    \
    engine.problem(std::string(__func__) + " without a context");                                  \
    return 201;                                                                                    \
  }

//===----------------------------------------------------------------------===//
// Devices and contexts
//===----------------------------------------------------------------------===//

EXPORT cuInit(unsigned) {
  LOCKED;
  return engine.settings.devices > 0 ? kSuccess : kNoDevice;
}
EXPORT cuDriverGetVersion(int *version) {
  *version = 13000;
  return kSuccess;
}
EXPORT cuGetErrorName(Result error, const char **text) {
  *text = error == kOutOfMemory ? "CUDA_ERROR_OUT_OF_MEMORY" : "CUDA_ERROR_RECORDED";
  return kSuccess;
}
EXPORT cuGetErrorString(Result error, const char **text) {
  *text = error == kOutOfMemory ? "out of memory" : "as the recording driver says";
  return kSuccess;
}
EXPORT cuDeviceGetCount(int *count) {
  LOCKED;
  *count = engine.settings.devices;
  return kSuccess;
}
EXPORT cuDeviceGet(DeviceNumber *device, int ordinal) {
  *device = ordinal;
  return kSuccess;
}
EXPORT cuDeviceGetName(char *name, int bytes, DeviceNumber) {
  std::strncpy(name, "recording", size_t(bytes));
  return kSuccess;
}
EXPORT cuDeviceGetAttribute(int *value, int attribute, DeviceNumber) {
  LOCKED;
  const int capability = engine.settings.capability;
  *value = attribute == kComputeCapabilityMajor ? capability / 10 : capability % 10;
  return kSuccess;
}
EXPORT cuDevicePrimaryCtxRetain(Context *context, DeviceNumber device) {
  LOCKED;
  *context = &engine.contexts[size_t(device)];
  ++(*context)->retained;
  ++engine.counted.alive;
  return kSuccess;
}
EXPORT cuDevicePrimaryCtxRelease_v2(DeviceNumber device) {
  LOCKED;
  --engine.contexts[size_t(device)].retained;
  --engine.counted.alive;
  return kSuccess;
}
EXPORT cuCtxSetCurrent(Context context) {
  current() = context;
  return kSuccess;
}

//===----------------------------------------------------------------------===//
// Modules and launches
//===----------------------------------------------------------------------===//

/// Parses ".entry NAME(.param ..., .param ...)" of a text.
static std::map<std::string, int> entriesOf(const std::string &text) {
  std::map<std::string, int> entries;
  for (size_t at = 0; (at = text.find(".entry ", at)) != std::string::npos;) {
    const size_t begin = at + 7, open = text.find('(', begin), close = text.find(')', open);
    int parameters = 0;
    for (size_t next = open; (next = text.find(".param", next)) < close; ++next)
      ++parameters;
    std::string name = text.substr(begin, open - begin);
    name.erase(name.find_last_not_of(" \n\t") + 1);
    entries[name] = parameters;
    at = close;
  }
  return entries;
}

EXPORT cuModuleLoadDataEx(ModuleHandle *module, const void *image, unsigned, int *, void **values) {
  IN_CONTEXT;
  auto entries = entriesOf(static_cast<const char *>(image));
  if (entries.empty()) {
    std::strcpy(static_cast<char *>(values[0]), "no entry");
    return 218;
  }
  *module = new ModuleTag{entries, {}};
  engine.modules.insert(*module);
  ++engine.counted.made;
  ++engine.counted.alive;
  return kSuccess;
}
EXPORT cuModuleUnload(ModuleHandle module) {
  IN_CONTEXT;
  if (engine.modules.erase(module) == 0) {
    engine.problem("cuModuleUnload of a module that is not there");
    return kInvalidValue;
  }
  if (engine.isTouched(reinterpret_cast<uint64_t>(module), reinterpret_cast<uint64_t>(module) + 1))
    engine.problem("cuModuleUnload of a module in use");
  delete module;
  --engine.counted.alive;
  return kSuccess;
}
EXPORT cuModuleGetFunction(Function *function, ModuleHandle module, const char *name) {
  IN_CONTEXT;
  auto entry = module->entries.find(name);
  auto kernel = engine.kernels.find(name);
  if (entry == module->entries.end())
    return kNotFound;
  if (kernel == engine.kernels.end()) {
    engine.problem(std::string("nobody knows what '") + name + "' does");
    return kNotFound;
  }
  if (entry->second != std::get<0>(kernel->second) + std::get<1>(kernel->second))
    engine.problem(std::string("'") + name + "' declares another number of parameters");
  *function =
      &module->functions.try_emplace(name, FunctionHandle{name, reinterpret_cast<uint64_t>(module)})
           .first->second;
  return kSuccess;
}
EXPORT cuFuncSetAttribute(Function, int, int) { return kSuccess; }

EXPORT cuLaunchKernel(Function function, unsigned gridX, unsigned gridY, unsigned gridZ,
                      unsigned blockX, unsigned blockY, unsigned blockZ, unsigned, Stream stream,
                      void **arguments, void **extra) {
  IN_CONTEXT;
  if (gridX == 0 || blockX == 0 || blockX > 1024 || gridY * gridZ * blockY * blockZ != 1 || extra)
    engine.problem("cuLaunchKernel of '" + function->symbol + "' with a shape that is refused");
  const auto &[pointers, scalars, kernel] = engine.kernels.at(function->symbol);
  Work work;
  work.places = {function->module};
  std::vector<void *> addresses;
  for (int i = 0; i < pointers; ++i) {
    const uint64_t place = *static_cast<uint64_t *>(arguments[i]);
    work.places.push_back(place);
    addresses.push_back(engine.translate(place, 1, function->symbol.c_str()));
  }
  std::vector<int64_t> numbers;
  for (int i = 0; i < scalars; ++i)
    numbers.push_back(*static_cast<int64_t *>(arguments[pointers + i]));
  if (engine.stalled.count(function->symbol))
    work.ready = [symbol = function->symbol] { return !Engine::get().stalled.count(symbol); };
  work.run = [run = kernel, addresses, numbers, threads = uint64_t(gridX) * blockX] {
    run(addresses, numbers, threads);
  };
  ++engine.counted.launches;
  return engine.add(stream, std::move(work));
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

EXPORT cuMemGetInfo_v2(size_t *free, size_t *total) {
  *free = *total = size_t(1) << 30;
  return kSuccess;
}
EXPORT cuMemAlloc_v2(Address *address, size_t bytes) {
  IN_CONTEXT;
  if (bytes > size_t(1) << 30)
    return kOutOfMemory;
  *address = engine.allocate(true, bytes);
  return kSuccess;
}
EXPORT cuMemFree_v2(Address address) {
  IN_CONTEXT;
  return engine.release(true, address, "cuMemFree");
}
EXPORT cuMemHostAlloc(void **memory, size_t bytes, unsigned) {
  IN_CONTEXT;
  *memory = reinterpret_cast<void *>(engine.allocate(false, bytes));
  return kSuccess;
}
EXPORT cuMemFreeHost(void *memory) {
  IN_CONTEXT;
  return engine.release(false, reinterpret_cast<uint64_t>(memory), "cuMemFreeHost");
}

static Result copy(Engine &engine, char *destination, const char *source, size_t bytes,
                   std::vector<uint64_t> places, Stream stream) {
  ++engine.counted.copies;
  if (!destination || !source)
    return kInvalidValue;
  return engine.add(
      stream, {nullptr, [=] { std::memmove(destination, source, bytes); }, std::move(places)});
}

EXPORT cuMemcpyHtoDAsync_v2(Address destination, const void *source, size_t bytes, Stream stream) {
  IN_CONTEXT;
  engine.checkPinned(source, bytes, __func__);
  return copy(engine, engine.translate(destination, bytes, __func__),
              static_cast<const char *>(source), bytes,
              {destination, reinterpret_cast<uint64_t>(source)}, stream);
}
EXPORT cuMemcpyDtoHAsync_v2(void *destination, Address source, size_t bytes, Stream stream) {
  IN_CONTEXT;
  engine.checkPinned(destination, bytes, __func__);
  std::memset(destination, 0xcd, bytes); // the contents are undefined until the copy is complete
  return copy(engine, static_cast<char *>(destination), engine.translate(source, bytes, __func__),
              bytes, {source, reinterpret_cast<uint64_t>(destination)}, stream);
}
EXPORT cuMemcpyDtoDAsync_v2(Address destination, Address source, size_t bytes, Stream stream) {
  IN_CONTEXT;
  return copy(engine, engine.translate(destination, bytes, __func__),
              engine.translate(source, bytes, __func__), bytes, {destination, source}, stream);
}
EXPORT cuMemsetD8Async(Address destination, unsigned char value, size_t bytes, Stream stream) {
  IN_CONTEXT;
  char *memory = engine.translate(destination, bytes, __func__);
  if (!memory)
    return kInvalidValue;
  return engine.add(stream, {nullptr, [=] { std::memset(memory, value, bytes); }, {destination}});
}

//===----------------------------------------------------------------------===//
// Streams and events
//===----------------------------------------------------------------------===//

EXPORT cuStreamCreate(Stream *stream, unsigned) {
  IN_CONTEXT;
  *stream = engine.makeStream();
  return kSuccess;
}
EXPORT cuStreamDestroy_v2(Stream stream) {
  IN_CONTEXT;
  return engine.destroy(stream);
}
EXPORT cuStreamQuery(Stream stream) {
  IN_CONTEXT;
  ++engine.counted.queries;
  if (!engine.isStream(stream))
    return kInvalidValue;
  engine.progress();
  return engine.isDone(stream) ? kSuccess : kNotReady;
}
EXPORT cuStreamWaitEvent(Stream stream, Event event, unsigned) {
  IN_CONTEXT;
  if (!engine.events.count(event)) {
    engine.problem("cuStreamWaitEvent for an event that is not there");
    return kInvalidValue;
  }
  ++engine.counted.waits;
  // Waits for what was recorded so far; later records do not count.
  return engine.add(stream, {[event, wanted = event->recorded] { return event->done >= wanted; },
                             nullptr,
                             {reinterpret_cast<uint64_t>(event)}});
}
EXPORT cuEventCreate(Event *event, unsigned) {
  IN_CONTEXT;
  *event = new EventHandle;
  engine.events.insert(*event);
  ++engine.counted.made;
  ++engine.counted.alive;
  return kSuccess;
}
EXPORT cuEventDestroy_v2(Event event) {
  IN_CONTEXT;
  if (engine.events.erase(event) == 0) {
    engine.problem("cuEventDestroy of an event that is not there");
    return kInvalidValue;
  }
  if (engine.isTouched(reinterpret_cast<uint64_t>(event), reinterpret_cast<uint64_t>(event) + 1))
    engine.problem("cuEventDestroy of an event in use");
  delete event;
  --engine.counted.alive;
  return kSuccess;
}
EXPORT cuEventRecord(Event event, Stream stream) {
  IN_CONTEXT;
  if (!engine.events.count(event)) {
    engine.problem("cuEventRecord of an event that is not there");
    return kInvalidValue;
  }
  if (event->asked && event->done < event->recorded)
    engine.problem("cuEventRecord of an event that the host waits for, before it was over");
  ++engine.counted.records;
  const uint64_t number = ++event->recorded;
  return engine.add(stream, {nullptr,
                             [event, number] { event->done = std::max(event->done, number); },
                             {reinterpret_cast<uint64_t>(event)}});
}
EXPORT cuEventQuery(Event event) {
  IN_CONTEXT;
  ++engine.counted.queries;
  event->asked = true;
  engine.progress();
  return event->done >= event->recorded ? kSuccess : kNotReady;
}
