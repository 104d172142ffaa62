//===- calls.h - functions of the recording driver --------------*- C++ -*-===//

#ifndef TEST_UNIT_GPU_CALLS_H
#define TEST_UNIT_GPU_CALLS_H

#include "engine.h"

#define EXPORT extern "C" __attribute__((visibility("default"))) Result
#define LOCKED                                                                                     \
  Engine &engine = Engine::get();                                                                  \
  std::lock_guard<std::recursive_mutex> lock(engine.mutex)
/// Functions that wait for a GPU or change its memory are not allowed while a thread captures.
#define NOT_CAPTURING                                                                              \
  if (engine.isForbidden(__func__))                                                                \
  return kCaptureUnsupported
/// Nearly every function requires a context on the calling thread.
#define IN_CONTEXT                                                                                 \
  LOCKED;                                                                                          \
  if (engine.inHostFunction == std::this_thread::get_id()) {                                       \
    engine.problem(std::string(__func__) + " in a function of cuLaunchHostFunc");                  \
    return 800;                                                                                    \
  }                                                                                                \
  if (!current() || current()->retained == 0) {                                                    \
    engine.problem(std::string(__func__) + " without a context");                                  \
    return 201;                                                                                    \
  }

#endif // TEST_UNIT_GPU_CALLS_H
