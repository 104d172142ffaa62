//===- profile_text.h - a profile as text and JSON --------------*- C++ -*-===//

#ifndef TOOLS_PROFILING_PROFILE_TEXT_H
#define TOOLS_PROFILING_PROFILE_TEXT_H

#include "profile.h"
#include "runtime/support/json_writer.h"

namespace zero::run {

/// What was measured: how often, on what machine. `threads`: of each rank.
std::string profileTitle(const Profile &profile, int threads);

/// Two tables, by kind and by kernel, and a line that sums up.
std::string profileTables(const Profile &profile);

/// The object "profile" of a report.
void writeProfile(rt::JsonWriter &json, const Profile &profile);
/// The member "profile", and, of a program with several shapes, "other_profiles".
void writeProfiles(rt::JsonWriter &json, const std::vector<Profile> &profiles);

} // namespace zero::run

#endif // TOOLS_PROFILING_PROFILE_TEXT_H
