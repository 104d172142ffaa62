//===- recording_driver.cpp - the symbols of libcuda ----------------------===//

#include "calls.h"

#include <cstring>

using namespace recording;

static constexpr Result kInvalidPtx = 218;

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
  *text = error == kOutOfMemory    ? "CUDA_ERROR_OUT_OF_MEMORY"
          : error == kLaunchFailed ? "CUDA_ERROR_LAUNCH_FAILED"
          : error == kInvalidPtx   ? "CUDA_ERROR_INVALID_PTX"
                                   : "CUDA_ERROR_RECORDED";
  return kSuccess;
}
EXPORT cuGetErrorString(Result error, const char **text) {
  LOCKED;
  static thread_local std::string fault;
  fault = engine.fault();
  *text = error == kOutOfMemory    ? "out of memory"
          : error == kLaunchFailed ? fault.c_str()
                                   : "as the recording driver says";
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
  Engine::get().awaitKernels("cuDevicePrimaryCtxRelease");
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

/// Makes memory for a variable of a module.
static uint64_t makeVariable(const ptx::Variable &variable) {
  ptx::Region &region = Engine::get().memory.allocate(variable.bytes);
  std::memset(region.host.get(), 0, variable.bytes);
  std::memcpy(region.host.get(), variable.initial.data(), variable.initial.size());
  region.shadow.fill(0, variable.bytes);
  return region.address;
}

static void release(ModuleHandle module) {
  for (uint64_t address : module->variables)
    Engine::get().memory.release(address);
  delete module;
}

/// A cubin is an ELF file, which begins with this number.
static bool isMachineCode(const void *image) {
  uint32_t magic;
  std::memcpy(&magic, image, sizeof(magic));
  return magic == 0x464c457f;
}

/// The buffer and its size are the two options that the runtime passes.
EXPORT cuModuleLoadDataEx(ModuleHandle *module, const void *image, unsigned, int *, void **values) {
  IN_CONTEXT;
  NOT_CAPTURING;
  auto made = std::make_unique<ModuleTag>();
  auto makeOne = [&](const ptx::Variable &variable) {
    return made->variables.emplace_back(makeVariable(variable));
  };
  try {
    if (isMachineCode(image))
      throw ptx::TextError(1, "machine code: compile with CUDA_HOME=/nonexistent for PTX");
    made->program = ptx::load(static_cast<const char *>(image), makeOne);
  } catch (const ptx::TextError &error) {
    std::snprintf(static_cast<char *>(values[0]), reinterpret_cast<size_t>(values[1]), "%s",
                  error.what());
    release(made.release());
    return kInvalidPtx;
  }
  *module = engine.own(engine.modules, made.release());
  ++engine.counted.made;
  return kSuccess;
}
EXPORT cuModuleUnload(ModuleHandle module) {
  Engine::get().awaitKernels("cuModuleUnload");
  IN_CONTEXT;
  NOT_CAPTURING;
  if (!engine.disown(engine.modules, module, __func__))
    return kInvalidValue;
  release(module);
  return kSuccess;
}
EXPORT cuModuleGetFunction(Function *function, ModuleHandle module, const char *name) {
  IN_CONTEXT;
  auto entry = module->program.entries.find(name);
  if (entry == module->program.entries.end())
    return kNotFound;
  auto kernel = engine.kernels.find(name);
  if (kernel != engine.kernels.end() &&
      entry->second.parameters.size() !=
          size_t(std::get<0>(kernel->second) + std::get<1>(kernel->second)))
    engine.problem(std::string("'") + name + "' declares another number of parameters");
  *function =
      &module->functions
           .try_emplace(name, FunctionHandle{&entry->second, reinterpret_cast<uint64_t>(module)})
           .first->second;
  return kSuccess;
}
EXPORT cuFuncSetAttribute(Function function, int attribute, int value) {
  LOCKED;
  const uint64_t bytes = function->entry->sharedBytes + uint64_t(value);
  if (attribute != kMaxDynamicSharedBytes || value < 0 ||
      bytes > mostSharedBytesOf(engine.settings.capability))
    return kInvalidValue;
  function->mostSharedBytes = bytes;
  return kSuccess;
}

/// A launch of a function of the test.
static void runOnHost(Engine &engine, const std::string &symbol, void **arguments, uint64_t threads,
                      Work &work) {
  const auto &[pointers, scalars, kernel] = engine.kernels.at(symbol);
  std::vector<uint64_t> places;
  std::vector<void *> addresses;
  for (int i = 0; i < pointers; ++i) {
    places.push_back(*static_cast<uint64_t *>(arguments[i]));
    addresses.push_back(engine.translate(places.back(), 1, symbol.c_str()));
  }
  std::vector<int64_t> numbers;
  for (int i = 0; i < scalars; ++i)
    numbers.push_back(*static_cast<int64_t *>(arguments[pointers + i]));
  work.places.insert(work.places.end(), places.begin(), places.end());
  work.run = [&engine, run = kernel, places, addresses, numbers, threads] {
    run(addresses, numbers, threads);
    for (uint64_t place : places)
      engine.wrote(place);
  };
}

/// A launch of the code of a module.
static void interpret(Engine &engine, const ptx::Entry &entry, ptx::Shape shape, void **arguments,
                      uint64_t sharedBytes, Work &work) {
  std::vector<uint8_t> bytes;
  for (size_t i = 0; i < entry.parameters.size(); ++i) {
    const ptx::Parameter &parameter = entry.parameters[i];
    bytes.resize(parameter.offset + parameter.bytes);
    std::memcpy(bytes.data() + parameter.offset, arguments[i], parameter.bytes);
    // Addresses may be members of a struct.
    for (uint64_t at = 0, place; at + sizeof(place) <= parameter.bytes; at += sizeof(place)) {
      std::memcpy(&place, bytes.data() + parameter.offset + at, sizeof(place));
      if (engine.memory.find(place, 0))
        work.places.push_back(place);
    }
  }
  work.run = [&engine, &entry, shape, bytes, sharedBytes] {
    engine.launch(entry, shape, bytes, sharedBytes);
  };
}

/// Whether a test has named `symbol` on this device, or on all.
static bool contains(const std::set<std::pair<std::string, int>> &kernels,
                     const std::string &symbol, int device) {
  return kernels.count({symbol, device}) || kernels.count({symbol, -1});
}

/// A launch of `symbol`, which may be stalled or fail by now.
static Work asTestsWant(Work work, const std::string &symbol, int device) {
  Engine &engine = Engine::get();
  if (contains(engine.failing, symbol, device))
    work.run = [&engine, symbol] { engine.fail("kernel '" + symbol + "' is to fail"); };
  if (contains(engine.stalled, symbol, device)) {
    work.ready = [&engine, symbol, device] { return !contains(engine.stalled, symbol, device); };
    work.kernel =
        std::make_shared<const LongKernel>(LongKernel{nullptr, "kernel '" + symbol + "'"});
  }
  return work;
}

EXPORT cuLaunchKernel(Function function, unsigned gridX, unsigned gridY, unsigned gridZ,
                      unsigned blockX, unsigned blockY, unsigned blockZ, unsigned sharedBytes,
                      Stream stream, void **arguments, void **extra) {
  IN_CONTEXT;
  const std::string &symbol = function->entry->name;
  if (gridX == 0 || blockX == 0 || blockX > 1024 || gridY * gridZ * blockY * blockZ != 1 || extra ||
      function->entry->sharedBytes + sharedBytes > function->mostSharedBytes)
    engine.problem("cuLaunchKernel of '" + symbol + "' with a shape that is refused");
  Work work;
  work.places = {function->module};
  if (engine.kernels.count(symbol))
    runOnHost(engine, symbol, arguments, uint64_t(gridX) * blockX, work);
  else
    interpret(engine, *function->entry, {gridX, blockX}, arguments, sharedBytes, work);
  const int device = current()->device;
  work.renew = [work, symbol, device] { return asTestsWant(work, symbol, device); };
  ++engine.counted.launches;
  return engine.start(stream, std::move(work));
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
  NOT_CAPTURING;
  if (bytes > size_t(1) << 30)
    return kOutOfMemory;
  *address = engine.allocate(true, bytes);
  return kSuccess;
}
EXPORT cuMemFree_v2(Address address) {
  Engine::get().awaitKernels("cuMemFree");
  IN_CONTEXT;
  NOT_CAPTURING;
  return engine.release(true, address, "cuMemFree");
}
EXPORT cuMemHostAlloc(void **memory, size_t bytes, unsigned) {
  IN_CONTEXT;
  NOT_CAPTURING;
  *memory = reinterpret_cast<void *>(engine.allocate(false, bytes));
  return kSuccess;
}
EXPORT cuMemFreeHost(void *memory) {
  Engine::get().awaitKernels("cuMemFreeHost");
  IN_CONTEXT;
  NOT_CAPTURING;
  return engine.release(false, reinterpret_cast<uint64_t>(memory), "cuMemFreeHost");
}

static Result copy(Engine &engine, char *destination, const char *source, size_t bytes,
                   std::array<uint64_t, 2> places, Stream stream, bool fromHost = false,
                   bool toHost = false) {
  ++engine.counted.copies;
  if (!destination || !source)
    return kInvalidValue;
  auto run = [=, &engine] {
    std::memmove(destination, source, bytes);
    engine.wrote(places[0], bytes);
  };
  Work work{nullptr, run, {places[0], places[1]}, places[1], fromHost ? bytes : 0};
  if (toHost)
    work.spoils = {destination, bytes};
  return engine.start(stream, std::move(work));
}

EXPORT cuMemcpyHtoDAsync_v2(Address destination, const void *source, size_t bytes, Stream stream) {
  IN_CONTEXT;
  engine.checkPinned(source, bytes, __func__);
  return copy(engine, engine.translate(destination, bytes, __func__),
              static_cast<const char *>(source), bytes,
              {destination, reinterpret_cast<uint64_t>(source)}, stream, /*fromHost=*/true);
}
EXPORT cuMemcpyDtoHAsync_v2(void *destination, Address source, size_t bytes, Stream stream) {
  IN_CONTEXT;
  engine.checkPinned(destination, bytes, __func__);
  return copy(engine, static_cast<char *>(destination), engine.translate(source, bytes, __func__),
              bytes, {reinterpret_cast<uint64_t>(destination), source}, stream, /*fromHost=*/false,
              /*toHost=*/true);
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
  auto run = [=, &engine] {
    std::memset(memory, value, bytes);
    engine.wrote(destination, bytes);
  };
  return engine.start(stream, {nullptr, run, {destination}});
}
