//===- faults.h - errors of memory faults -----------------------*- C++ -*-===//

#ifndef TOOLS_PROCESS_FAULTS_H
#define TOOLS_PROCESS_FAULTS_H

namespace zero::process {

/// Converts SIGBUS and SIGSEGV to errors if the program is not the cause: see begin(). All others
/// are handled as before. Called again after a library has installed handlers of its own.
void catchFaults();

} // namespace zero::process

#endif // TOOLS_PROCESS_FAULTS_H
