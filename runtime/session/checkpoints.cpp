//===- checkpoints.cpp - checkpoints of a session -------------------------===//

#include "runtime/session/checkpoints.h"

#include "runtime/checkpoint/data_position.h"
#include "runtime/checkpoint/writer.h"

namespace zero::rt {

/// Whether all inputs have data.
static bool isReady(DataSet &data) { return data.hasInputs() && data.prepare().ok(); }

//===----------------------------------------------------------------------===//
// Saving
//===----------------------------------------------------------------------===//

Status Checkpoints::write(const std::string &folder, proto::Manifest about) {
  ZERO_RT_TRY(lock(folder));
  ZERO_RT_TRY(checkNoneLater(folder, position.steps, damaged));
  std::unique_ptr<CheckpointWriter> made;
  ZERO_RT_TRY(CheckpointWriter::create(tables(), folder, std::move(about), made));
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
  return ranks.getOptions().rank > 0 ? Status() : FolderLock::take(folder, savesTo);
}

/// Rank 0 makes the generation, each writes its part, and rank 0 gives it its name.
Status Checkpoints::writeWithOthers(const std::string &folder, proto::Manifest about) {
  std::vector<Note> all;
  std::unique_ptr<CheckpointWriter> made;
  const bool first = ranks.getOptions().rank == 0;
  Status status;
  if (first)
    status = lock(folder);
  if (first && status.ok())
    status = checkNoneLater(folder, position.steps, damaged);
  if (first && status.ok())
    status = CheckpointWriter::create(tables(), folder, about, made);
  ZERO_RT_TRY(ranks.agree(status, {0, {made ? int64_t(made->token()) : 0}}, all));
  if (!first)
    status = CheckpointWriter::join(tables(),
                                    draftPath(folder, position.steps, uint64_t(all[0].values[0])),
                                    std::move(about), made);
  std::shared_ptr<CheckpointWriter> writer = std::move(made); // as long as a rank writes
  ranks.meter().begin("checkpoint");
  if (status.ok())
    status = ranks.runBetweenSteps([writer](Ranks::Body &body, int rank) {
      return writer->writeRank(rank, body.rank(rank).getMemory().byTier(), body.meter);
    });
  ranks.meter().end();
  Note written;
  if (status.ok())
    written = {0,
               {int64_t(writer->file(ranks.getOptions().rank).bytes()),
                writer->file(ranks.getOptions().rank).crc32()}};
  ZERO_RT_TRY(ranks.agree(status, written, all));
  for (size_t rank = 0; rank < all.size(); ++rank) {
    writer->file(int(rank)).set_bytes(uint64_t(all[rank].values[0]));
    writer->file(int(rank)).set_crc32(uint32_t(all[rank].values[1]));
  }
  if (first)
    status = commit(*writer);
  return ranks.agree(status, {}, all);
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
  Status status = ranks.isOneOfMany() ? writeWithOthers(folder, std::move(about))
                                      : write(folder, std::move(about));
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

/// `own`: how loading went here. Ranks must not go on from different states, also where
/// one of them finds none.
Status Checkpoints::checkSameState(const std::string &path, const Status &own,
                                   const zero_rt_state_result &result) {
  Note note{own.getCode(), {}};
  if (own.ok())
    note = {ZERO_RT_OK, {int64_t(result.step), int64_t(result.batch)}};
  std::vector<Note> all;
  ZERO_RT_TRY(ranks.exchange(note, all));
  for (size_t rank = 0; rank < all.size(); ++rank) {
    if (all[rank] == note)
      continue;
    auto text = [](const Note &each) {
      return each.code == ZERO_RT_OK
                 ? "resumes at step " + std::to_string(each.values[0])
                 : std::string(each.code == ZERO_RT_NOT_FOUND ? "found no checkpoint" : "failed");
    };
    return ranks.end(fail(ZERO_RT_ABORTED, "'%s': rank %d %s, rank %zu %s%s%s",
                          escape(path).c_str(), ranks.getOptions().rank, text(note).c_str(), rank,
                          text(all[rank]).c_str(), own.ok() ? "" : ": ", own.getMessage().c_str()));
  }
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
  // If there are many ranks, one of them checks all files, so that all ranks find the same intact
  // ones.
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
