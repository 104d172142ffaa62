//===- PriceText.cpp - the price table as text ----------------------------===//

#include "PriceWords.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"

using namespace mlir;

namespace zero::prices {

using Cells = std::vector<std::string>;

/// The width of a command line that is not broken, and of the text as a whole.
static constexpr size_t kWidth = 116;

/// Whether it is known of any row how long drives last; otherwise there is no column of it.
static bool hasYears(const PriceTable &table) {
  return llvm::any_of(table.rows, [](const PricedRow &row) { return yearsOf(row.price); });
}

static void printHead(const PriceTable &table, llvm::raw_ostream &os) {
  os << "ways to train " << table.model << ": " << parametersOf(table) << " parameters, "
     << ranksText(table) << "\nmachine: " << table.capacity.machine << ": "
     << capacityText(table.capacity) << "\n";
  for (const std::string &note : table.notes)
    os << note << "\n";
  os << "device, host, disk: bytes of each rank; hours, and TB written to drives, for "
     << numberText(table.tokens) << " tokens (--tokens)\n";
  if (hasYears(table))
    os << "years: of such steps, until the endurance of the drives is used up\n";
}

static Cells headingsOf(const PriceTable &table) {
  Cells cells{"", "way", "where", "device", "host", "disk", "s/step", "hours", "TB"};
  if (hasYears(table))
    cells.emplace_back("years");
  cells.emplace_back("fits");
  return cells;
}

static std::string bytesText(int64_t bytes) { return bytes ? std::to_string(bytes) : "-"; }

static Cells cellsOf(const PriceTable &table, size_t index) {
  const PricedRow &row = table.rows[index];
  Cells cells{std::to_string(index + 1), row.row.way, row.row.placement};
  if (!row.hasPlan()) {
    cells.resize(headingsOf(table).size() - 1, "-");
    cells.push_back("no plan");
    return cells;
  }
  for (Memory memory : kMemories)
    cells.push_back(bytesText(row.price.bytes[size_t(memory)]));
  cells.push_back(numberText(row.price.seconds));
  cells.push_back(numberText(hoursOf(row.price, table.tokens)));
  cells.push_back(row.price.written ? terabytesText(writtenOf(row.price, table.tokens)) : "-");
  if (hasYears(table))
    cells.push_back(numberText(yearsOf(row.price)));
  cells.push_back(table.fastest == index ? "fastest" : verdictOf(table, row));
  return cells;
}

/// The second and third column and the last one are text, the others numbers.
static void printRows(ArrayRef<Cells> rows, llvm::raw_ostream &os) {
  std::vector<size_t> widths(rows.front().size());
  for (const Cells &row : rows)
    for (auto [column, cell] : llvm::enumerate(row))
      widths[column] = std::max(widths[column], cell.size());
  for (const Cells &row : rows) {
    std::string line;
    llvm::raw_string_ostream text(line);
    for (auto [column, cell] : llvm::enumerate(row)) {
      text << (column ? "  " : "");
      if (column == 1 || column == 2 || column + 1 == row.size())
        text << llvm::left_justify(cell, widths[column]);
      else
        text << llvm::right_justify(cell, widths[column]);
    }
    os << StringRef(line).rtrim() << "\n";
  }
}

/// A command line, broken where it is too long so that a shell takes it as one.
static void printCommand(const PriceTable &table, const PricedRow &row, llvm::raw_ostream &os) {
  std::string line = "    ";
  for (const std::string &word : commandOf(table, row)) {
    if (line.size() + word.size() + 1 > kWidth) {
      os << line << " \\\n";
      line = "      ";
    }
    line += " " + word;
  }
  os << line << "\n";
}

void printPrices(const PriceTable &table, llvm::raw_ostream &os) {
  printHead(table, os);
  std::vector<Cells> rows{headingsOf(table)};
  for (size_t index = 0; index < table.rows.size(); ++index)
    rows.push_back(cellsOf(table, index));
  os << "\n";
  printRows(rows, os);
  os << "\n" << conclusionOf(table) << "\n";
  for (auto [index, row] : llvm::enumerate(table.rows)) {
    os << "\n"
       << llvm::format("%3zu  ", index + 1) << row.row.way << ", " << row.row.placement << ": "
       << outcomeOf(table, index) << "\n";
    printCommand(table, row, os);
  }
}

} // namespace zero::prices
