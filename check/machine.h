//===- machine.h - symbolic execution of a program --------------*- C++ -*-===//

#ifndef CHECK_MACHINE_H
#define CHECK_MACHINE_H

#include "check/groups.h"
#include "check/kernels.h"
#include "check/order.h"

#include <functional>
#include <set>
#include <tuple>

namespace zero::check {

/// A condition that stops the step: the value, its first byte, and the bounds.
using Condition = std::tuple<Term, int64_t, int64_t, int64_t>;

/// Executes all ranks of a program, command by command in the listed order, on terms. What is the
/// same function of the coordinates on all ranks is computed once.
class Machine {
public:
  /// Inputs of the batch depend on the coordinates along `dataAxes`, a set of bits. With
  /// `gapsAreZero` what no tensor has of a buffer is 0 when a step begins.
  Machine(const Executable &executable, Terms &terms, Kernels &kernels, uint32_t dataAxes,
          bool gapsAreZero);

  /// Writes the states and constants that a step begins with.
  void begin();
  /// Writes all inputs, those of the batch as of `microBatch` if that is not negative.
  void writeInputs(int microBatch = -1);
  /// Executes the commands of a segment, or the `delayed` ones, which finish a step.
  void run(proto::Segment::Kind kind, bool delayed = false);

  /// The term that `tensor` begins with.
  Term valueOf(const proto::Tensor &tensor);
  Memory &arena(proto::Tier tier = proto::DEVICE) { return arenas[size_t(tier)]; }
  const Memory &arena(proto::Tier tier = proto::DEVICE) const { return arenas[size_t(tier)]; }
  /// Calls visit() for each part of buffer `number`, of all ranks; the tensor is null for a gap.
  using VisitContent = std::function<void(const proto::Tensor *tensor, int64_t size)>;
  void forEachContent(uint32_t number, const VisitContent &visit) const;
  /// The command of that number, of all segments in order, for messages.
  std::string describe(int32_t command) const;

  /// Terms that are written in place of others, as results of commands, and as constants.
  std::map<Term, Term> replacements;
  std::set<Condition> conditions;

private:
  struct Place {
    proto::Tier tier;
    std::vector<int64_t> begins; ///< on all ranks, or on each
    int64_t size;
    int64_t on(int rank) const { return begins[begins.size() == 1 ? 0 : size_t(rank)]; }
  };
  /// The rank and the command that is executed.
  std::string where(int rank) const;
  Place placeOf(const proto::Address &address, uint64_t bytes) const {
    return placeOf(address.tier(), address.offset(), address.rank_strides(), bytes);
  }
  Place placeOf(proto::Tier tier, uint64_t offset, const Strides &strides, uint64_t bytes) const;
  void expectApart(const Place &some, const Place &other, const std::string &what) const;
  void expectOrdered(const Place &place, bool writes) const;
  Value read(const Place &place) const;
  void write(const Place &place, const Value &value);
  void expectWhole(const Slices &value, const Place &place, int rank,
                   const std::string &what) const;
  /// What decides whether the command is executed on `rank`: kNone if it is, kZero if not.
  Slice guardOn(int rank) const {
    return guards.empty() ? Slice() : guards[guards.size() == 1 ? 0 : size_t(rank)];
  }
  void readGuards(uint32_t predicate);

  void writeInput(const proto::Input &input, int microBatch);
  void execute(const proto::Command &command);
  void check(const proto::Check &check);
  void launch(const proto::Launch &launch);
  void expectElements(const proto::Launch &launch, const Meaning &meaning) const;
  /// What a launch leaves in each argument, where arguments hold `given`.
  std::vector<Slices> results(const proto::Launch &launch, const Stretch &given);
  std::vector<Slices> elements(const proto::Launch &launch, const Meaning &meaning,
                               const Stretch &given);
  Slice replacementOf(Slice value) const {
    auto it = replacements.find(value.term);
    return it == replacements.end() ? value : Slice{it->second, value.offset, value.size};
  }
  Slice resultOf(int64_t number, const Meaning &meaning, const Operand &result,
                 const std::vector<Operand> &operands, const Stretch &parts);
  void copy(const proto::Copy &copy);
  void collective(const proto::Collective &collective);
  /// What a collective gives to the members of a group, all of its slices.
  Slices exchanged(const proto::Collective &collective, const std::vector<uint32_t> &axes,
                   const Value &source, const Group &group);
  Slices sumOf(const proto::Collective &collective, const std::vector<uint32_t> &axes,
               const Value &source, const Group &group);
  Slices onMember(Slices slices, int rank, const std::vector<uint32_t> &axes);
  bool isAlikeAlong(uint32_t axis, const Group &group, const Slices &own) const;
  Slice sumOfMembers(SumType type, const Group &members, const Slices &parts);

  const Executable &executable;
  const proto::Program &program;
  Terms &terms;
  Kernels &kernels;
  uint32_t dataAxes;
  bool gapsAreZero;
  std::vector<Memory> arenas;                                   ///< by tier
  std::map<std::vector<uint32_t>, std::map<int, Group>> groups; ///< by axes
  Slices guards; ///< of the command that is executed: of all ranks, of each, or none
  std::map<proto::Tier, uint64_t> sizes;
  int32_t current = -1, firstCommand = 0; ///< that is executed, and of its segment
  std::shared_ptr<Order> order;           ///< of the segment that is executed
};

} // namespace zero::check

#endif // CHECK_MACHINE_H
