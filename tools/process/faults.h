//===- faults.h - memory that is not there ----------------------*- C++ -*-===//

#ifndef TOOLS_PROCESS_FAULTS_H
#define TOOLS_PROCESS_FAULTS_H

namespace zero::process {

/// Makes errors of SIGBUS and SIGSEGV where what is wrong is not the program: see begin(). All
/// others are handled as before. Called again after a library has
/// put handlers of its own before.
void catchFaults();

} // namespace zero::process

#endif // TOOLS_PROCESS_FAULTS_H
