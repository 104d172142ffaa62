//===- session_state.cpp - checkpoints of a session -----------------------===//

#include "runtime/checkpoint/data_position.h"
#include "runtime/checkpoint/writer.h"
#include "runtime/session/session.h"

namespace zero::rt {

/// Runs `job` on every rank's thread. A thread that does not come back ends the session.
Status Session::runOnRanks(std::function<Status(Body &, int)> job) {
  Status status = team.run([body = body, job](int rank) { return job(*body, rank); });
  if (team.isLost())
    failure = status = Status(ZERO_RT_ABORTED, status.getMessage());
  return status;
}

/// Whether all inputs have data.
static bool isReady(DataSet &data) { return data.hasInputs() && data.prepare().ok(); }

//===----------------------------------------------------------------------===//
// Saving
//===----------------------------------------------------------------------===//

Status Session::writeState(const std::string &folder, proto::Manifest about) {
  ZERO_RT_TRY(lockState(folder));
  ZERO_RT_TRY(checkNoneLater(folder, steps, damaged));
  std::unique_ptr<CheckpointWriter> made;
  ZERO_RT_TRY(CheckpointWriter::create(tables(), folder, std::move(about), made));
  std::shared_ptr<CheckpointWriter> writer = std::move(made); // as long as a rank writes
  body->meter.begin("checkpoint");
  ZERO_RT_TRY(runOnRanks([writer](Body &body, int rank) {
    return writer->writeRank(rank, body.rank(rank).getMemory().byTier(), body.meter);
  }));
  body->meter.end();
  return commitState(*writer);
}

Status Session::commitState(CheckpointWriter &writer) {
  std::string path;
  std::vector<std::string> left;
  ZERO_RT_TRY(writer.commit(path, left));
  remarks.insert(remarks.end(), left.begin(), left.end());
  return {};
}

/// Keeps others from `folder` until the session ends or saves elsewhere.
Status Session::lockState(const std::string &folder) {
  return options.rank > 0 ? Status() : FolderLock::take(folder, savesTo);
}

Status Session::saveState(const std::string &folder) {
  ZERO_RT_TRY(checkAlive());
  proto::Manifest about;
  about.set_producer("zero " ZERO_VERSION);
  about.set_step(steps);
  about.set_learning_rate(learningRate);
  if (savedData)
    *about.mutable_data() = *savedData;
  else if (isReady(*body->data))
    *about.mutable_data() = saveDataPosition(*body->data, batch);
  Status status = isOneOfMany() ? writeStateWithOthers(folder, std::move(about))
                                : writeState(folder, std::move(about));
  return status.ok() ? status
                     : fail(status.getCode(), "checkpoint of step %llu: %s",
                            static_cast<unsigned long long>(steps), status.getMessage().c_str());
}

//===----------------------------------------------------------------------===//
// Loading
//===----------------------------------------------------------------------===//

/// Finds the place in the data at which a checkpoint goes on, once there is data.
Status Session::findData() {
  if (!savedData || !body->data->hasInputs())
    return {};
  std::string text;
  ZERO_RT_TRY(findDataPosition(*savedData, *body->data, batch, text));
  if (!text.empty())
    remarks.push_back(text);
  savedData.reset();
  return {};
}

/// Everything that can be wrong with a whole checkpoint.
Status Session::planState(const CheckpointReader &reader, uint32_t flags, LoadPlan &plan) {
  const proto::Manifest &manifest = reader.manifest();
  Status status = planLoad(tables(), manifest, plan, options.verbose);
  uint64_t found;
  std::string text;
  if (status.ok() && manifest.has_data() && !(flags & ZERO_RT_RESTART_DATA) && isReady(*body->data))
    status = findDataPosition(manifest.data(), *body->data, found, text);
  if (status.ok() && manifest.learning_rate() != learningRate)
    plan.remarks.push_back(format("saved with a learning rate of %g, resumed with %g",
                                  double(manifest.learning_rate()), double(learningRate)));
  return status.ok() ? status
                     : fail(status.getCode(), "'%s' does not fit: %s",
                            escape(reader.path()).c_str(), status.getMessage().c_str());
}

/// Goes on from what was loaded.
Status Session::adopt(const CheckpointReader &reader, const std::vector<Damage> &passed,
                      uint32_t flags, const LoadPlan &plan, zero_rt_state_result &result) {
  damaged.clear();
  for (const Damage &each : passed) {
    damaged.push_back(each.path);
    remarks.push_back(
        format("%s; '%s' is taken", each.what.c_str(), escape(reader.path()).c_str()));
  }
  remarks.insert(remarks.end(), plan.remarks.begin(), plan.remarks.end());
  generation = reader.path();
  steps = reader.manifest().step();
  batch = 0;
  keptGradients = false;
  savedData.reset();
  if (reader.manifest().has_data() && !(flags & ZERO_RT_RESTART_DATA))
    savedData = reader.manifest().data();
  if (isReady(*body->data))
    ZERO_RT_TRY(findData());
  result = {steps, batch, generation.c_str()};
  return {};
}

Status Session::loadState(const std::string &path, uint32_t flags, zero_rt_state_result &result) {
  ZERO_RT_TRY(checkAlive());
  Status status = loadOwnState(path, flags, result);
  return isOneOfMany() ? checkSameState(path, status, result) : status;
}

Status Session::loadOwnState(const std::string &path, uint32_t flags,
                             zero_rt_state_result &result) {
  std::shared_ptr<CheckpointReader> reader;
  std::vector<Damage> passed;
  // One rank of many checks all files, so that each finds the same ones whole.
  const int parts = int(body->ranks.size());
  auto verify = [&](std::shared_ptr<CheckpointReader> tried) {
    body->meter.begin("checking the checkpoint");
    Status status = runOnRanks([tried, parts](Body &body, int rank) {
      return tried->verify(rank % parts, parts, body.meter);
    });
    if (status.ok())
      body->meter.end();
    return status;
  };
  ZERO_RT_TRY(openNewest(path, verify, reader, passed));
  auto plan = std::make_shared<LoadPlan>();
  ZERO_RT_TRY(planState(*reader, flags, *plan));
  body->meter.begin("reading the checkpoint");
  Status status = runOnRanks([reader, plan](Body &body, int rank) {
    return reader->readRank(*plan, rank, body.rank(rank).getMemory().byTier(), body.meter);
  });
  body->meter.end();
  if (!status.ok()) { // half of the state is another's now
    failure = fail(status.getCode(), "'%s': %s", escape(reader->path()).c_str(),
                   status.getMessage().c_str());
    return failure;
  }
  return adopt(*reader, passed, flags, *plan, result);
}

const char *Session::nextRemark() {
  if (remarks.empty())
    return nullptr;
  remark = std::move(remarks.front());
  remarks.pop_front();
  return remark.c_str();
}

} // namespace zero::rt
