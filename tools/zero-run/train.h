//===- train.h - train a model ----------------------------------*- C++ -*-===//

#ifndef TOOLS_ZERO_RUN_TRAIN_H
#define TOOLS_ZERO_RUN_TRAIN_H

#include "job.h"

namespace zero::run {

/// The exit code of a run that --max-time has ended: EX_TEMPFAIL of sysexits.h, "try again".
inline constexpr int kMoreToDo = 75;

/// Binds data, trains, writes the results. On failure only the log is written, as far as it got. A
/// run that ends early writes the results so far; `code` is the exit code.
rt::Status train(const Options &options, const Job &job, const Executable &executable, int &code);

} // namespace zero::run

#endif // TOOLS_ZERO_RUN_TRAIN_H
