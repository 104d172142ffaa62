//===- handles.h - owners of handles of the C interface ---------*- C++ -*-===//

#ifndef TOOLS_ZERO_RUN_HANDLES_H
#define TOOLS_ZERO_RUN_HANDLES_H

#include "runtime/support/status.h"
#include "zero_rt/processes.h"

#include <memory>

namespace zero::run {

struct Free {
  void operator()(zero_rt_executable *executable) const { zero_rt_executable_free(executable); }
  void operator()(zero_rt_data *data) const { zero_rt_data_free(data); }
  void operator()(zero_rt_session *session) const { zero_rt_session_free(session); }
  void operator()(zero_rt_world *world) const { zero_rt_world_close(world); }
};
using World = std::unique_ptr<zero_rt_world, Free>;
using Executable = std::unique_ptr<zero_rt_executable, Free>;
using Data = std::unique_ptr<zero_rt_data, Free>;
using Session = std::unique_ptr<zero_rt_session, Free>;

/// Takes over the message of a C status.
rt::Status take(zero_rt_status status);

rt::Status load(const std::string &path, Executable &executable);
rt::Status open(const Executable &executable, const zero_rt_session_options &options,
                Session &session);

/// What is known of a program; never fails for a loaded one.
zero_rt_program_info infoOf(const Executable &executable);

} // namespace zero::run

#endif // TOOLS_ZERO_RUN_HANDLES_H
