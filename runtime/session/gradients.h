//===- gradients.h - gradients that a step has kept -------------*- C++ -*-===//

#ifndef RUNTIME_SESSION_GRADIENTS_H
#define RUNTIME_SESSION_GRADIENTS_H

#include "runtime/session/ranks.h"

namespace zero::rt {

/// Full gradients of the last step, if requested.
class Gradients {
public:
  using Values = std::vector<std::vector<uint8_t>>; ///< by index of Program.gradients

  /// `ranks` must outlive it.
  explicit Gradients(Ranks &ranks) : ranks(ranks), values(std::make_shared<Values>()) {}

  /// Allocates memory for the gradients of the next step, or frees it. All ranks must have arrived.
  Status keep(bool keeps);
  /// There are none any more.
  void drop() { kept = false; }
  /// The destination of a step's gradients, or nullptr. A step holds it while it copies.
  std::shared_ptr<Values> room() const { return kept ? values : nullptr; }

  Status read(const std::string &parameter, void *destination, uint64_t bytes) const;
  /// Completes gradient `index` in process 0, as all processes call it at once.
  Status gather(int index) const;
  Status save(const std::string &path) const;

private:
  const LoadedProgram &program() const { return ranks.program(); }
  const proto::Program &tables() const { return ranks.program().tables(); }

  Ranks &ranks;
  bool kept = false;
  std::shared_ptr<Values> values;
};

} // namespace zero::rt

#endif // RUNTIME_SESSION_GRADIENTS_H
