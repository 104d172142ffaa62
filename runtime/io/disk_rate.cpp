//===- disk_rate.cpp - measure the speed of a disk ------------------------===//

#include "runtime/io/disk_rate.h"

#include "runtime/io/disk_queue.h"
#include "runtime/support/thread.h"

#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <memory>
#include <unistd.h>
#include <utility>
#include <vector>

namespace zero::rt {

static constexpr uint64_t kBytes = uint64_t(16) << 20;
static constexpr int kTimes = 16; ///< at most
static constexpr double kSeconds = 0.5;

namespace {
class Descriptor {
public:
  explicit Descriptor(int number) : number(number) {}
  Descriptor(Descriptor &&other) noexcept : number(std::exchange(other.number, -1)) {}
  ~Descriptor() {
    if (number >= 0)
      ::close(number);
  }
  int number;
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

/// Repeats `transfer` until it was done `times` times, time is up, or another one `ended`; then
/// `times` is the number of repetitions.
static Status timeTransfers(DiskQueue &queue, Transfer transfer, int &times, double &rate,
                            const std::atomic<bool> &ended = false) {
  const auto begin = Clock::now();
  double seconds = 0;
  int done = 0;
  while (done < times && (done == 0 || (seconds < kSeconds && !ended))) {
    ZERO_RT_TRY(queue.run(transfer));
    transfer.offset += transfer.bytes;
    ++done;
    seconds = secondsSince(begin);
  }
  times = done;
  rate = double(done) * double(transfer.bytes) / seconds;
  return {};
}

/// Reads the first `times` pieces of `files` and writes them at the same time, as two lanes do,
/// until one of the two ends.
static Status timeBoth(const Stripes &files, size_t drives, char *memory, int times, double &rate) {
  std::atomic<bool> ended = false;
  std::array<Status, 2> results;
  std::array<double, 2> rates{};
  auto move = [&](bool writes) {
    std::unique_ptr<DiskQueue> queue;
    int count = times;
    Status &status = results[writes] = DiskQueue::make(DiskQueue::Kind::Any, drives, queue);
    if (status.ok())
      status = timeTransfers(*queue, {writes, &files, 0, memory + writes * kBytes, kBytes}, count,
                             rates[writes], ended);
    ended = true;
  };
  std::thread writer;
  ZERO_RT_TRY(startThread("measuring a disk", writer, [&] { move(true); }));
  move(false);
  writer.join();
  for (const Status &status : results)
    ZERO_RT_TRY(status);
  rate = rates[0] + rates[1];
  return {};
}

Status measureDisks(const DriveFolders &folders, DiskRate &rate) {
  std::vector<Descriptor> opened;
  std::vector<DiskFile> files;
  for (const std::string &folder : folders.paths()) {
    const int number = ::open(folder.c_str(), O_TMPFILE | O_RDWR | O_DIRECT | O_CLOEXEC, 0600);
    if (number < 0)
      return cannotMeasure(folder);
    opened.emplace_back(number);
    files.push_back({number, folder.c_str()});
  }
  const Stripes stripes(files);
  const std::unique_ptr<char, decltype(&std::free)> memory(
      static_cast<char *>(std::aligned_alloc(kDiskAlignment, 2 * kBytes)), &std::free);
  if (!memory)
    return fail(ZERO_RT_INTERNAL, "out of memory");
  std::memset(memory.get(), 1, 2 * kBytes);
  std::unique_ptr<DiskQueue> queue;
  ZERO_RT_TRY(DiskQueue::make(DiskQueue::Kind::Any, files.size(), queue));
  int times = kTimes;
  // First blocks are given to the file, as when a rank's file is made: steps find them there.
  for (int pass = 0; pass < 2; ++pass)
    ZERO_RT_TRY(
        timeTransfers(*queue, {true, &stripes, 0, memory.get(), kBytes}, times, rate.write));
  int reads = times;
  ZERO_RT_TRY(timeTransfers(*queue, {false, &stripes, 0, memory.get(), kBytes}, reads, rate.read));
  return timeBoth(stripes, files.size(), memory.get(), times, rate.mixed);
}

Status measureWrites(const std::string &folder, WriteSpeed &speed) {
  constexpr size_t kPiece = size_t(1) << 20;
  constexpr double kEnough = 0.1;
  const Descriptor file(::open(folder.c_str(), O_TMPFILE | O_WRONLY | O_CLOEXEC, 0600));
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
