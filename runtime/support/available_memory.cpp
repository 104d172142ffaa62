//===- available_memory.cpp - memory that a process may still take --------===//

#include "runtime/support/available_memory.h"

#include "runtime/support/checked.h"

#include <algorithm>
#include <fstream>
#include <string>
#include <unistd.h>

namespace zero::rt {

/// Bytes that the kernel can give without swapping; all physical memory where it does not say.
static uint64_t availableOfKernel() {
  std::ifstream info("/proc/meminfo");
  std::string name;
  uint64_t kibibytes = 0;
  for (std::string line; info >> name >> kibibytes; std::getline(info, line))
    if (name == "MemAvailable:")
      return kibibytes * 1024;
  return uint64_t(::sysconf(_SC_PHYS_PAGES)) * uint64_t(::sysconf(_SC_PAGESIZE));
}

/// The number in a file of a control group; false for "max", or without such a file.
static bool readNumber(const std::string &path, uint64_t &number) {
  std::ifstream file(path);
  std::string text;
  return file >> text && parseInteger(text, number);
}

uint64_t availableMemory() {
  uint64_t available = availableOfKernel();
  std::ifstream groups("/proc/self/cgroup");
  for (std::string line; std::getline(groups, line);) {
    if (!line.starts_with("0::/"))
      continue;
    // The limits of all groups around it hold, too.
    for (std::string group = line.substr(3); !group.empty();) {
      const std::string folder = "/sys/fs/cgroup" + group;
      uint64_t limit = 0, used = 0;
      if (readNumber(folder + "/memory.max", limit) && readNumber(folder + "/memory.current", used))
        available = std::min(available, limit - std::min(limit, used));
      group.resize(group.rfind('/'));
    }
  }
  return available;
}

} // namespace zero::rt
