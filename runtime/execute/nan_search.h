//===- nan_search.h - the first command that writes NaN ---------*- C++ -*-===//

#ifndef RUNTIME_EXECUTE_NAN_SEARCH_H
#define RUNTIME_EXECUTE_NAN_SEARCH_H

#include "runtime/execute/step_observer.h"

namespace zero::rt {

/// Reads what each launch of a rank has written, and ends the step at the first NaN. The error
/// names the command and says whether its arguments had NaN or infinity before. Of a program whose
/// arenas the host can read.
class NanSearch : public StepObserver {
public:
  /// `program` must outlive it and have passed validate().
  NanSearch(const proto::Program &program, int rank);

  bool begin(uint64_t, Mode) override { return true; }
  Status beforeCommand(const CommandRun &run) override;
  Status after() override;

private:
  /// An argument of a launch that has floats.
  struct Floats {
    int argument;
    DType dtype;
    const void *values;
    uint64_t count;
    bool isRead, isWritten;

    /// The first that is NaN, or, unless `onlyNan`, infinite; `count` if there is none.
    uint64_t find(bool onlyNan) const;
  };

  std::vector<Floats> floatsOf(const CommandRun &run) const;
  Status describe(const Floats &result, uint64_t element) const;

  const proto::Program &program;
  int rank;
  std::vector<const proto::Command *> commands; ///< by index
  std::vector<std::vector<DType>> types;        ///< of the arguments of each kernel
  CommandRun current;                           ///< its command is null: none is watched
  std::vector<Floats> floats;                   ///< of `current`
  std::vector<std::string> bad;                 ///< what of them was not finite before it ran
};

} // namespace zero::rt

#endif // RUNTIME_EXECUTE_NAN_SEARCH_H
