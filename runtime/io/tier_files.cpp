//===- tier_files.cpp - a rank's memory of the nvme tier ------------------===//

#include "runtime/io/tier_files.h"

#include <algorithm>

namespace zero::rt {

/// The first stripes of ranks are on different drives: what is shorter than a stripe is at the same
/// place of all ranks, and moved at the same time.
Status TierFiles::create(const DriveFolders &folders, const TierIdentity &whole) {
  const std::vector<std::string> &paths = folders.paths();
  Status status;
  for (size_t drive = 0; drive < paths.size() && status.ok(); ++drive) {
    TierIdentity identity = whole;
    identity.drive = uint32_t(drive);
    identity.drives = uint32_t(paths.size());
    identity.bytes = Stripes::bytesOf(drive, paths.size(), whole.bytes);
    const std::string &folder = paths[(drive + whole.rank) % paths.size()];
    TierFile file;
    status = TierFile::create(tierPath(folder, int(whole.rank)), identity, file);
    if (status.ok())
      files.push_back(std::move(file));
  }
  if (!status.ok())
    remove();
  for (const TierFile &file : files)
    open.push_back({file.descriptor(), file.path().c_str()});
  stripes = Stripes(open, TierFile::place(0));
  return status;
}

void TierFiles::remove() {
  for (TierFile &file : files)
    file.remove();
  files.clear();
  open.clear();
}

Status TierFiles::beginStep() {
  for (TierFile &file : files)
    ZERO_RT_TRY(file.beginStep());
  return {};
}

Status TierFiles::endStep() {
  for (TierFile &file : files)
    ZERO_RT_TRY(file.endStep());
  return {};
}

bool TierFiles::startsAsZeros() const {
  return std::ranges::all_of(files, &TierFile::startsAsZeros);
}

bool TierFiles::isDirect() const { return std::ranges::all_of(files, &TierFile::isDirect); }

Status TierFiles::move(DiskQueue &queue, std::span<const Transfer> transfers) const {
  ZERO_RT_TRY(queue.run(transfers));
  for (const Transfer &transfer : transfers)
    (transfer.writes ? written : read) += transfer.bytes;
  return {};
}

uint64_t TierFiles::bytesWritten() const {
  uint64_t bytes = written;
  for (const TierFile &file : files)
    bytes += file.headerBytes();
  return bytes;
}

} // namespace zero::rt
