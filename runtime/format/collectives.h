//===- collectives.h - kinds of collectives ---------------------*- C++ -*-===//

#ifndef RUNTIME_FORMAT_COLLECTIVES_H
#define RUNTIME_FORMAT_COLLECTIVES_H

#include "runtime/format/executable.pb.h"

#include <zero_rt/zero_rt.h>

namespace zero::rt {

/// The properties of a kind of collective that checks, costs and reports need.
struct CollectiveForm {
  enum Size { Slice, Whole }; ///< one rank's elements, or those of all ranks

  proto::Collective::Kind kind;
  zero_rt_command_kind command; ///< that kind in the C interface
  const char *name;             ///< for messages
  Size source, destination;
  bool sums;    ///< adds the ranks' values up
  bool inPlace; ///< source and destination are the same bytes
};

/// The form of `kind`; null for a number that is none.
const CollectiveForm *formOf(proto::Collective::Kind kind);

/// Elements of source and destination, of a collective whose kind is known, among `ranks`.
uint64_t sourceElements(const proto::Collective &collective, uint64_t ranks);
uint64_t destinationElements(const proto::Collective &collective, uint64_t ranks);

/// Whether source and destination are the same bytes.
bool areSameBytes(const proto::Collective &collective);

/// Elements that `rank` gets from the others, as communicators count them.
uint64_t receivedElements(const proto::Collective &collective, uint64_t ranks, uint64_t rank);
/// The most that one of `ranks` gets.
uint64_t mostReceivedElements(const proto::Collective &collective, uint64_t ranks);

} // namespace zero::rt

#endif // RUNTIME_FORMAT_COLLECTIVES_H
