//===- capi_world.cpp - zero_rt.h: processes ------------------------------===//

#include "runtime/api/capi.h"

#include <cstdlib>

using namespace zero::rt;

void zero_rt_world_options_default(zero_rt_world_options *options) {
  *options = {};
  options->timeout_seconds = 120;
}

/// What the launcher says, unless the options do.
static Status findLaunch(const zero_rt_world_options &options, LaunchInfo &launch) {
  if (options.processes == 0)
    return detectLauncher([](const char *name) { return std::getenv(name); }, launch);
  if (!options.meeting)
    return fail(ZERO_RT_INVALID_ARGUMENT, "expected how %d processes meet", options.processes);
  launch.process = options.process;
  launch.processes = options.processes;
  launch.meeting = options.meeting;
  if (const char *secret = std::getenv("ZERO_JOB_SECRET"))
    launch.secret = secret;
  return {};
}

zero_rt_status zero_rt_world_open(const zero_rt_world_options *given, zero_rt_world **world) {
  return guard([&]() -> Status {
    zero_rt_world_options options;
    zero_rt_world_options_default(&options);
    if (given)
      options = *given;
    WorldOptions wanted;
    ZERO_RT_TRY(findLaunch(options, wanted.launch));
    if (options.secret)
      wanted.launch.secret = options.secret;
    wanted.interface = options.interface ? options.interface : "";
    wanted.about = options.about ? options.about : "";
    wanted.timeoutSeconds = options.timeout_seconds;
    std::unique_ptr<zero_rt_world> made;
    if (wanted.launch.processes > 1) {
      made = std::make_unique<zero_rt_world>();
      ZERO_RT_TRY(World::open(wanted, made->world));
    }
    *world = made.release();
    return {};
  });
}

void zero_rt_world_close(zero_rt_world *world) { delete world; }

void zero_rt_world_describe(const zero_rt_world *world, zero_rt_world_info *info) {
  const World &own = *world->world;
  *info = {own.process(),
           own.processes(),
           own.node(),
           own.nodes(),
           nameOf(own.getLaunch().launcher),
           own.libraryBytes(),
           own.listensAt().c_str()};
}

void zero_rt_world_fail(zero_rt_world *world, const char *reason) {
  world->world->control().fail(fail(ZERO_RT_ABORTED, "%s", reason));
}

zero_rt_status zero_rt_world_share(zero_rt_world *world, const char *path, const char **shared) {
  return guard([&] { return world->world->share(path, *shared); });
}
