//===- capi.h - the boundary between C and C++ ------------------*- C++ -*-===//

#ifndef RUNTIME_API_CAPI_H
#define RUNTIME_API_CAPI_H

#include "runtime/session/session.h"
#include "runtime/verify/timeline.h"
#include "zero_rt/adapters.h"
#include "zero_rt/averages.h"
#include "zero_rt/documents.h"
#include "zero_rt/finding.h"
#include "zero_rt/mesh.h"
#include "zero_rt/processes.h"
#include "zero_rt/ranges.h"
#include "zero_rt/saving.h"

#include <cstring>
#include <new>

struct zero_rt_executable {
  std::shared_ptr<const zero::rt::LoadedProgram> program;
  /// The result of zero_rt_executable_timeline().
  zero::rt::Timeline timeline = {};
  zero_rt_recorded_step step = {};
  /// The result of zero_rt_executable_adapter_config().
  std::string adapterConfig = {};
  /// The name in the last result of zero_rt_executable_shape().
  std::string shapeName = {};
};

struct zero_rt_data {
  std::shared_ptr<zero::rt::DataSet> set;
};

struct zero_rt_session {
  std::unique_ptr<zero::rt::Session> session;
};

namespace zero::rt {

inline zero_rt_status toC(const Status &status) {
  return {status.getCode(), status.ok() ? nullptr : ::strdup(status.getMessage().c_str())};
}

/// Runs `body` and converts an exception to a status: no exception leaves the runtime.
template <typename Body>
zero_rt_status guard(Body body) {
  try {
    return toC(body());
  } catch (const std::bad_alloc &) {
    return {ZERO_RT_INTERNAL, ::strdup("out of memory")};
  } catch (const std::exception &error) {
    return {ZERO_RT_INTERNAL, ::strdup(error.what())};
  }
}

/// `array` becomes a view of `given`, which must outlive it. `what` it is, is said in errors.
inline Status viewArray(const char *what, const zero_rt_array &given, Array &array) {
  array.dtype = given.dtype;
  array.shape.assign(given.shape, given.shape + given.dimensions);
  uint64_t bytes;
  if (!countBytes(array.shape, given.dtype, bytes))
    return fail(ZERO_RT_INVALID_ARGUMENT, "%s '%s': bad element type or shape", what,
                escape(given.name).c_str());
  array.bytes = {static_cast<const uint8_t *>(given.elements), bytes};
  return {};
}

} // namespace zero::rt

#endif // RUNTIME_API_CAPI_H
