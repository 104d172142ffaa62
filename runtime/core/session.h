//===- session.h - a program on its ranks -----------------------*- C++ -*-===//
//
// What the C interface promises (zero_rt.h), in C++.
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_CORE_SESSION_H
#define RUNTIME_CORE_SESSION_H

#include "runtime/core/rank.h"
#include "runtime/core/team.h"

#include <deque>

namespace zero::rt {

class Session {
public:
  static Status create(std::shared_ptr<const LoadedProgram> program,
                       const zero_rt_session_options &options, std::unique_ptr<Session> &session);

  Status bind(const std::string &input, Array array);
  Status setLearningRate(float rate);
  Status step(uint32_t flags, zero_rt_step_result &result);

  Status readOutput(const std::string &name, int rank, void *destination, uint64_t bytes) const;
  Status readTensor(const std::string &name, void *destination, uint64_t bytes) const;
  Status readGradient(const std::string &parameter, void *destination, uint64_t bytes) const;
  Status save(const std::string &path) const;
  Status saveGradients(const std::string &path) const;
  Status stats(int rank, zero_rt_stats &stats) const;

  /// Remarks not yet handed out; the last one handed out stays valid.
  const char *nextWarning();

private:
  /// Shared with the ranks' threads: one that never comes back keeps it alive.
  struct Body {
    std::shared_ptr<const LoadedProgram> program;
    std::unique_ptr<Device> device;
    InitialFiles files;
    std::vector<std::unique_ptr<Rank>> ranks;
    std::vector<DataSource> data; ///< by index of Program.inputs
    std::vector<std::vector<uint8_t>> gradients;
  };

  Session(std::shared_ptr<Body> body, const zero_rt_session_options &options);
  const proto::Program &tables() const { return body->program->tables(); }
  Status checkBound() const;
  Status runStep(const StepRequest &request);
  void readWhole(const proto::Tensor &tensor, void *destination) const;

  std::shared_ptr<Body> body;
  zero_rt_session_options options;
  Team team;
  std::vector<bool> bound;
  bool keptGradients = false;
  float learningRate;
  uint64_t steps = 0;
  double seconds = 0;
  Status failure; ///< of the step that ended this session
  std::deque<std::string> warnings;
  std::string warning;
};

} // namespace zero::rt

#endif // RUNTIME_CORE_SESSION_H
