//===- disk_rate.cpp - measure the speed of a disk ------------------------===//

#include "runtime/io/disk_rate.h"

#include "runtime/io/disk_queue.h"
#include "runtime/support/thread.h"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <initializer_list>
#include <memory>
#include <numeric>
#include <sys/mman.h>
#include <thread>
#include <unistd.h>
#include <utility>
#include <vector>

namespace zero::rt {

static constexpr uint64_t kBytes = uint64_t(16) << 20; ///< of a transfer
static constexpr size_t kHugePage = size_t(2) << 20;
static constexpr size_t kMostRanks = 8, kTransfers = 32;
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

namespace {
/// What one rank has: a file on each drive, and memory for a read beside a write.
struct RankDisk {
  std::vector<Descriptor> opened;
  std::vector<DiskFile> files;
  std::unique_ptr<char, decltype(&std::free)> memory{nullptr, &std::free};
  size_t pieces = 0; ///< that the files have

  Status open(const DriveFolders &folders);
};

/// Times the transfers of all ranks at the same time: fewer do not get all that drives can do.
class DiskTimer {
public:
  explicit DiskTimer(size_t count) : ranks(count), times(std::max<size_t>(kTransfers / count, 4)) {}

  Status open(const DriveFolders &folders);
  Status measure(DiskRate &rate);

private:
  enum class Kind { Read, Write };
  Status timeTransfers(RankDisk &rank, Kind kind, double &rate);
  Status timeAll(std::initializer_list<Kind> kinds, double &rate);

  std::vector<RankDisk> ranks;
  size_t times;             ///< pieces of a rank's files; fewer if time is up
  std::atomic<bool> isOver; ///< one rank has moved all: the others would move the rest alone
};
} // namespace

Status RankDisk::open(const DriveFolders &folders) {
  for (const std::string &folder : folders.paths()) {
    const int number = ::open(folder.c_str(), O_TMPFILE | O_RDWR | O_DIRECT | O_CLOEXEC, 0600);
    if (number < 0)
      return cannotMeasure(folder);
    opened.emplace_back(number);
    files.push_back({number, folder.c_str()});
  }
  memory.reset(static_cast<char *>(std::aligned_alloc(kHugePage, 2 * kBytes)));
  if (!memory)
    return fail(ZERO_RT_INTERNAL, "out of memory");
  // Arenas have huge pages, and a request to a drive has one segment for each page: with pages of
  // 4 KiB a virtual disk was measured to read at a third of its speed.
  ::madvise(memory.get(), 2 * kBytes, MADV_HUGEPAGE); // a wish; not every kernel has them
  std::memset(memory.get(), 1, 2 * kBytes);
  return {};
}

Status DiskTimer::open(const DriveFolders &folders) {
  for (RankDisk &rank : ranks)
    ZERO_RT_TRY(rank.open(folders));
  return {};
}

/// Moves one piece of `rank`'s files after the other, until all are moved, or time is up, or
/// another rank is done. The first call writes the pieces that later ones find.
Status DiskTimer::timeTransfers(RankDisk &rank, Kind kind, double &rate) {
  const Stripes stripes(rank.files);
  std::unique_ptr<DiskQueue> queue;
  ZERO_RT_TRY(DiskQueue::make(DiskQueue::Kind::Any, rank.files.size(), queue));
  const bool writes = kind == Kind::Write;
  const bool isFirst = rank.pieces == 0;
  const size_t most = isFirst ? times : rank.pieces;
  Transfer transfer{writes, &stripes, 0, rank.memory.get() + (writes ? kBytes : 0), kBytes};
  const auto begin = Clock::now();
  double seconds = 0;
  size_t done = 0;
  while (done < most && (done == 0 || (seconds < kSeconds && (isFirst || !isOver)))) {
    ZERO_RT_TRY(queue->run(transfer));
    transfer.offset += transfer.bytes;
    ++done;
    seconds = secondsSince(begin);
  }
  isOver = true;
  if (isFirst)
    rank.pieces = done;
  rate = double(transfer.offset) / seconds;
  return {};
}

/// Runs transfers of all `kinds` in all ranks at the same time, as lanes do, and adds their rates.
Status DiskTimer::timeAll(std::initializer_list<Kind> kinds, double &rate) {
  const size_t count = ranks.size() * kinds.size();
  std::vector<std::thread> threads(count);
  std::vector<Status> results(count);
  std::vector<double> rates(count);
  isOver = false;
  Status started;
  for (size_t i = 0; i < count && started.ok(); ++i)
    started = startThread("measuring a disk", threads[i], [&, i] {
      results[i] =
          timeTransfers(ranks[i / kinds.size()], kinds.begin()[i % kinds.size()], rates[i]);
    });
  for (std::thread &thread : threads)
    if (thread.joinable())
      thread.join();
  ZERO_RT_TRY(started);
  for (const Status &status : results)
    ZERO_RT_TRY(status);
  rate = std::accumulate(rates.begin(), rates.end(), 0.0);
  return {};
}

Status DiskTimer::measure(DiskRate &rate) {
  // First blocks are given to the files, as when a rank's file is made: steps find them there.
  ZERO_RT_TRY(timeAll({Kind::Write}, rate.write));
  ZERO_RT_TRY(timeAll({Kind::Write}, rate.write));
  ZERO_RT_TRY(timeAll({Kind::Read}, rate.read));
  return timeAll({Kind::Read, Kind::Write}, rate.mixed);
}

Status measureDisks(const DriveFolders &folders, size_t ranks, DiskRate &rate) {
  DiskTimer timer(std::clamp<size_t>(ranks, 1, kMostRanks));
  ZERO_RT_TRY(timer.open(folders));
  return timer.measure(rate);
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
