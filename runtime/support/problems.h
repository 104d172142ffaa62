//===- problems.h - collect several problems --------------------*- C++ -*-===//

#ifndef RUNTIME_SUPPORT_PROBLEMS_H
#define RUNTIME_SUPPORT_PROBLEMS_H

#include <cstdint>
#include <string>
#include <vector>

namespace zero::rt {

/// A name from a file, for messages.
std::string quoted(const std::string &name);

/// Mismatches, in groups that each become part of one line: "2 missing: 'a', 'b'; 1 of another
/// shape: 'c'". The first few of a group are named, with the number of the others.
class Problems {
public:
  /// With `verbose`, all are named.
  explicit Problems(bool verbose = false) : verbose(verbose) {}

  void add(const char *group, const std::string &what);
  bool has(const char *group) const;
  bool empty() const { return groups.empty(); }
  std::string text() const;

private:
  struct Group {
    std::string name, text;
    uint64_t count = 0;
  };
  bool verbose;
  std::vector<Group> groups;
};

} // namespace zero::rt

#endif // RUNTIME_SUPPORT_PROBLEMS_H
