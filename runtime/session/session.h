//===- session.h - a program on its ranks -----------------------*- C++ -*-===//

#ifndef RUNTIME_SESSION_SESSION_H
#define RUNTIME_SESSION_SESSION_H

#include "runtime/session/averages.h"
#include "runtime/session/checkpoints.h"
#include "runtime/session/collect.h"
#include "runtime/session/session_weights.h"

#include <map>

struct zero_rt_evaluation;

namespace zero::rt {

/// The session of the C interface (zero_rt.h), in C++.
class Session {
public:
  static Status create(const std::shared_ptr<const LoadedProgram> &program,
                       const zero_rt_session_options &options, std::unique_ptr<Session> &session);

  /// nullptr: none. Fails when it was made for another program.
  Status setData(std::shared_ptr<DataSet> data);
  Status setLearningRate(float rate);
  Status step(uint32_t flags, zero_rt_step_result &result);
  /// Collective: runs what the last step has left to the next one, before state is used otherwise.
  Status finishStep();
  /// The same in process 0, whose requests the others answer.
  Status finishStepForReader();
  Status evaluate(std::shared_ptr<DataSet> data, uint64_t which, zero_rt_step_result &result);
  Status evaluateSamples(std::shared_ptr<DataSet> data, uint64_t first, uint64_t count,
                         ::zero_rt_evaluation &total);
  Status readOutput(const std::string &name, int rank, const ValueRange &range,
                    void *destination) const;

  SessionWeights &getWeights() { return weights; }
  Gradients &getGradients() { return gradients; }
  Averages &getAverages() { return averages; }
  Checkpoints &getCheckpoints() { return checkpoints; }

  Status stats(int rank, zero_rt_stats &stats) const;
  /// False if the program keeps nothing on disk.
  bool describeNvme(zero_rt_nvme_info &info) const;
  /// nullptr: the rank has none here.
  const char *nvmeFile(int rank) const;
  /// Lets the following steps fail at the first NaN, see NanSearch.
  Status findNan();
  Status record(uint64_t steps);
  Status recording(int rank, zero_rt_recording &recording);

  /// Answers process 0 until it calls endService().
  Status serve();
  Status endService();
  /// Whether any process gives `mine`.
  Status any(bool mine, bool &result);

private:
  explicit Session(std::unique_ptr<Ranks> ranks);
  const proto::Program &tables() const { return ranks->program().tables(); }
  Status runOnRanks(const StepRequest &request);
  Status checkData(const DataSet &data) const;
  Status checkState() const;
  Status prepareEvaluation(DataSet &data);
  Status runEvaluation(StepRequest request, zero_rt_step_result &result);
  Status answer(const Request &request);
  Status sendOutput(int index, int rank, const ValueRange &range, void *destination) const;
  zero_rt_stats statsOf(const Rank &rank) const;
  Status sendStats(int rank, zero_rt_stats &stats) const;
  Status sendRecording(int rank, zero_rt_recording &recording);
  Status run(const StepRequest &request, zero_rt_step_result &result);
  void noteSkip(const zero_rt_step_result &result);

  std::unique_ptr<Ranks> ranks;
  Position position;
  uint64_t ran = 0;        ///< steps of this session
  const bool delays;       ///< steps leave commands to the next one
  bool unfinished = false; ///< the last step has
  double seconds = 0;
  SessionWeights weights;
  Gradients gradients;
  Averages averages;
  Checkpoints checkpoints;
  /// A recording of a rank of another process.
  struct Copy {
    std::vector<zero_rt_recorded_step> steps;
    std::vector<zero_rt_event> events;
  };
  std::map<int, Copy> recordings; ///< by rank
};

} // namespace zero::rt

#endif // RUNTIME_SESSION_SESSION_H
