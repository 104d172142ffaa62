//===- compile.h - run zeroc ------------------------------------*- C++ -*-===//

#ifndef TOOLS_ZERO_RUN_COMPILE_H
#define TOOLS_ZERO_RUN_COMPILE_H

#include "job.h"

namespace zero::run {

/// The path whose temporaries have executables of models that are compiled for a run.
std::string compilerFolder();

/// Compiles the model to a temporary executable, loads it and removes it. zeroc prints the
/// certificate, and its own error: `reported` is then true. Of several processes the first one
/// compiles, for all.
rt::Status compileAndLoad(const Options &options, const Job &job, Executable &executable,
                          bool &reported);

} // namespace zero::run

#endif // TOOLS_ZERO_RUN_COMPILE_H
