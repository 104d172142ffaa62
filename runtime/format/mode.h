//===- mode.h - which commands of a program are executed --------*- C++ -*-===//

#ifndef RUNTIME_FORMAT_MODE_H
#define RUNTIME_FORMAT_MODE_H

#include "runtime/format/executable.pb.h"

#include <algorithm>
#include <vector>

namespace zero::rt {

enum class Mode : uint8_t {
  Step,       ///< all: a training step, which first finishes the step before
  FirstStep,  ///< all but the delayed ones, if there are any: there is no step before
  Evaluation, ///< those on which the loss depends
  Finish,     ///< the delayed ones: a step is finished without a next one
};

inline bool isTraining(Mode mode) { return mode == Mode::Step || mode == Mode::FirstStep; }

/// Whether a command runs in `mode`, its iteration and predicate apart.
inline bool runsIn(Mode mode, bool forward, bool delayed) {
  switch (mode) {
  case Mode::Step:
    return true;
  case Mode::FirstStep:
    return !delayed;
  case Mode::Evaluation:
    return forward;
  case Mode::Finish:
    return delayed;
  }
  return false;
}

/// Whether a step leaves commands that finish it.
inline bool delaysCommands(const proto::Program &program) {
  return std::ranges::any_of(program.segments(), [](const proto::Segment &segment) {
    return std::ranges::any_of(segment.commands(), &proto::Command::delayed);
  });
}

/// The modes in which `program` may run.
inline std::vector<Mode> modesOf(const proto::Program &program) {
  if (!delaysCommands(program))
    return {Mode::Step, Mode::Evaluation};
  return {Mode::Step, Mode::FirstStep, Mode::Evaluation, Mode::Finish};
}

} // namespace zero::rt

#endif // RUNTIME_FORMAT_MODE_H
