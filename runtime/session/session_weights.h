//===- session_weights.h - load and save weights of a session ---*- C++ -*-===//

#ifndef RUNTIME_SESSION_SESSION_WEIGHTS_H
#define RUNTIME_SESSION_SESSION_WEIGHTS_H

#include "runtime/execute/state.h"
#include "runtime/io/weights_file.h"
#include "runtime/session/ranks.h"
#include "runtime/session/values.h"

#include <set>

namespace zero::rt {

struct WeightsPlan;

/// Full values of a program's tensors, which can be read, replaced by those of a file, and written
/// to one.
class SessionWeights {
public:
  /// `ranks` must outlive it.
  explicit SessionWeights(Ranks &ranks);

  /// Fails, naming them, if there are tensors that neither the model nor a file has given a value.
  Status checkGiven() const;

  Status read(const std::string &name, const ValueRange &range, void *destination) const;
  /// The same of tensor `index`, as all processes call it at once; `destination` is of process 0.
  Status collect(int index, const ValueRange &range, void *destination) const;
  /// Takes the values of the file at `path`; `partial` as in planWeights().
  Status load(const std::string &path, bool partial, zero_rt_load_result &result);
  /// The same from memory, which is read during the call only.
  Status load(WeightsFile::Arrays arrays, bool partial, zero_rt_load_result &result);
  /// The tensors that only the file of the last load() has, once; nullptr if there are none. Valid
  /// until the next call.
  const char *nextRemark();
  /// Writes all that is saved to `path`, in the format that its name says.
  Status save(const std::string &path) const;

private:
  Status take(const WeightsFile &file, const std::string &who, bool partial,
              zero_rt_load_result &result);
  Status takeNorms(const WeightsPlan &plan);
  Status writeWhole(const proto::Tensor &tensor, const MakeElements &make);
  Status readStored(int index, const ValueRange &range, void *destination) const;
  Status decode(int index, uint64_t begin, uint64_t count, std::vector<float> &elements) const;
  int indexOf(const std::string &name) const;
  const LoadedProgram &program() const { return ranks.program(); }
  const proto::Program &tables() const { return ranks.program().tables(); }

  Ranks &ranks;
  std::set<std::string> awaited; ///< tensors without an initial value
  std::string next, remark;      ///< to be returned, and that was
};

} // namespace zero::rt

#endif // RUNTIME_SESSION_SESSION_WEIGHTS_H
