//===- library.h - find MPI -------------------------------------*- C++ -*-===//
//
// MPI is not linked: a job uses the library of its launcher, whichever that is. For each family of
// libraries with the same binary interface, a plugin (plugin.h) is in a file of its own.
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_COMM_MPI_LIBRARY_H
#define RUNTIME_COMM_MPI_LIBRARY_H

#include "runtime/comm/mpi/plugin.h"
#include "runtime/support/status.h"

#include <functional>

namespace zero::rt {

/// The value of a variable of the environment, or nullptr.
using Environment = std::function<const char *(const char *name)>;

/// Loads the MPI of the launcher that started this process, and its plugin. They stay loaded.
///
/// | variable         | meaning                                                                   |
/// |------------------|---------------------------------------------------------------------------|
/// | ZERO_MPI         | path of libmpi.so; also says which plugin                                 |
/// | ZERO_MPI_ABI     | openmpi or mpich, if variables of the launcher do not tell or are wrong   |
/// | ZERO_MPI_PLUGINS | folder of the plugins, for programs that are not installed beside them |
///
/// Without ZERO_MPI, libmpi is one that the process has loaded, one in ../lib of a program that
/// started this process, or one of the default library path. Errors say what was looked for, why
/// it could not be loaded, and what to install.
Status loadMpi(const Environment &environment, const ZeroMpiPlugin *&plugin);

/// Fails if no launcher of MPI has started this process. MPI would then take it for a job of one
/// process; Open MPI moreover ends the process if it cannot make a folder for such a job.
Status checkStartedByMpi(const Environment &environment);

} // namespace zero::rt

#endif // RUNTIME_COMM_MPI_LIBRARY_H
