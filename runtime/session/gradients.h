//===- gradients.h - gradients that a step has kept -------------*- C++ -*-===//

#ifndef RUNTIME_SESSION_GRADIENTS_H
#define RUNTIME_SESSION_GRADIENTS_H

#include "runtime/session/ranks.h"
#include "runtime/session/values.h"

namespace zero::rt {

/// Gradients of the last step, if requested. A file has what the ranks of this process have of
/// them: in memory, they would take as much as the parameters, beside the certificate.
class Gradients {
public:
  /// `ranks` must outlive it.
  explicit Gradients(Ranks &ranks) : ranks(ranks) {}

  /// Makes `request` keep the gradients of the next step, or not.
  Status keep(bool keeps, StepRequest &request);
  /// There are none any more.
  void drop() { file.reset(); }

  Status read(const std::string &parameter, const ValueRange &range, void *destination) const;
  /// The same of gradient `index`, as all processes call it at once; `destination` is of process 0.
  Status collect(int index, const ValueRange &range, void *destination) const;
  Status save(const std::string &path) const;

private:
  Status checkKept() const;
  uint64_t bytesOf(int index) const;
  const LoadedProgram &program() const { return ranks.program(); }
  const proto::Program &tables() const { return ranks.program().tables(); }

  Ranks &ranks;
  std::shared_ptr<ScratchFile> file; ///< null: none are kept
  std::vector<uint64_t> begins;      ///< of each gradient in the file
};

} // namespace zero::rt

#endif // RUNTIME_SESSION_GRADIENTS_H
