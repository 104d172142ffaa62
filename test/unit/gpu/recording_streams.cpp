//===- recording_streams.cpp - streams and events of libcuda --------------===//

#include "calls.h"

using namespace recording;

/// Lower numbers go first.
static constexpr int kLeast = 0, kGreatest = -5;

EXPORT cuCtxGetStreamPriorityRange(int *least, int *greatest) {
  IN_CONTEXT;
  *least = kLeast;
  *greatest = kGreatest;
  return kSuccess;
}
EXPORT cuStreamCreateWithPriority(Stream *stream, unsigned, int priority) {
  IN_CONTEXT;
  *stream = engine.makeStream();
  engine.counted.urgent += priority == kGreatest;
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
  if (auto capture = engine.captureOf(stream))
    return engine.invalidate(*capture, kCaptureUnsupported, "cuStreamQuery of a captured stream");
  if (engine.isForbidden(__func__))
    return kCaptureUnsupported;
  engine.progress();
  if (!engine.fault().empty())
    return kLaunchFailed;
  return engine.isDone(stream) ? kSuccess : kNotReady;
}
EXPORT cuStreamWaitEvent(Stream stream, Event event, unsigned) {
  IN_CONTEXT;
  if (!engine.events.count(event)) {
    engine.problem("cuStreamWaitEvent for an event that is not there");
    return kInvalidValue;
  }
  ++engine.counted.waits;
  if (event->captured || engine.captureOf(stream))
    return engine.waitInCapture(stream, *event);
  // Waits for what was recorded so far; later records do not count.
  return engine.add(stream, {[event, wanted = event->recorded] { return event->done >= wanted; },
                             nullptr,
                             {reinterpret_cast<uint64_t>(event)}});
}
EXPORT cuLaunchHostFunc(Stream stream, HostFunction function, void *context) {
  IN_CONTEXT;
  ++engine.counted.calls;
  // The function must not call the driver.
  auto run = [&engine, function, context] {
    engine.inHostFunction = std::this_thread::get_id();
    function(context);
    engine.inHostFunction = {};
  };
  Work work{nullptr, run, {}};
  work.isCall = true;
  return engine.start(stream, std::move(work));
}
EXPORT cuEventCreate(Event *event, unsigned flags) {
  IN_CONTEXT;
  *event = engine.own(engine.events, new EventHandle);
  (*event)->isTimed = !(flags & kEventDisableTiming);
  ++engine.counted.made;
  return kSuccess;
}
EXPORT cuEventDestroy_v2(Event event) {
  IN_CONTEXT;
  if (!engine.disown(engine.events, event, __func__))
    return kInvalidValue;
  delete event;
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
  if (auto capture = engine.captureOf(stream)) {
    event->captured = std::make_shared<Captured>(Captured{capture, capture->tails[stream]});
    return kSuccess;
  }
  event->captured.reset();
  const uint64_t number = ++event->recorded;
  auto run = [&engine, event, number] {
    event->done = std::max(event->done, number);
    event->time = engine.clock;
  };
  return engine.add(stream, {nullptr, run, {reinterpret_cast<uint64_t>(event)}});
}
EXPORT cuEventQuery(Event event) {
  IN_CONTEXT;
  ++engine.counted.queries;
  if (engine.isForbidden(__func__))
    return kCaptureUnsupported;
  if (event->captured) {
    engine.problem("cuEventQuery of an event of a capture");
    return kCapturedEvent;
  }
  engine.progress();
  if (!engine.fault().empty())
    return kLaunchFailed;
  event->asked = event->done < event->recorded;
  return event->asked ? kNotReady : kSuccess;
}
EXPORT cuEventElapsedTime(float *milliseconds, Event begin, Event end) {
  IN_CONTEXT;
  for (Event event : {begin, end}) {
    if (!engine.events.count(event) || !event->isTimed || event->recorded == 0) {
      engine.problem("cuEventElapsedTime of an event without a time");
      return kInvalidValue;
    }
    if (event->done < event->recorded)
      return kNotReady;
  }
  ++engine.counted.timings;
  *milliseconds = float(end->time - begin->time);
  return kSuccess;
}
