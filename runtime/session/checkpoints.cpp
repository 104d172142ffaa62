//===- checkpoints.cpp - checkpoints of a session -------------------------===//

#include "runtime/session/checkpoints.h"

#include "runtime/checkpoint/data_position.h"
#include "runtime/checkpoint/writer.h"
#include "runtime/processes/fields.h"
#include "runtime/support/checked.h"

namespace zero::rt {

/// Whether all inputs have data.
static bool isReady(DataSet &data) { return data.hasInputs() && data.prepare().ok(); }

//===----------------------------------------------------------------------===//
// Saving
//===----------------------------------------------------------------------===//

Status Checkpoints::write(const std::string &folder, const proto::Manifest &about) {
  std::unique_ptr<CheckpointWriter> made;
  ZERO_RT_TRY(begin(folder, about, made));
  std::shared_ptr<CheckpointWriter> writer = std::move(made); // as long as a rank writes
  ranks.meter().begin("checkpoint");
  ZERO_RT_TRY(ranks.runBetweenSteps([writer](Ranks::Body &body, int rank) {
    return writer->writeRank(rank, body.rank(rank).getMemory().byTier(), body.meter);
  }));
  ranks.meter().end();
  return commit(*writer);
}

Status Checkpoints::commit(CheckpointWriter &writer) {
  std::string path;
  std::vector<std::string> left;
  ZERO_RT_TRY(writer.commit(path, left));
  remarks.insert(remarks.end(), left.begin(), left.end());
  return {};
}

/// Keeps others from `folder` until the session ends or saves elsewhere.
Status Checkpoints::lock(const std::string &folder) {
  return ranks.isFirst() ? FolderLock::take(folder, savesTo) : Status();
}

/// What each process has written: bytes and checksum of the file of each of its ranks.
static std::string encodeFiles(const Ranks &ranks, CheckpointWriter &writer) {
  std::string text;
  for (const auto &rank : ranks.here()) {
    const proto::Manifest::File &file = writer.file(rank->number());
    append(text, uint64_t(file.bytes()));
    append(text, uint64_t(file.crc32()));
  }
  return text;
}

static Status decodeFiles(const std::string &text, int firstRank, CheckpointWriter &writer) {
  Fields fields(text);
  for (int rank = firstRank; fields.isOk() && !fields.isAtEnd(); ++rank) {
    writer.file(rank).set_bytes(fields.number());
    writer.file(rank).set_crc32(uint32_t(fields.number()));
  }
  if (!fields.isOk())
    return fail(ZERO_RT_INTERNAL, "a process has not said what it wrote");
  return {};
}

Status Checkpoints::begin(const std::string &folder, const proto::Manifest &about,
                          std::unique_ptr<CheckpointWriter> &writer) {
  ZERO_RT_TRY(lock(folder));
  ZERO_RT_TRY(checkNoneLater(folder, position.steps, damaged));
  return CheckpointWriter::create(tables(), folder, about, writer);
}

/// Process 0 makes the generation, each writes the part of its ranks, and process 0 gives it its
/// name.
Status Checkpoints::writeWithOthers(const std::string &folder, proto::Manifest about) {
  std::vector<std::string> all;
  std::unique_ptr<CheckpointWriter> made;
  Status status = ranks.isFirst() ? begin(folder, about, made) : Status();
  ZERO_RT_TRY(
      ranks.agree("begin of a checkpoint", status, std::to_string(made ? made->token() : 0), all));
  uint64_t token = 0;
  if (!ranks.isFirst() && parseInteger(std::string_view(all.front()), token))
    status = CheckpointWriter::join(tables(), draftPath(folder, position.steps, token),
                                    std::move(about), made);
  std::shared_ptr<CheckpointWriter> writer = std::move(made); // as long as a rank writes
  ranks.meter().begin("checkpoint");
  if (status.ok())
    status = ranks.runBetweenSteps([writer](Ranks::Body &body, int rank) {
      return writer->writeRank(rank, body.rank(rank).getMemory().byTier(), body.meter);
    });
  ranks.meter().end();
  ZERO_RT_TRY(ranks.agree("files of a checkpoint", status,
                          status.ok() ? encodeFiles(ranks, *writer) : std::string(), all));
  const int each = int(ranks.here().size());
  for (size_t process = 0; process < all.size() && status.ok(); ++process)
    status = decodeFiles(all[process], int(process) * each, *writer);
  if (status.ok() && ranks.isFirst())
    status = commit(*writer);
  return ranks.agree("end of a checkpoint", status);
}

Status Checkpoints::save(const std::string &folder) {
  ZERO_RT_TRY(ranks.checkAlive());
  proto::Manifest about;
  about.set_producer("zero " ZERO_VERSION);
  about.set_step(position.steps);
  about.set_learning_rate(position.learningRate);
  if (savedData)
    *about.mutable_data() = *savedData;
  else if (isReady(*position.data))
    *about.mutable_data() = saveDataPosition(*position.data, position.batch);
  Status status =
      ranks.isOneOfMany() ? writeWithOthers(folder, std::move(about)) : write(folder, about);
  return status.ok()
             ? status
             : fail(status.getCode(), "checkpoint of step %llu: %s",
                    static_cast<unsigned long long>(position.steps), status.getMessage().c_str());
}

//===----------------------------------------------------------------------===//
// Loading
//===----------------------------------------------------------------------===//

/// Finds the position in the data at which a checkpoint continues, once there is data.
Status Checkpoints::findData() {
  if (!savedData || !position.data->hasInputs())
    return {};
  std::string text;
  ZERO_RT_TRY(findDataPosition(*savedData, *position.data, position.batch, text));
  if (!text.empty())
    remarks.push_back(text);
  savedData.reset();
  return {};
}

/// Checks everything that can be wrong with an intact checkpoint.
Status Checkpoints::planLoaded(const CheckpointReader &reader, uint32_t flags, LoadPlan &plan) {
  const proto::Manifest &manifest = reader.manifest();
  Status status = planLoad(tables(), manifest, plan, ranks.getOptions().verbose);
  uint64_t found;
  std::string text;
  if (status.ok() && manifest.has_data() && !(flags & ZERO_RT_RESTART_DATA) &&
      isReady(*position.data))
    status = findDataPosition(manifest.data(), *position.data, found, text);
  if (status.ok() && manifest.learning_rate() != position.learningRate)
    plan.remarks.push_back(format("saved with a learning rate of %g, resumed with %g",
                                  double(manifest.learning_rate()), double(position.learningRate)));
  return status.ok() ? status
                     : fail(status.getCode(), "'%s' does not fit: %s",
                            escape(reader.path()).c_str(), status.getMessage().c_str());
}

/// Resumes from the loaded checkpoint.
Status Checkpoints::adopt(const CheckpointReader &reader, const std::vector<Damage> &passed,
                          uint32_t flags, const LoadPlan &plan, zero_rt_state_result &result) {
  damaged.clear();
  for (const Damage &each : passed) {
    damaged.push_back(each.path);
    remarks.push_back(
        format("%s; '%s' is used instead", each.what.c_str(), escape(reader.path()).c_str()));
  }
  remarks.insert(remarks.end(), plan.remarks.begin(), plan.remarks.end());
  generation = reader.path();
  position.steps = reader.manifest().step();
  position.batch = 0;
  gradients.drop();
  savedData.reset();
  if (reader.manifest().has_data() && !(flags & ZERO_RT_RESTART_DATA))
    savedData = reader.manifest().data();
  if (isReady(*position.data))
    ZERO_RT_TRY(findData());
  result = {position.steps, position.batch, generation.c_str()};
  return {};
}

/// `own`: how loading went here. Processes must not go on from different states, also where one of
/// them finds none.
Status Checkpoints::checkSameState(const std::string &path, const Status &own,
                                   const zero_rt_state_result &result) {
  std::string note = "found no checkpoint";
  if (own.ok())
    note = format("resumes at step %llu, batch %llu", static_cast<unsigned long long>(result.step),
                  static_cast<unsigned long long>(result.batch));
  else if (own.getCode() != ZERO_RT_NOT_FOUND)
    note = "failed";
  std::vector<std::string> all;
  ZERO_RT_TRY(ranks.agree("state of the ranks", {}, note, all));
  for (size_t process = 0; process < all.size(); ++process)
    if (all[process] != note)
      return ranks.end(fail(ZERO_RT_ABORTED, "'%s': process %d %s, process %zu %s%s%s",
                            escape(path).c_str(), ranks.getWorld().process(), note.c_str(), process,
                            all[process].c_str(), own.ok() ? "" : ": ", own.getMessage().c_str()));
  return own;
}

Status Checkpoints::load(const std::string &path, uint32_t flags, zero_rt_state_result &result) {
  ZERO_RT_TRY(ranks.checkAlive());
  Status status = loadOwn(path, flags, result);
  return ranks.isOneOfMany() ? checkSameState(path, status, result) : status;
}

Status Checkpoints::loadOwn(const std::string &path, uint32_t flags, zero_rt_state_result &result) {
  std::shared_ptr<CheckpointReader> reader;
  std::vector<Damage> passed;
  // Each process checks all files, so that all find the same intact ones.
  const int parts = int(ranks.here().size());
  auto verify = [&](const std::shared_ptr<CheckpointReader> &tried) {
    ranks.meter().begin("checking the checkpoint");
    Status status = ranks.runBetweenSteps([tried, parts](Ranks::Body &body, int rank) {
      return tried->verify(rank % parts, parts, body.meter);
    });
    if (status.ok())
      ranks.meter().end();
    return status;
  };
  ZERO_RT_TRY(openNewest(path, verify, reader, passed));
  auto plan = std::make_shared<LoadPlan>();
  ZERO_RT_TRY(planLoaded(*reader, flags, *plan));
  ranks.meter().begin("reading the checkpoint");
  Status status = ranks.runBetweenSteps([reader, plan](Ranks::Body &body, int rank) {
    return reader->readRank(*plan, rank, body.rank(rank).getMemory().byTier(), body.meter);
  });
  ranks.meter().end();
  if (!status.ok()) { // half of the state is another's now
    return ranks.end(fail(status.getCode(), "'%s': %s", escape(reader->path()).c_str(),
                          status.getMessage().c_str()));
  }
  return adopt(*reader, passed, flags, *plan, result);
}

const char *Checkpoints::nextRemark() {
  if (remarks.empty())
    return nullptr;
  remark = std::move(remarks.front());
  remarks.pop_front();
  return remark.c_str();
}

} // namespace zero::rt
