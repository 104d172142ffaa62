//===- collectives.h - kinds of collectives ---------------------*- C++ -*-===//

#ifndef RUNTIME_FORMAT_COLLECTIVES_H
#define RUNTIME_FORMAT_COLLECTIVES_H

#include "runtime/format/executable.pb.h"
#include "runtime/support/mesh.h"

#include <zero_rt/zero_rt.h>

namespace zero::rt {

/// The properties of a kind of collective that checks, costs and reports need.
struct CollectiveForm {
  enum Size { Slice, Whole }; ///< one member's elements, or those of all members

  proto::Collective::Kind kind;
  zero_rt_command_kind command; ///< that kind in the C interface
  const char *name;             ///< for messages
  Size source, destination;
  bool sums;    ///< adds the members' values up
  bool inPlace; ///< source and destination are the same bytes
};

/// The form of `kind`; null for a number that is none.
const CollectiveForm *formOf(proto::Collective::Kind kind);

/// The axes along which the members of a group of `collective` differ; and how many members it has.
AxisSet groupAxes(const Mesh &mesh, const proto::Collective &collective);
uint64_t groupSize(const Mesh &mesh, const proto::Collective &collective);

/// Of each member of a group, in the order of ranks, the number of its slice; empty if that is the
/// number of the member.
std::vector<int> sliceNumbers(const Mesh &mesh, const proto::Collective &collective);
/// How far the slices of ranks that differ along each axis are apart, if each has `bytes`.
PerAxis sliceStrides(const Mesh &mesh, const proto::Collective &collective, uint64_t bytes);

/// Elements of source and destination, of a collective whose kind is known, in a group of
/// `members`.
uint64_t sourceElements(const proto::Collective &collective, uint64_t members);
uint64_t destinationElements(const proto::Collective &collective, uint64_t members);

/// Whether source and destination are the same bytes.
bool areSameBytes(const proto::Collective &collective);

/// Elements that the member `index` gets from the others, as communicators count them.
uint64_t receivedElements(const proto::Collective &collective, uint64_t members, uint64_t index);
/// The most that one of `members` gets.
uint64_t mostReceivedElements(const proto::Collective &collective, uint64_t members);

} // namespace zero::rt

#endif // RUNTIME_FORMAT_COLLECTIVES_H
