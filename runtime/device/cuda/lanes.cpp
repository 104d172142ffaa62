//===- lanes.cpp - the streams of one rank --------------------------------===//

#include "runtime/device/cuda/lanes.h"

#include <chrono>
#include <thread>

namespace zero::rt::cuda {

OwnedEvent::~OwnedEvent() {
  if (event && gpu->makeCurrent().ok())
    gpu->driver().cuEventDestroy(event);
}

Status OwnedEvent::create(std::shared_ptr<const Gpu> on) {
  gpu = std::move(on);
  return gpu->driver().check(gpu->driver().cuEventCreate(&event, kEventDisableTiming),
                             "cuEventCreate");
}

Status Lanes::create(const std::shared_ptr<const Gpu> &gpu, std::span<const uint32_t> used,
                     double timeoutSeconds, std::shared_ptr<Lanes> &lanes) {
  ZERO_RT_TRY(gpu->makeCurrent());
  std::shared_ptr<Lanes> made(new Lanes(gpu, timeoutSeconds));
  for (uint32_t number : used) {
    made->at.resize(std::max<size_t>(made->at.size(), number + 1));
    made->at[number] = made->lanes.size();
    Lane &lane = made->lanes.emplace_back();
    ZERO_RT_CUDA(gpu->driver(), cuStreamCreate, &lane.stream, kStreamNonBlocking);
    ZERO_RT_TRY(lane.met.create(gpu));
  }
  made->active = made->lanes.front().stream;
  lanes = std::move(made);
  return {};
}

Lanes::~Lanes() {
  if (!device->makeCurrent().ok())
    return;
  for (const Lane &lane : lanes)
    if (lane.stream)
      driver().cuStreamDestroy(lane.stream);
}

Status Lanes::makeSignals(uint32_t count) {
  signals.clear();
  for (uint32_t i = 0; i < count; ++i)
    ZERO_RT_TRY(signals.emplace_back().create(device));
  return {};
}

Status Lanes::begin(const Order &order) {
  active = lanes[*at[order.lane]].stream;
  for (uint32_t signal : order.waits)
    ZERO_RT_CUDA(driver(), cuStreamWaitEvent, active, signals[signal].get(), 0);
  return {};
}

Status Lanes::end(const Order &order) {
  if (order.signal >= 0)
    ZERO_RT_CUDA(driver(), cuEventRecord, signals[size_t(order.signal)].get(), active);
  return {};
}

Status Lanes::meet() {
  active = lanes.front().stream;
  if (lanes.size() == 1)
    return {};
  for (const Lane &lane : lanes)
    ZERO_RT_CUDA(driver(), cuEventRecord, lane.met.get(), lane.stream);
  for (const Lane &lane : lanes)
    for (const Lane &other : lanes)
      if (&other != &lane)
        ZERO_RT_CUDA(driver(), cuStreamWaitEvent, lane.stream, other.met.get(), 0);
  return {};
}

template <typename Query>
Status Lanes::poll(const char *call, Query query) {
  using Clock = std::chrono::steady_clock;
  const auto begin = Clock::now();
  const auto deadline = begin + std::chrono::duration<double>(timeoutSeconds);
  for (;;) {
    const Result result = query();
    if (result != kNotReady)
      return driver().check(result, call);
    const auto now = Clock::now();
    if (now > deadline)
      return fail(ZERO_RT_TIMEOUT, "GPU %d did not finish its work within %g s", device->ordinal(),
                  timeoutSeconds);
    // Most waits are short; long ones leave the core to others.
    if (now - begin < std::chrono::milliseconds(1))
      std::this_thread::yield();
    else
      std::this_thread::sleep_for(std::chrono::microseconds(50));
  }
}

Status Lanes::finish() {
  ZERO_RT_TRY(device->makeCurrent()); // also at the end, by another thread
  for (const Lane &lane : lanes)
    ZERO_RT_TRY(poll("cuStreamQuery", [&] { return driver().cuStreamQuery(lane.stream); }));
  return {};
}

Status Lanes::await(Event event) {
  return poll("cuEventQuery", [&] { return driver().cuEventQuery(event); });
}

} // namespace zero::rt::cuda
