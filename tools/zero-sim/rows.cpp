//===- rows.cpp - tables as text ------------------------------------------===//

#include "rows.h"

#include "runtime/support/status.h"

#include <algorithm>

using namespace zero::rt;

namespace zero::sim {

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
