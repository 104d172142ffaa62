//===- disk_rate.cpp - how fast a folder's disk is ------------------------===//

#include "runtime/io/disk_rate.h"

#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <memory>
#include <unistd.h>

namespace zero::rt {

static constexpr size_t kBlock = size_t(4) << 20, kAlignment = 4096;
static constexpr int kBlocks = 64; ///< at most
static constexpr double kSeconds = 0.5;

namespace {
struct Descriptor {
  int number;
  ~Descriptor() { ::close(number); }
};
} // namespace

static Status cannotMeasure(const std::string &folder, int error) {
  return fail(ZERO_RT_IO, "cannot measure the disk of '%s': %s", escape(folder).c_str(),
              std::strerror(error));
}

/// Does `transfer(offset)` block by block until `blocks` are done or time is up; then
/// `blocks` are those that were done.
template <typename Transfer>
static Status timeBlocks(const std::string &folder, int &blocks, double &rate, Transfer transfer) {
  const auto begin = std::chrono::steady_clock::now();
  double seconds = 0;
  int done = 0;
  while (done < blocks && (done == 0 || seconds < kSeconds)) {
    const ssize_t moved = transfer(off_t(done) * off_t(kBlock));
    if (moved != ssize_t(kBlock))
      return cannotMeasure(folder, moved < 0 ? errno : ENOSPC);
    ++done;
    seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  }
  blocks = done;
  rate = double(done) * double(kBlock) / seconds;
  return {};
}

Status measureDisk(const std::string &folder, DiskRate &rate) {
  const Descriptor file{::open(folder.c_str(), O_TMPFILE | O_RDWR | O_DIRECT | O_CLOEXEC, 0600)};
  if (file.number < 0)
    return cannotMeasure(folder, errno);
  const std::unique_ptr<void, decltype(&std::free)> block(std::aligned_alloc(kAlignment, kBlock),
                                                          &std::free);
  if (!block)
    return fail(ZERO_RT_INTERNAL, "out of memory");
  std::memset(block.get(), 1, kBlock);
  int blocks = kBlocks;
  ZERO_RT_TRY(timeBlocks(folder, blocks, rate.write, [&](off_t offset) {
    return ::pwrite(file.number, block.get(), kBlock, offset);
  }));
  return timeBlocks(folder, blocks, rate.read, [&](off_t offset) {
    return ::pread(file.number, block.get(), kBlock, offset);
  });
}

} // namespace zero::rt
