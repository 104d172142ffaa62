//===- train.h - the run itself ---------------------------------*- C++ -*-===//

#ifndef TOOLS_ZERO_RUN_TRAIN_H
#define TOOLS_ZERO_RUN_TRAIN_H

#include "handles.h"
#include "options.h"

namespace zero::run {

/// Binds data, trains, writes the results. On failure nothing is written but the log, as far as
/// it came. A signal ends it early: `interrupted` then tells so, and what there is by then is
/// written.
rt::Status train(const Options &options, const Executable &executable, bool &interrupted);

} // namespace zero::run

#endif // TOOLS_ZERO_RUN_TRAIN_H
