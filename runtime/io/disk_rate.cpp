//===- disk_rate.cpp - measure the speed of a disk ------------------------===//

#include "runtime/io/disk_rate.h"

#include "runtime/io/disk_queue.h"

#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <memory>
#include <unistd.h>
#include <vector>

namespace zero::rt {

static constexpr uint64_t kBytes = uint64_t(16) << 20;
static constexpr int kTimes = 16; ///< at most
static constexpr double kSeconds = 0.5;

namespace {
struct Descriptor {
  int number;
  ~Descriptor() { ::close(number); }
};
} // namespace

using Clock = std::chrono::steady_clock;

static double secondsSince(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

static Status cannotMeasure(const std::string &folder) {
  return fail(ZERO_RT_IO, "cannot measure the disk of '%s': %s", escape(folder).c_str(),
              std::strerror(errno));
}

/// Repeats `transfer` until it was done `times` times or time is up; then `times` is the number of
/// repetitions.
static Status timeTransfers(DiskQueue &queue, Transfer transfer, int &times, double &rate) {
  const auto begin = Clock::now();
  double seconds = 0;
  int done = 0;
  while (done < times && (done == 0 || seconds < kSeconds)) {
    ZERO_RT_TRY(queue.run(transfer));
    transfer.offset += transfer.bytes;
    ++done;
    seconds = secondsSince(begin);
  }
  times = done;
  rate = double(done) * double(transfer.bytes) / seconds;
  return {};
}

Status measureDisk(const std::string &folder, DiskRate &rate) {
  const Descriptor file{::open(folder.c_str(), O_TMPFILE | O_RDWR | O_DIRECT | O_CLOEXEC, 0600)};
  if (file.number < 0)
    return cannotMeasure(folder);
  const std::unique_ptr<void, decltype(&std::free)> memory(
      std::aligned_alloc(kDiskAlignment, kBytes), &std::free);
  if (!memory)
    return fail(ZERO_RT_INTERNAL, "out of memory");
  std::memset(memory.get(), 1, kBytes);
  std::unique_ptr<DiskQueue> queue;
  ZERO_RT_TRY(DiskQueue::make(DiskQueue::Kind::Any, queue));
  int times = kTimes;
  // First blocks are given to the file, as when a rank's file is made: steps find them there.
  for (int pass = 0; pass < 2; ++pass)
    ZERO_RT_TRY(timeTransfers(*queue, {true, file.number, folder.c_str(), 0, memory.get(), kBytes},
                              times, rate.write));
  return timeTransfers(*queue, {false, file.number, folder.c_str(), 0, memory.get(), kBytes}, times,
                       rate.read);
}

Status measureWrites(const std::string &folder, WriteSpeed &speed) {
  constexpr size_t kPiece = size_t(1) << 20;
  constexpr double kEnough = 0.1;
  const Descriptor file{::open(folder.c_str(), O_TMPFILE | O_WRONLY | O_CLOEXEC, 0600)};
  const std::vector<char> piece(kPiece, 1);
  if (file.number < 0)
    return cannotMeasure(folder);
  auto begin = Clock::now();
  if (::write(file.number, piece.data(), 1) != 1 || ::fsync(file.number) != 0)
    return cannotMeasure(folder);
  speed.flushSeconds = secondsSince(begin);
  begin = Clock::now();
  double bytes = 0;
  while (bytes < double(kBytes) && secondsSince(begin) < kEnough) {
    const ssize_t written = ::write(file.number, piece.data(), piece.size());
    if (written <= 0 || ::fdatasync(file.number) != 0)
      return cannotMeasure(folder);
    bytes += double(written);
  }
  speed.bytesPerSecond = bytes / secondsSince(begin);
  return {};
}

} // namespace zero::rt
