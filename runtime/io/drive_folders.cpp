//===- drive_folders.cpp - the directories of the nvme tier ---------------===//

#include "runtime/io/drive_folders.h"

#include <algorithm>
#include <limits>
#include <set>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/sysmacros.h>

namespace zero::rt {

Status DriveFolders::parse(const std::string &list, DriveFolders &folders) {
  DriveFolders parsed;
  std::set<std::pair<dev_t, ino_t>> known;
  for (size_t begin = 0; begin < list.size() + !list.empty();) {
    const size_t end = std::min(list.find(',', begin), list.size());
    const std::string path = list.substr(begin, end - begin);
    if (path.empty())
      return fail(ZERO_RT_INVALID_ARGUMENT,
                  "expected directories with commas between them, got '%s'", escape(list).c_str());
    struct stat info{};
    const bool exists = ::stat(path.c_str(), &info) == 0;
    if (exists && !known.insert({info.st_dev, info.st_ino}).second)
      return fail(ZERO_RT_INVALID_ARGUMENT,
                  "expected different directories, got '%s', which lists '%s' twice",
                  escape(list).c_str(), escape(path).c_str());
    parsed.all.push_back(path);
    parsed.devices.push_back(exists ? info.st_dev : 0);
    begin = end + 1;
  }
  folders = std::move(parsed);
  return {};
}

std::string DriveFolders::text() const {
  std::string joined;
  for (size_t i = 0; i < all.size(); ++i)
    joined += (i == 0 ? "'" : i + 1 == all.size() ? " and '" : ", '") + escape(all[i]) + "'";
  return joined;
}

std::string DriveFolders::drivesText() const {
  std::string joined;
  for (dev_t device : devices)
    joined += format("%s%u-%u", joined.empty() ? "" : "+", major(device), minor(device));
  return joined;
}

size_t DriveFolders::drives() const { return std::set(devices.begin(), devices.end()).size(); }

uint64_t DriveFolders::space() const {
  uint64_t least = std::numeric_limits<uint64_t>::max();
  for (size_t i = 0; i < all.size(); ++i) {
    struct statvfs disk{};
    if (::statvfs(all[i].c_str(), &disk) != 0)
      return 0;
    const auto sharing = uint64_t(std::ranges::count(devices, devices[i]));
    least = std::min(least, uint64_t(disk.f_bavail) * disk.f_frsize / sharing);
  }
  return all.empty() ? 0 : least * all.size();
}

} // namespace zero::rt
