//===- checkpoints.h - checkpoints of a session -----------------*- C++ -*-===//

#ifndef RUNTIME_SESSION_CHECKPOINTS_H
#define RUNTIME_SESSION_CHECKPOINTS_H

#include "runtime/session/checkpoint_search.h"
#include "runtime/session/gradients.h"
#include "runtime/session/saving.h"

#include <deque>

namespace zero::rt {

/// The position of a session in its training.
struct Position {
  uint64_t steps = 0; ///< done, those before a checkpoint was loaded included
  uint64_t batch = 0; ///< of the data, that the next step reads
  float learningRate = 0;
  std::shared_ptr<DataSet> data;
};

/// Saves all of a session's state, and resumes from saved state.
class Checkpoints {
public:
  /// All of these must outlive it. Loading moves `position` and drops `gradients`.
  Checkpoints(Ranks &ranks, Position &position, Gradients &gradients)
      : ranks(ranks), position(position), gradients(gradients) {}
  /// Completes what startSave() has begun, unless that takes other processes.
  ~Checkpoints();

  Status save(const std::string &folder);
  /// Copies the state to host memory. It is written beside the next steps, which advance() does not
  /// wait for.
  Status startSave(const std::string &folder);
  /// Collective, between steps: continues what startSave() has begun, if anything. `waits`: until
  /// it is complete. Fails if it could not be written; then nothing of it is left.
  Status advance(bool waits);
  Status load(const std::string &path, uint32_t flags, zero_rt_state_result &result);
  bool isLoaded() const { return !generation.empty(); }
  /// Finds the position in the data at which the loaded checkpoint continues, once there is data.
  Status findData();
  /// Returns each further remark once; nullptr if there is none. Valid until the next call.
  const char *nextRemark();
  /// Adds a remark.
  void remark(std::string text) { remarks.push_back(std::move(text)); }

private:
  SavingNodes findNodes() const;
  int maker() const;
  bool isMaker() const;
  std::string nameOf(size_t process) const;
  Status create(const std::string &folder, const proto::Manifest &about,
                std::unique_ptr<CheckpointWriter> &writer);
  Status checkApart(const std::string &folder, const std::vector<std::string> &tokens) const;
  Status begin(const std::string &folder, const proto::Manifest &about,
               std::unique_ptr<CheckpointWriter> &writer);
  proto::Manifest describe();
  Status write(const std::string &folder);
  Status copy(const std::string &folder);
  Status waitForEarlier();
  void adoptSaved(const Saving &complete);
  Status loadOwn(const std::string &path, uint32_t flags, zero_rt_state_result &result);
  Status checkSameState(const std::string &path, const Status &own,
                        const zero_rt_state_result &result);
  Status takeAlgorithms();
  Status planLoaded(const CheckpointReader &reader, uint32_t flags, LoadPlan &plan);
  Status adopt(const CheckpointReader &reader, const std::vector<Damage> &passed, uint32_t flags,
               const LoadPlan &plan, zero_rt_state_result &result);
  const proto::Program &tables() const { return ranks.program().tables(); }

  Ranks &ranks;
  Position &position;
  Gradients &gradients;
  const SavingNodes nodes = findNodes();
  /// The position in a checkpoint's data, until there is data in which to find it.
  std::optional<proto::Manifest::Data> savedData;
  std::string savedAlgorithms; ///< of products on GPUs, in the loaded checkpoint
  std::shared_ptr<FolderLock> savesTo;
  /// Of the ranks that are here; shared with their threads.
  std::shared_ptr<std::vector<StateCopy>> copies = std::make_shared<std::vector<StateCopy>>();
  std::unique_ptr<Saving> saving;
  uint64_t savingStep = 0;
  bool hasWaited = false;           ///< for an earlier one
  std::string generation;           ///< that was loaded
  std::vector<std::string> damaged; ///< generations that could not be
  std::deque<std::string> remarks;
  std::string current; ///< that nextRemark() has returned
};

} // namespace zero::rt

#endif // RUNTIME_SESSION_CHECKPOINTS_H
