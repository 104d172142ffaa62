//===- DriveWear.cpp - bytes that wear drives out -------------------------===//

#include "zero/Planning/DriveWear.h"

#include "zero/Planning/ByteSize.h"

#include <array>
#include <cstdio>

namespace zero::planning {

static constexpr double kSecondsOfDay = 24 * 60 * 60, kDaysOfYear = 365.25, kTerabyte = 1e12;

double DriveWear::writtenPerDay() const {
  return seconds > 0 ? written / seconds * kSecondsOfDay : 0;
}

double DriveWear::years() const {
  const double perDay = writtenPerDay();
  return perDay > 0 ? endurance / perDay / kDaysOfYear : 0;
}

DriveWear nodeDriveWear(const Machine &machine, double read, double written, int64_t ranks,
                        double seconds) {
  const auto here = double(ranksOnNode(machine, ranks));
  return {read * here, written * here, seconds, machine.disk.endurance * machine.disk.count,
          machine.disk.count};
}

static std::string formatted(const char *format, double value) {
  std::array<char, 64> text;
  std::snprintf(text.data(), text.size(), format, value);
  return text.data();
}

std::string wearText(const DriveWear &wear) {
  std::string text = formatBytes(wear.written, 1) + " a step";
  if (wear.writtenPerDay() <= 0)
    return text;
  text += formatted(" is %.3g TB a day", wear.writtenPerDay() / kTerabyte);
  if (wear.years() > 0)
    text += formatted(", which uses up the endurance of %g TB", wear.endurance / kTerabyte) +
            formatted(" in %.3g years", wear.years());
  return text;
}

} // namespace zero::planning
