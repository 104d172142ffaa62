//===- rows.h - tables as text ----------------------------------*- C++ -*-===//

#ifndef TOOLS_ZERO_SIM_ROWS_H
#define TOOLS_ZERO_SIM_ROWS_H

#include <string>
#include <vector>

namespace zero::sim {

/// The cells of a table, of which the first row has the titles.
using Rows = std::vector<std::vector<std::string>>;

/// "3.12 us", "45.6 ms", "1.208 s": four significant digits.
std::string secondsText(double seconds);
/// "512", "31.73 k": a rate with four significant digits.
std::string countText(double count);

/// A line for each row. All columns but the first are right-aligned.
std::string rowsText(const Rows &rows);

} // namespace zero::sim

#endif // TOOLS_ZERO_SIM_ROWS_H
