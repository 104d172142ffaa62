//===- session.h - a program on its ranks -----------------------*- C++ -*-===//
//
// What the C interface promises (zero_rt.h), in C++.
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_SESSION_SESSION_H
#define RUNTIME_SESSION_SESSION_H

#include "runtime/checkpoint/reader.h"
#include "runtime/execute/rank.h"
#include "runtime/execute/team.h"

#include <deque>

namespace zero::rt {

/// Whether the numbers in `options` can be served.
Status checkOptions(const zero_rt_session_options &options);

class CheckpointWriter;

class Session {
public:
  static Status create(std::shared_ptr<const LoadedProgram> program,
                       const zero_rt_session_options &options, std::unique_ptr<Session> &session);

  /// nullptr: none. Fails when it was made for another program.
  Status setData(std::shared_ptr<DataSet> data);
  Status setLearningRate(float rate);
  Status step(uint32_t flags, zero_rt_step_result &result);
  Status evaluate(std::shared_ptr<DataSet> data, uint64_t which, zero_rt_step_result &result);

  Status readOutput(const std::string &name, int rank, void *destination, uint64_t bytes) const;
  Status readTensor(const std::string &name, void *destination, uint64_t bytes) const;
  Status readGradient(const std::string &parameter, void *destination, uint64_t bytes) const;
  Status load(const std::string &path, bool partial, zero_rt_load_result &result);
  Status save(const std::string &path) const;
  Status saveGradients(const std::string &path) const;
  Status saveState(const std::string &folder);
  Status loadState(const std::string &path, uint32_t flags, zero_rt_state_result &result);
  const char *nextRemark();
  Status stats(int rank, zero_rt_stats &stats) const;
  bool describeNvme(zero_rt_nvme_info &info) const;
  const char *nvmeFile(int rank) const;
  Status record(uint64_t steps);
  Status recording(int rank, zero_rt_recording &recording) const;

private:
  /// Shared with the ranks' threads: one that never comes back keeps it alive.
  struct Body {
    explicit Body(const zero_rt_session_options &options)
        : meter(options.progress, options.progress_context) {}
    ~Body() {
      for (const auto &rank : ranks) // one may still read another's memory
        rank->settle();
    }
    std::shared_ptr<const LoadedProgram> program;
    std::unique_ptr<Device> device;
    InitialFiles files;
    /// Those of this process: all, or one.
    std::vector<std::unique_ptr<Rank>> ranks;
    Rank &rank(int number) { return *ranks[size_t(number - ranks.front()->number())]; }
    std::shared_ptr<DataSet> data;
    std::vector<std::vector<uint8_t>> gradients;
    Meter meter;
  };

  Session(std::shared_ptr<Body> body, const zero_rt_session_options &options);
  const proto::Program &tables() const { return body->program->tables(); }
  Status checkAlive() const;
  /// Whether the other ranks are in other processes.
  bool isOneOfMany() const { return options.rank >= 0; }
  Status checkRank(int rank) const;
  Status checkHasAll(const char *what) const;
  Status checkData(const DataSet &data) const;
  Status run(const StepRequest &request, zero_rt_step_result &result);
  Status runOnRanks(std::function<Status(Body &, int)> job);
  Status exchange(const Note &own, std::vector<Note> &all);
  Status agree(const Status &own, Note note, std::vector<Note> &all);
  Status checkSameProgram();
  Status writeState(const std::string &folder, proto::Manifest about);
  Status writeStateWithOthers(const std::string &folder, proto::Manifest about);
  Status loadOwnState(const std::string &path, uint32_t flags, zero_rt_state_result &result);
  Status checkSameState(const std::string &path, const Status &own,
                        const zero_rt_state_result &result);
  Status lockState(const std::string &folder);
  Status commitState(CheckpointWriter &writer);
  Status findData();
  Status adopt(const CheckpointReader &reader, const std::vector<Damage> &passed, uint32_t flags,
               const LoadPlan &plan, zero_rt_state_result &result);
  Status planState(const CheckpointReader &reader, uint32_t flags, LoadPlan &plan);
  Status writeWhole(const proto::Tensor &tensor, DType dtype, const void *values);
  Status readWhole(const proto::Tensor &tensor, void *destination) const;

  std::shared_ptr<Body> body;
  zero_rt_session_options options;
  Team team;
  bool keptGradients = false;
  float learningRate;
  uint64_t steps = 0; ///< done, those before a checkpoint was loaded included
  uint64_t batch = 0; ///< of the data, that the next step reads
  uint64_t ran = 0;   ///< steps of this session
  double seconds = 0;
  /// Where a checkpoint's data goes on, until there is data to find it in.
  std::optional<proto::Manifest::Data> savedData;
  std::shared_ptr<FolderLock> savesTo;
  std::string generation;           ///< that was loaded
  std::vector<std::string> damaged; ///< generations that could not be
  std::deque<std::string> remarks;
  std::string remark;
  Status failure; ///< of the step that ended this session
};

} // namespace zero::rt

#endif // RUNTIME_SESSION_SESSION_H
