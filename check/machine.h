//===- machine.h - symbolic execution of a program --------------*- C++ -*-===//

#ifndef CHECK_MACHINE_H
#define CHECK_MACHINE_H

#include "check/kernels.h"
#include "check/memory.h"

#include <functional>
#include <set>
#include <tuple>

namespace zero::check {

/// A condition that stops the step: the value, its first byte, and the bounds.
using Condition = std::tuple<Term, int64_t, int64_t, int64_t>;

/// Executes all ranks of a program, command by command in the listed order, on terms.
class Machine {
public:
  /// The part of the global batch that a rank has in a micro-batch, as a name.
  using PartName = std::function<std::string(int rank, int microBatch)>;

  Machine(const Executable &executable, const std::vector<int64_t> &kernelNumbers, Terms &terms,
          Kernels &kernels, PartName partName);

  /// Writes the states and constants that a step begins with, then all inputs.
  void begin();
  void run(proto::Segment::Kind kind);

  /// The term that `tensor` begins with, and where a rank has its bytes.
  Term valueOf(const proto::Tensor &tensor);
  using Visit = std::function<void(proto::Tier tier, int64_t place, int64_t start, int64_t size)>;
  /// Calls visit() for each part of elements [start, start + count) of `buffer` on `rank`, with the
  /// first byte of the part counted from that of the first element.
  void forEachPart(const proto::Buffer &buffer, uint64_t start, uint64_t count, int rank,
                   const Visit &visit) const;
  Memory &arena(int rank, proto::Tier tier = proto::DEVICE) {
    return arenas[size_t(rank) * 3 + size_t(tier)];
  }
  const Memory &arena(int rank, proto::Tier tier = proto::DEVICE) const {
    return arenas[size_t(rank) * 3 + size_t(tier)];
  }
  /// The command of that number, of all segments in order, for messages.
  std::string describe(int32_t command) const;

  /// Terms that are written in place of others, as results of kernels, and as constants.
  std::map<Term, Term> replacements;
  std::set<Condition> conditions;

private:
  struct Place {
    proto::Tier tier;
    int64_t begin, size;
  };
  /// The rank and the command that is executed.
  std::string where(int rank) const;
  Place placeOf(const proto::Address &address, uint64_t bytes, int rank) const;
  Slices readAll(const Place &place, int rank, const std::string &what);

  void writeInput(const proto::Input &input, int microBatch);
  void execute(const proto::Command &command, int rank);
  void launch(const proto::Launch &launch, int rank);
  void expectApart(const proto::Launch &launch, const std::vector<Place> &places,
                   int results) const;
  bool launchElements(const proto::Launch &launch, const std::vector<Place> &places, int rank);
  Slice combined(const Meaning &meaning, const Slices &parts);
  void copy(const proto::Copy &copy, int rank);
  void collective(const proto::Collective &collective);
  void exchange(const proto::Collective &collective, const std::vector<int> &members,
                const std::vector<int> &slices);
  Slices sumOf(const proto::Collective &collective, const std::vector<int> &members,
               const std::vector<Slices> &sources);

  const Executable &executable;
  const proto::Program &program;
  const std::vector<int64_t> &kernelNumbers;
  Terms &terms;
  Kernels &kernels;
  PartName partName;
  std::vector<Coordinates> coordinates;
  std::vector<Memory> arenas;
  std::map<proto::Tier, uint64_t> sizes;
  int32_t current = -1; ///< the command that is executed
};

/// Calls body(parts, elements) for stretches of elements that are in one slice of each of `values`,
/// whose elements have `widths` bytes. Parts that divide an element have term 0.
void forEachStretch(const std::vector<Slices> &values, const std::vector<int64_t> &widths,
                    const std::function<void(const Slices &parts, int64_t elements)> &body);

/// The members of each group of ranks that `collective` exchanges between, in the order of ranks,
/// and the numbers of their slices.
struct Group {
  std::vector<int> members, slices;
};
std::vector<Group> groupsOf(const Executable &executable, const proto::Collective &collective);

/// The sum of what `members` have, one after the other, or first those of each node.
Slice sumOverRanks(Terms &terms, const proto::Program &program, proto::DType dtype,
                   proto::DType arithmetic, bool mean, const std::vector<int> &members,
                   const Slices &parts);

} // namespace zero::check

#endif // CHECK_MACHINE_H
