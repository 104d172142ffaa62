//===- saving.cpp - a checkpoint from its draft to its name ---------------===//

#include "runtime/session/saving.h"

#include "runtime/processes/fields.h"

#include <algorithm>
#include <chrono>
#include <thread>

namespace zero::rt {

Saving::~Saving() {
  if (!isComplete())
    writer->stop();
}

/// What a process does in the stages behind the files.
Status Saving::work(int which) {
  if (!isMaker)
    return {};
  switch (which) {
  case kManifest:
    return writer->prepare();
  case kName:
    return writer->commit(path);
  default:
    return writer->removeOthers(damaged, left);
  }
}

/// What the others need to know of this stage: bytes and checksum of the file of each rank that is
/// here, or what could not be removed.
std::string Saving::note() const {
  std::string text;
  if (stage == kFiles)
    for (const auto &rank : ranks.here()) {
      const proto::Manifest::File &file = writer->file(rank->number());
      append(text, uint64_t(file.bytes()));
      append(text, uint64_t(file.crc32()));
    }
  for (const std::string &each : left)
    append(text, each);
  return text;
}

Status Saving::decodeFiles(const std::string &text, int firstRank) {
  Fields fields(text);
  for (int rank = firstRank; fields.isOk() && !fields.isAtEnd(); ++rank) {
    writer->file(rank).set_bytes(fields.number());
    writer->file(rank).set_crc32(uint32_t(fields.number()));
  }
  if (!fields.isOk())
    return fail(ZERO_RT_INTERNAL, "a process has not said what it wrote");
  return {};
}

/// Tells the others how this stage went, or that it is not done.
Status Saving::agree(bool isDone, const Status &own, bool &allDone) {
  static const char *const kNames[] = {"files of a checkpoint", "manifest of a checkpoint",
                                       "commit of a checkpoint", "end of a checkpoint"};
  constexpr char kDone = '+', kNotDone = '-'; // before a note
  std::vector<std::string> all;
  const bool hasNote = isDone && own.ok();
  ZERO_RT_TRY(
      ranks.agree(kNames[stage], own, hasNote ? kDone + note() : std::string(1, kNotDone), all));
  allDone = std::ranges::all_of(all, [](const std::string &each) { return each[0] == kDone; });
  if (!allDone)
    return {};
  for (std::string &each : all)
    each.erase(0, 1);
  for (size_t process = 0; stage == kFiles && process < all.size(); ++process)
    ZERO_RT_TRY(decodeFiles(all[process], int(process * ranks.here().size())));
  if (++stage == kStages)
    notes = std::move(all);
  return {};
}

Status Saving::run(const std::function<Status()> &writeFiles) {
  bool allDone;
  ZERO_RT_TRY(agree(true, writeFiles(), allDone));
  while (!isComplete())
    ZERO_RT_TRY(agree(true, work(stage), allDone));
  return {};
}

/// All stages, for a folder that is shared.
Status Saving::workAlone(const std::function<Status()> &writeFiles) {
  ZERO_RT_TRY(writeFiles());
  if (ranks.isOneOfMany()) {
    const auto &here = ranks.here();
    ZERO_RT_TRY(writer->leaveEntries(here.front()->number(), int(here.size())));
    if (isMaker)
      ZERO_RT_TRY(writer->awaitEntries());
  }
  for (int each : {kManifest, kName, kOthers})
    ZERO_RT_TRY(work(each));
  return {};
}

Status Saving::start(std::function<Status()> writeFiles) {
  if (!isShared)
    return background.start("checkpoints", std::move(writeFiles));
  stage = kOthers; // what is left to agree on
  return background.start("checkpoints", [this, writeFiles] { return workAlone(writeFiles); });
}

/// A process that waits asks the others from time to time: one of them may have failed, and its
/// part never be there.
Status Saving::advance(bool waits) {
  constexpr std::chrono::milliseconds kPause(5);
  do {
    const bool isDone = background.isDone();
    bool allDone;
    ZERO_RT_TRY(agree(isDone, isDone ? background.wait() : Status(), allDone));
    if (allDone && !isComplete())
      ZERO_RT_TRY(background.start("checkpoints", [this] { return work(stage); }));
    if (!allDone && waits)
      std::this_thread::sleep_for(kPause);
  } while (waits && !isComplete());
  return {};
}

} // namespace zero::rt
