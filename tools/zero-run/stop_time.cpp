//===- stop_time.cpp - how long a run takes to stop -----------------------===//

#include "stop_time.h"

#include "progress.h"
#include "runtime/io/disk_rate.h"
#include "saved_bytes.h"

using namespace zero::rt;

namespace zero::run {

std::optional<StopTime> stopTime(const Options &options, const Job &job,
                                 const Executable &executable) {
  // Files of ranks, the manifest, the folder of the checkpoint, the log, and their folders.
  constexpr int kFlushes = 6;
  StopTime time;
  WriteSpeed speed;
  const bool isUsed = !options.quiet || options.maxSeconds > 0;
  if (!isUsed || options.saveState.empty() || !job.isFirst() ||
      !countSavedByNode(options, job, executable, time.bytes).ok() ||
      !measureWrites(options.saveState, speed).ok())
    return std::nullopt; // the first checkpoint says what is wrong with the folder
  time.bytesPerSecond = speed.bytesPerSecond;
  time.seconds = double(time.bytes) / speed.bytesPerSecond + kFlushes * speed.flushSeconds;
  return time;
}

std::string stopTimeText(const StopTime &time, double stepSeconds) {
  return format(
      "on SIGTERM the state is saved within about %.2g s: a step of %.2g s, and %s at %s/s",
      stepSeconds + time.seconds, stepSeconds, bytesText(time.bytes).c_str(),
      bytesText(uint64_t(time.bytesPerSecond)).c_str());
}

} // namespace zero::run
