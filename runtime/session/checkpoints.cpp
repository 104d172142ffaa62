//===- checkpoints.cpp - checkpoints of a session -------------------------===//

#include "runtime/session/checkpoints.h"

#include "runtime/checkpoint/data_position.h"
#include "runtime/processes/fields.h"
#include "runtime/support/checked.h"

#include <chrono>
#include <filesystem>

namespace zero::rt {

static bool exists(const std::string &path) {
  std::error_code ignored;
  return std::filesystem::exists(path, ignored);
}

/// Whether all inputs have data.
static bool isReady(DataSet &data) { return data.hasInputs() && data.prepare().ok(); }

//===----------------------------------------------------------------------===//
// Saving
//===----------------------------------------------------------------------===//

/// The nodes that have folders of their own. On one node there is only one folder.
SavingNodes Checkpoints::findNodes() const {
  if (!ranks.getOptions().local_state || !ranks.isOneOfMany() || ranks.getWorld().nodes() == 1)
    return {};
  const World &world = ranks.getWorld();
  SavingNodes found;
  for (int rank = 0; rank < int(tables().ranks()); ++rank)
    found.ofRank.push_back(world.getProcesses()[size_t(ranks.processOf(rank))].node);
  for (const int leader : world.leaders())
    found.hosts.push_back(world.getProcesses()[size_t(leader)].host);
  found.own = world.node();
  return found;
}

/// The process that makes the draft which this one writes into: process 0, or the first of the
/// node.
int Checkpoints::maker() const {
  return nodes.ofRank.empty() ? 0 : ranks.getWorld().leaders()[size_t(nodes.own)];
}

bool Checkpoints::isMaker() const {
  return !ranks.isOneOfMany() || ranks.getWorld().process() == maker();
}

Status Checkpoints::create(const std::string &folder, const proto::Manifest &about,
                           std::unique_ptr<CheckpointWriter> &writer) {
  // Keeps others from the folder until the session ends or saves elsewhere.
  ZERO_RT_TRY(FolderLock::take(folder, savesTo));
  ZERO_RT_TRY(checkNoneLater(folder, position.steps, damaged));
  return CheckpointWriter::create(tables(), folder, about, nodes, writer);
}

/// Fails if the draft of another node is here, too: one of both would replace the other.
Status Checkpoints::checkApart(const std::string &folder,
                               const std::vector<std::string> &tokens) const {
  for (size_t process = 0; process < tokens.size(); ++process) {
    uint64_t token = 0;
    if (parseInteger(std::string_view(tokens[process]), token) && token != 0 &&
        int(process) != maker() && exists(draftPath(folder, position.steps, token)))
      return fail(ZERO_RT_INVALID_ARGUMENT,
                  "'%s' is shared with host '%s': with local state each node needs a folder of its "
                  "own",
                  escape(folder).c_str(),
                  escape(ranks.getWorld().getProcesses()[process].host).c_str());
  }
  return {};
}

/// Process 0, or the first process of each node, makes the draft. The others join it.
Status Checkpoints::begin(const std::string &folder, const proto::Manifest &about,
                          std::unique_ptr<CheckpointWriter> &writer) {
  Status status = isMaker() ? create(folder, about, writer) : Status();
  std::vector<std::string> tokens;
  ZERO_RT_TRY(ranks.agree("begin of a checkpoint", status,
                          std::to_string(writer ? writer->token() : 0), tokens));
  uint64_t token = 0;
  if (isMaker())
    status = checkApart(folder, tokens);
  else if (parseInteger(std::string_view(tokens[size_t(maker())]), token))
    status = CheckpointWriter::join(tables(), draftPath(folder, position.steps, token), about,
                                    nodes, writer);
  return ranks.agree("drafts of a checkpoint", status);
}

/// "on host 'b': ", of another process.
std::string Checkpoints::nameOf(size_t process) const {
  if (process == 0)
    return {};
  return format("on host '%s': ", escape(ranks.getWorld().getProcesses()[process].host).c_str());
}

/// Forgets damaged generations that were replaced, and remarks on what is left of older ones.
void Checkpoints::adoptSaved(const Saving &complete) {
  std::erase_if(damaged,
                [&](const std::string &each) { return isSameFile(each, complete.getPath()); });
  for (size_t process = 0; process < complete.getNotes().size() && ranks.isFirst(); ++process)
    for (Fields fields(complete.getNotes()[process]); fields.isOk() && !fields.isAtEnd();)
      remarks.push_back(nameOf(process) + std::string(fields.text()));
}

/// The fields of the manifest that are not tensors.
proto::Manifest Checkpoints::describe() {
  proto::Manifest about;
  about.set_producer("zero " ZERO_VERSION);
  about.set_step(position.steps);
  about.set_learning_rate(position.learningRate);
  if (std::string text = ranks.getDevice().algorithms(tables()); !text.empty())
    about.set_gpu_algorithms(std::move(text));
  if (savedData)
    *about.mutable_data() = *savedData;
  else if (isReady(*position.data))
    *about.mutable_data() = saveDataPosition(*position.data, position.batch);
  return about;
}

Status Checkpoints::write(const std::string &folder) {
  std::unique_ptr<CheckpointWriter> made;
  ZERO_RT_TRY(begin(folder, describe(), made));
  std::shared_ptr<CheckpointWriter> writer = std::move(made); // as long as a rank writes
  Saving complete(ranks, writer, isMaker(), nodes.ofRank.empty(), damaged);
  ZERO_RT_TRY(complete.run([&] {
    ranks.meter().begin("checkpoint");
    Status status = ranks.runBetweenSteps([writer](Ranks::Body &body, int rank) {
      return writer->writeRank(rank, body.rank(rank).getMemory().byTier(), body.meter);
    });
    ranks.meter().end();
    return status;
  }));
  adoptSaved(complete);
  return {};
}

/// Copies the state, and lets it be written.
Status Checkpoints::copy(const std::string &folder) {
  std::unique_ptr<CheckpointWriter> made;
  ZERO_RT_TRY(begin(folder, describe(), made));
  std::shared_ptr<CheckpointWriter> writer = std::move(made);
  const int first = ranks.here().front()->number(), count = int(ranks.here().size());
  copies->resize(size_t(count));
  const Status copied =
      ranks.runBetweenSteps([writer, copies = copies, first](Ranks::Body &body, int rank) {
        return writer->copyRank(rank, body.rank(rank).getMemory().byTier(),
                                (*copies)[size_t(rank - first)]);
      });
  ZERO_RT_TRY(ranks.agree("copies of a checkpoint", copied));
  saving = std::make_unique<Saving>(ranks, writer, isMaker(), nodes.ofRank.empty(), damaged);
  savingStep = position.steps;
  return saving->start([writer, copies = copies, first, count] {
    Meter unused;
    Status status;
    for (int rank = 0; rank < count && status.ok(); ++rank)
      status = writer->writeRank(first + rank, (*copies)[size_t(rank)], unused);
    return status;
  });
}

static Status ofStep(uint64_t step, const Status &status) {
  return status.ok() ? status
                     : fail(status.getCode(), "checkpoint of step %llu: %s",
                            static_cast<unsigned long long>(step), status.getMessage().c_str());
}

Status Checkpoints::save(const std::string &folder) {
  ZERO_RT_TRY(ranks.checkAlive());
  ZERO_RT_TRY(advance(/*waits=*/true));
  return ofStep(position.steps, write(folder));
}

/// Remarks on it the first time that it takes long.
Status Checkpoints::waitForEarlier() {
  constexpr double kLong = 5; // seconds
  const auto begin = std::chrono::steady_clock::now();
  const uint64_t step = savingStep;
  ZERO_RT_TRY(advance(/*waits=*/true));
  const std::chrono::duration<double> waited = std::chrono::steady_clock::now() - begin;
  if (waited.count() > kLong && !hasWaited)
    remarks.push_back(format("the checkpoint of step %llu waited %.1f s for that of step %llu, "
                             "which takes longer to write than the steps between them",
                             static_cast<unsigned long long>(position.steps), waited.count(),
                             static_cast<unsigned long long>(step)));
  hasWaited |= waited.count() > kLong;
  return {};
}

Status Checkpoints::startSave(const std::string &folder) {
  ZERO_RT_TRY(ranks.checkAlive());
  ZERO_RT_TRY(waitForEarlier());
  const Status status = copy(folder);
  if (!status.ok())
    saving.reset();
  return ofStep(position.steps, status);
}

Status Checkpoints::advance(bool waits) {
  if (!saving)
    return {};
  const Status status = saving->advance(waits);
  if (status.ok() && !saving->isComplete())
    return {};
  if (status.ok())
    adoptSaved(*saving);
  saving.reset();
  return ofStep(savingStep, status);
}

Checkpoints::~Checkpoints() {
  if (!ranks.isOneOfMany())
    (void)advance(/*waits=*/true);
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
  savedAlgorithms = reader.manifest().gpu_algorithms();
  gradients.drop();
  savedData.reset();
  if (reader.manifest().has_data() && !(flags & ZERO_RT_RESTART_DATA))
    savedData = reader.manifest().data();
  if (isReady(*position.data))
    ZERO_RT_TRY(findData());
  result = {position.steps, position.batch, generation.c_str()};
  return {};
}

/// Lets products run the algorithms that the checkpoint's run used, if all processes can and the
/// first one has no file of its own; else remarks on it.
Status Checkpoints::takeAlgorithms() {
  if (savedAlgorithms.empty() || tables().target() != proto::CUDA)
    return {};
  const std::string source = "the checkpoint", keeps = "keeps its own";
  const Status usable =
      ranks.getDevice().useAlgorithms(tables(), savedAlgorithms, source, /*onlyChecks=*/true);
  const bool isAsked = ranks.isFirst() && !ranks.takesAlgorithms();
  std::vector<std::string> all;
  ZERO_RT_TRY(
      ranks.agree("algorithms of a checkpoint", {}, isAsked ? keeps : usable.getMessage(), all));
  if (all.front() == keeps)
    return {};
  for (const std::string &why : all)
    if (!why.empty()) {
      remarks.push_back("matrix products run other algorithms than before the checkpoint, whose "
                        "sums may differ by rounding: " +
                        why);
      return {};
    }
  ZERO_RT_TRY(
      ranks.getDevice().useAlgorithms(tables(), savedAlgorithms, source, /*onlyChecks=*/false));
  for (const auto &rank : ranks.here())
    rank->dropGraphs();
  return {};
}

/// `own`: how loading went here. Processes must not go on from different states.
Status Checkpoints::checkSameState(const std::string &path, const Status &own,
                                   const zero_rt_state_result &result) {
  std::string note = "failed";
  if (own.ok())
    note = format("resumes at step %llu, batch %llu", static_cast<unsigned long long>(result.step),
                  static_cast<unsigned long long>(result.batch));
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
  ZERO_RT_TRY(advance(/*waits=*/true));
  const Status status = loadOwn(path, flags, result);
  ZERO_RT_TRY(ranks.isOneOfMany() ? checkSameState(path, status, result) : status);
  return takeAlgorithms();
}

Status Checkpoints::loadOwn(const std::string &path, uint32_t flags, zero_rt_state_result &result) {
  std::shared_ptr<CheckpointReader> reader;
  std::vector<Damage> passed;
  std::shared_ptr<LoadPlan> plan;
  Status planned;
  const int first = ranks.here().front()->number(), parts = int(ranks.here().size());
  // Each process checks the files that its ranks read.
  auto verify = [&](const std::shared_ptr<CheckpointReader> &tried) {
    plan = std::make_shared<LoadPlan>();
    planned = planLoaded(*tried, flags, *plan);
    if (!planned.ok())
      return Status(); // what does not fit need not be intact
    const std::vector<uint32_t> needed = filesOf(*plan, first, parts);
    ranks.meter().begin("checking the checkpoint");
    Status status =
        ranks.runBetweenSteps([tried, needed, first, parts](Ranks::Body &body, int rank) {
          return tried->verify(needed, rank - first, parts, body.meter);
        });
    if (status.ok())
      ranks.meter().end();
    return status;
  };
  const Gather gather = [&](const Status &own, const std::string &note,
                            std::vector<std::string> &all) {
    return ranks.agree("search of a checkpoint", own, note, all);
  };
  ZERO_RT_TRY(openNewest(path, gather, verify, reader, passed));
  ZERO_RT_TRY(planned);
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
  current = std::move(remarks.front());
  remarks.pop_front();
  return current.c_str();
}

} // namespace zero::rt
