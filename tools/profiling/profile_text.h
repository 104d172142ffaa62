//===- profile_text.h - a profile for people and for scripts ----*- C++ -*-===//

#ifndef TOOLS_PROFILING_PROFILE_TEXT_H
#define TOOLS_PROFILING_PROFILE_TEXT_H

#include "profile.h"

namespace zero::run {

/// A number as JSON has it, which knows neither NaN nor infinity: null.
std::string jsonNumber(double value);

/// What was measured: how often, on what machine. `threads`: of each rank.
std::string profileTitle(const Profile &profile, int threads);

/// Two tables, by kind and by kernel, and a line that sums up.
std::string profileTables(const Profile &profile);

/// The object "profile" of a report.
std::string profileJson(const Profile &profile);

} // namespace zero::run

#endif // TOOLS_PROFILING_PROFILE_TEXT_H
