//===- train.h - train a model ----------------------------------*- C++ -*-===//

#ifndef TOOLS_ZERO_RUN_TRAIN_H
#define TOOLS_ZERO_RUN_TRAIN_H

#include "job.h"

namespace zero::run {

/// Binds data, trains, writes the results. On failure only the log is written, as far as it got. A
/// signal ends the run early: `interrupted` is then true, and the results so far are written.
rt::Status train(const Options &options, const Job &job, const Executable &executable,
                 bool &interrupted);

} // namespace zero::run

#endif // TOOLS_ZERO_RUN_TRAIN_H
