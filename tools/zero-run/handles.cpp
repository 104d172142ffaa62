//===- handles.cpp - owners of handles of the C interface -----------------===//

#include "handles.h"

using namespace zero::rt;

namespace zero::run {

Status take(zero_rt_status status) {
  Status result(status.code, status.message ? status.message : "");
  zero_rt_status_release(&status);
  return result;
}

Status load(const std::string &path, Executable &executable) {
  zero_rt_executable *made = nullptr;
  Status status = take(zero_rt_executable_load(path.c_str(), &made));
  executable.reset(made);
  return status;
}

Status open(const Executable &executable, const zero_rt_session_options &options,
            Session &session) {
  zero_rt_session *made = nullptr;
  Status status = take(zero_rt_session_create(executable.get(), &options, &made));
  session.reset(made);
  return status;
}

zero_rt_program_info infoOf(const Executable &executable) {
  zero_rt_program_info info{};
  zero_rt_executable_info(executable.get(), &info);
  return info;
}

} // namespace zero::run
