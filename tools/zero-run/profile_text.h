//===- profile_text.h - a profile for people and for scripts ----*- C++ -*-===//

#ifndef TOOLS_ZERO_RUN_PROFILE_TEXT_H
#define TOOLS_ZERO_RUN_PROFILE_TEXT_H

#include "profile.h"

namespace zero::run {

/// Two tables, by kind and by kernel, and a line that sums up. `threads`: of each rank.
std::string profileText(const Profile &profile, int threads);

/// The object "profile" of a report.
std::string profileJson(const Profile &profile);

} // namespace zero::run

#endif // TOOLS_ZERO_RUN_PROFILE_TEXT_H
