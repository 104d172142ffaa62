//===- rows.h - tables as text ----------------------------------*- C++ -*-===//

#ifndef TOOLS_ZERO_SIM_ROWS_H
#define TOOLS_ZERO_SIM_ROWS_H

#include <string>
#include <vector>

namespace zero::sim {

/// The cells of a table, of which the first row has the titles.
using Rows = std::vector<std::vector<std::string>>;

/// A line for each row. All columns but the first are right-aligned.
std::string rowsText(const Rows &rows);

} // namespace zero::sim

#endif // TOOLS_ZERO_SIM_ROWS_H
