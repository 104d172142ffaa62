//===- rows.cpp - tables as text ------------------------------------------===//

#include "rows.h"

#include "runtime/support/status.h"

#include <algorithm>
#include <utility>

using namespace zero::rt;

namespace zero::sim {

std::string secondsText(double seconds) {
  if (seconds >= 1)
    return format("%.4g s", seconds);
  if (seconds >= 1e-5 || seconds <= 0)
    return format("%.4g ms", seconds * 1e3);
  return seconds >= 1e-8 ? format("%.4g us", seconds * 1e6) : format("%.4g ns", seconds * 1e9);
}

std::string countText(double count) {
  for (const auto &[size, name] : {std::pair{1e12, "T"}, {1e9, "G"}, {1e6, "M"}, {1e3, "k"}})
    if (count >= 10 * size)
      return format("%.4g %s", count / size, name);
  return format("%.4g", count);
}

std::string rowsText(const Rows &rows) {
  std::vector<size_t> widths(rows.front().size());
  for (const std::vector<std::string> &row : rows)
    for (size_t i = 0; i < row.size(); ++i)
      widths[i] = std::max(widths[i], row[i].size());
  std::string text;
  for (const std::vector<std::string> &row : rows) {
    std::string line = format("%-*s", int(widths[0]), row[0].c_str());
    for (size_t i = 1; i < row.size(); ++i)
      line += format("  %*s", int(widths[i]), row[i].c_str());
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + "\n";
  }
  return text;
}

} // namespace zero::sim
