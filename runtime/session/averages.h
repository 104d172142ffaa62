//===- averages.h - averages in place of parameters -------------*- C++ -*-===//

#ifndef RUNTIME_SESSION_AVERAGES_H
#define RUNTIME_SESSION_AVERAGES_H

#include "runtime/session/ranks.h"

namespace zero::rt {

/// Exchanges the values of trained parameters with their averages, so that evaluations and files of
/// weights have these. Needs no memory beside that of the program: each rank exchanges its slices
/// in place, and ranks that hold whole parameters gather them, as a step does.
class Averages {
public:
  /// `ranks` must outlive it.
  explicit Averages(Ranks &ranks) : ranks(ranks) {}

  /// Lets parameters have their averages, or their own values again. All processes call it. Fails
  /// if the program keeps no averages.
  Status use(bool uses);
  /// Fails if parameters have their averages. `what` cannot be done then.
  Status checkUnused(const char *what) const;

private:
  Status check() const;

  Ranks &ranks;
  bool used = false;
};

} // namespace zero::rt

#endif // RUNTIME_SESSION_AVERAGES_H
