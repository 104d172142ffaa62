//===- problems.cpp - collect several problems ----------------------------===//

#include "runtime/support/problems.h"

#include "runtime/support/status.h"

#include <algorithm>

namespace zero::rt {

/// Names come from files, and may be many.
static constexpr uint64_t kNamed = 5;

std::string quoted(const std::string &name) { return "'" + escape(name.substr(0, 256)) + "'"; }

void Problems::add(const char *group, const std::string &what) {
  auto it = std::find_if(groups.begin(), groups.end(), [&](auto &g) { return g.name == group; });
  Group &found = it != groups.end() ? *it : groups.emplace_back(Group{group, {}, 0});
  if (found.count++ < kNamed || verbose)
    found.text += (found.text.empty() ? "" : ", ") + what;
}

std::string Problems::text() const {
  std::string all;
  for (const Group &group : groups)
    all += (all.empty() ? "" : "; ") + std::to_string(group.count) + " " + group.name + ": " +
           group.text +
           (group.count > kNamed && !verbose
                ? " and " + std::to_string(group.count - kNamed) + " more (-v lists all)"
                : "");
  return all;
}

bool Problems::has(const char *name) const {
  return std::any_of(groups.begin(), groups.end(), [&](auto &group) { return group.name == name; });
}

} // namespace zero::rt
