//===- places.h - where the values of a program reside ----------*- C++ -*-===//

#ifndef TEST_UNIT_RUNTIME_PLACES_H
#define TEST_UNIT_RUNTIME_PLACES_H

#include "runtime/format/executable.pb.h"

#include <map>
#include <random>

namespace zero::rt {

/// Calls body(value, offset's owner) for every address in the bytes of a value of the step.
template <typename Body>
void forEachPlace(proto::Program &program, Body body) {
  auto address = [&](proto::Address *at) {
    if (at->reads() || at->writes())
      body(at->reads() ? at->reads() : at->writes(), at);
  };
  for (auto &segment : *program.mutable_segments()) {
    for (auto &rename : *segment.mutable_renames())
      body(rename.to(), rename.mutable_place());
    for (auto &command : *segment.mutable_commands())
      if (command.has_launch())
        for (auto &argument : *command.mutable_launch()->mutable_args())
          address(&argument);
      else if (command.has_check())
        address(command.mutable_check()->mutable_value());
      else if (command.has_copy())
        address(command.mutable_copy()->mutable_src()),
            address(command.mutable_copy()->mutable_dst());
      else
        address(command.mutable_collective()->mutable_src()),
            address(command.mutable_collective()->mutable_dst());
  }
  for (auto &predicate : *program.mutable_predicates())
    address(&predicate);
  for (auto &input : *program.mutable_inputs())
    body(input.value(), &input);
  for (auto &output : *program.mutable_outputs())
    body(output.value(), &output);
  for (auto &gradient : *program.mutable_gradients()) {
    body(gradient.buffer().value(), gradient.mutable_buffer());
    if (gradient.has_scale())
      address(gradient.mutable_scale());
  }
}

/// Values that use the same bytes one after the other, which must move together.
class Groups {
public:
  explicit Groups(const proto::Program &program) {
    for (const auto &segment : program.segments()) {
      for (const auto &rename : segment.renames())
        join(rename.from(), rename.to());
      for (const auto &command : segment.commands()) {
        for (const auto &argument : command.launch().args())
          join(argument.reads(), argument.writes());
        if (command.has_collective())
          join(command.collective().src().reads(), command.collective().dst().writes());
      }
    }
  }
  uint32_t of(uint32_t value) {
    uint32_t &parent = parents.try_emplace(value, value).first->second;
    return parent == value ? value : parent = of(parent);
  }

private:
  void join(uint32_t a, uint32_t b) {
    if (a && b)
      parents[of(a)] = of(b);
  }
  std::map<uint32_t, uint32_t> parents;
};

using Random = std::mt19937_64;

template <typename List>
auto &pick(List &&list, Random &random) {
  return *std::next(list.begin(), long(random() % uint64_t(list.size())));
}

} // namespace zero::rt

#endif // TEST_UNIT_RUNTIME_PLACES_H
