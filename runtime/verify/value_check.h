//===- value_check.h - verify that reads find their values ------*- C++ -*-===//

#ifndef RUNTIME_VERIFY_VALUE_CHECK_H
#define RUNTIME_VERIFY_VALUE_CHECK_H

#include "runtime/format/executable.pb.h"
#include "runtime/support/status.h"

#include <span>

namespace zero::rt {

/// Proves, without executing anything, what --check-memory checks about values in a run: on every
/// rank, in every iteration of a training step and of an evaluation, for any values of predicates,
/// each command in program order reads the value that it expects, and at the end of the step every
/// state holds what the next step expects. So nothing is read before it has arrived, and no value
/// is overwritten while it is still read. An error names reader, bytes and last writer. The program
/// has passed validate(). Iterations are followed until one leaves the state that the previous one
/// left: those up to the last do the same. All ranks are tracked together (rank_shadow.h), but once
/// for each combination of predicates that are constants: these follow from `data`, the section of
/// the executable.
Status checkValues(const proto::Program &program, std::span<const uint8_t> data);

} // namespace zero::rt

#endif // RUNTIME_VERIFY_VALUE_CHECK_H
