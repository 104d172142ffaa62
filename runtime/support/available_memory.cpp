//===- available_memory.cpp - memory that a process may still take --------===//

#include "runtime/support/available_memory.h"

#include "runtime/support/checked.h"

#include <algorithm>
#include <fstream>
#include <initializer_list>
#include <linux/magic.h>
#include <string_view>
#include <sys/resource.h>
#include <sys/vfs.h>
#include <unistd.h>

namespace zero::rt {

/// The sum of the numbers behind `names` in lines "NAME NUMBER ..."; nothing if there is none.
static std::optional<uint64_t> sumOf(const std::string &path,
                                     std::initializer_list<std::string_view> names) {
  std::ifstream file(path);
  std::optional<uint64_t> sum;
  std::string name, number;
  for (std::string line; file >> name >> number; std::getline(file, line)) {
    uint64_t found = 0;
    if (std::find(names.begin(), names.end(), name) != names.end() && parseInteger(number, found))
      sum = sum.value_or(0) + found;
  }
  return sum;
}

static constexpr char kMemory[] = "/proc/meminfo", kProcess[] = "/proc/self/status";
static constexpr uint64_t kUnit = 1024; ///< of their numbers

uint64_t ownMemory() {
  return kUnit * sumOf(kProcess, {"RssAnon:", "RssShmem:", "VmPTE:"}).value_or(0);
}

bool hasSwap() { return sumOf(kMemory, {"SwapTotal:"}).value_or(0) > 0; }

/// Bytes that the kernel can give without swapping; all physical memory where it does not say.
static uint64_t availableOfKernel() {
  if (const auto kibibytes = sumOf(kMemory, {"MemAvailable:"}))
    return *kibibytes * kUnit;
  return uint64_t(::sysconf(_SC_PHYS_PAGES)) * uint64_t(::sysconf(_SC_PAGESIZE));
}

/// The number in a file of a control group; false for "max", or without such a file.
static bool readNumber(const std::string &path, uint64_t &number) {
  std::ifstream file(path);
  std::string text;
  return file >> text && parseInteger(text, number);
}

static void keepLeast(const MemoryLimit &limit, std::optional<MemoryLimit> &least) {
  if (!least || limit.left() < least->left())
    least = limit;
}

/// The limit of the group in `folder`, which is `group` of its hierarchy.
static std::optional<MemoryLimit> limitIn(const std::string &folder, const std::string &group) {
  MemoryLimit limit{group};
  if (!readNumber(folder + "/memory.max", limit.bytes) &&          // version 2
      !readNumber(folder + "/memory.limit_in_bytes", limit.bytes)) // version 1
    return std::nullopt;
  limit.used =
      sumOf(folder + "/memory.stat", {"anon", "shmem", "total_rss", "total_shmem"}).value_or(0);
  return limit;
}

std::optional<MemoryLimit> memoryLimit() {
  std::optional<MemoryLimit> least;
  std::ifstream groups("/proc/self/cgroup");
  for (std::string line; std::getline(groups, line);) {
    // "0::/group" of version 2, "4:memory:/group" of version 1
    const size_t colon = line.rfind(':');
    const bool isOld = line.find(":memory:") != line.npos;
    if (colon == line.npos || (!isOld && !line.starts_with("0::")))
      continue;
    const std::string root = isOld ? "/sys/fs/cgroup/memory" : "/sys/fs/cgroup";
    // The limits of all groups around it hold, too. A container sees its own group as the root.
    for (std::string group = line.substr(colon + 1);;) {
      if (const auto limit = limitIn(root + group, group))
        keepLeast(*limit, least);
      if (group.empty())
        break;
      group.resize(group.rfind('/') == group.npos ? 0 : group.rfind('/'));
    }
  }
  return least;
}

std::optional<MemoryLimit> processLimit() {
  std::optional<MemoryLimit> least;
  auto add = [&](int resource, const char *command, std::string_view used) {
    rlimit limit{};
    if (::getrlimit(resource, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY)
      return;
    const MemoryLimit found{command, limit.rlim_cur, kUnit * sumOf(kProcess, {used}).value_or(0)};
    keepLeast(found, least);
  };
  add(RLIMIT_AS, "ulimit -v", "VmSize:");
  add(RLIMIT_DATA, "ulimit -d", "VmData:");
  return least;
}

uint64_t availableMemory() {
  uint64_t available = availableOfKernel();
  if (const auto limit = memoryLimit())
    available = std::min(available, limit->left());
  if (const auto limit = processLimit())
    available = std::min(available, limit->left());
  return available;
}

bool isInMemory(const std::string &path) {
  struct statfs status{};
  return ::statfs(path.c_str(), &status) == 0 &&
         (status.f_type == TMPFS_MAGIC || status.f_type == RAMFS_MAGIC);
}

} // namespace zero::rt
