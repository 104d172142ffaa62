//===- stop_time.cpp - how long a run takes to stop -----------------------===//

#include "stop_time.h"

#include "progress.h"
#include "runtime/io/disk_rate.h"
#include "saved_bytes.h"

using namespace zero::rt;

namespace zero::run {

std::string stopTimeText(const Options &options, const Job &job, const Executable &executable,
                         double stepSeconds) {
  // Files of ranks, the manifest, the folder of the checkpoint, the log, and their folders.
  constexpr int kFlushes = 6;
  uint64_t bytes;
  WriteSpeed speed;
  if (options.quiet || options.saveState.empty() || !job.isFirst() ||
      !countSavedByNode(options, job, executable, bytes).ok() ||
      !measureWrites(options.saveState, speed).ok())
    return {}; // the first checkpoint says what is wrong with the folder
  const double seconds =
      stepSeconds + double(bytes) / speed.bytesPerSecond + kFlushes * speed.flushSeconds;
  return format(
      "on SIGTERM the state is saved within about %.2g s: a step of %.2g s, and %s at %s/s",
      seconds, stepSeconds, bytesText(bytes).c_str(),
      bytesText(uint64_t(speed.bytesPerSecond)).c_str());
}

} // namespace zero::run
