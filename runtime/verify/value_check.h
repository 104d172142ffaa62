//===- value_check.h - whether every read finds its value -------*- C++ -*-===//

#ifndef RUNTIME_VERIFY_VALUE_CHECK_H
#define RUNTIME_VERIFY_VALUE_CHECK_H

#include "runtime/format/executable.pb.h"
#include "runtime/support/status.h"

namespace zero::rt {

/// Proves, running nothing, what --check-memory sees of values in a run: on every rank, in
/// every turn of a training step and of an evaluation, whatever predicates say, each command
/// that reads in the listed order finds the value that it expects, and at the end of the step
/// every state holds what the next one expects. So nothing is read before it has arrived,
/// and no value is overwritten that is still read. Refuses, naming reader, bytes and who
/// wrote there last, a program of which that is not so. It has passed validate().
///
/// Turns are followed until one leaves what the one before has left: those up to the last
/// do the same. All ranks are followed at once (rank_shadow.h).
Status checkValues(const proto::Program &program);

} // namespace zero::rt

#endif // RUNTIME_VERIFY_VALUE_CHECK_H
