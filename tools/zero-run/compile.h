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

/// Prints the flags that --auto gives to zeroc, one in a line. Fails without a cache, in which the
/// description of this machine outlives this process.
rt::Status printAutomaticFlags(Options &options, const Job &job);

} // namespace zero::run

#endif // TOOLS_ZERO_RUN_COMPILE_H
