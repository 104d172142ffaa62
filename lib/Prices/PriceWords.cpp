//===- PriceWords.cpp - what text and page say of prices ------------------===//

#include "PriceWords.h"

#include "zero/Planning/ByteSize.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;

namespace zero::prices {

std::string numberText(std::optional<double> number) {
  if (!number)
    return "-";
  std::string text;
  llvm::raw_string_ostream os(text);
  // No exponents where digits are readable.
  if (*number >= 1000 && *number < 1e13)
    os << llvm::format("%.0f", *number);
  else
    os << llvm::format("%.4g", *number);
  return text;
}

std::string terabytesText(std::optional<double> bytes) {
  return numberText(bytes ? std::optional(*bytes / 1e12) : std::nullopt);
}

static const PricedRow *findPlan(const PriceTable &table) {
  auto found = llvm::find_if(table.rows, [](const PricedRow &row) { return row.hasPlan(); });
  return found == table.rows.end() ? nullptr : &*found;
}

int64_t parametersOf(const PriceTable &table) {
  const PricedRow *row = findPlan(table);
  return row ? row->price.parameters : 0;
}

std::string ranksText(const PriceTable &table) {
  std::string text;
  if (const PricedRow *row = findPlan(table); row && row->price.tokens)
    text = std::to_string(row->price.tokens) + " tokens a step on ";
  return text + std::to_string(table.ranks) + (table.ranks == 1 ? " rank" : " ranks");
}

static std::string sizeOf(double bytes) { return planning::formatBytes(bytes); }

static std::string unitOf(const Capacity &capacity, Memory memory) {
  if (memory == Memory::Device && !capacity.isShared)
    return " for each rank";
  return capacity.ranksOnNode == 1 ? "" : " for " + std::to_string(capacity.ranksOnNode) + " ranks";
}

static std::string nameOf(const Capacity &capacity, Memory memory) {
  return memory == Memory::Device && capacity.isShared ? "memory, which device and host share"
                                                       : memoryName(memory);
}

std::string capacityText(const Capacity &capacity) {
  std::vector<std::string> parts;
  for (Memory memory : kMemories) {
    if (memory == Memory::Host && capacity.isShared)
      continue;
    const double bytes = capacity.bytes[size_t(memory)];
    parts.push_back(bytes > 0 ? sizeOf(bytes) + " of " + nameOf(capacity, memory) +
                                    unitOf(capacity, memory)
                              : "an unknown size of " + nameOf(capacity, memory));
  }
  return llvm::join(parts, ", ");
}

/// Whether a memory that the row needs has a size that is not known.
static bool isUnknown(const PriceTable &table, const PricedRow &row) {
  return llvm::any_of(kMemories, [&](Memory memory) {
    return neededOf(table.capacity, row.price, memory) > 0 &&
           table.capacity.bytes[size_t(memory)] == 0;
  });
}

std::string verdictOf(const PriceTable &table, const PricedRow &row) {
  return !row.fits() ? "no" : isUnknown(table, row) ? "?" : "yes";
}

std::string outcomeOf(const PriceTable &table, size_t index) {
  const PricedRow &row = table.rows[index];
  if (!row.hasPlan())
    return "no plan: " + row.reason;
  std::vector<std::string> parts;
  for (Memory memory : kMemories)
    if (const double missing = row.missing[size_t(memory)]; missing > 0)
      parts.push_back(
          sizeOf(missing) + " of " +
          (table.capacity.isShared && memory == Memory::Device ? "memory" : memoryName(memory)));
  if (!parts.empty())
    return "misses " + llvm::join(parts, " and ");
  if (isUnknown(table, row))
    return "fits what is known of the machine";
  return table.fastest == index ? "fits, and is the fastest that does" : "fits";
}

std::string conclusionOf(const PriceTable &table) {
  const auto fitting = llvm::count_if(table.rows, [](const auto &row) { return row.fits(); });
  if (!table.fastest)
    return "none of " + std::to_string(table.rows.size()) + " ways fits";
  const PricedRow &best = table.rows[*table.fastest];
  return llvm::formatv("{0} of {1} ways fit; the fastest is {2}: {3}, {4}, with {5} s a step",
                       fitting, table.rows.size(), *table.fastest + 1, best.row.way,
                       best.row.placement, numberText(best.price.seconds));
}

/// `word` as a shell takes it.
static std::string quoted(StringRef word) {
  const StringRef safe = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./=,:+@%";
  if (!word.empty() && word.find_first_not_of(safe) == StringRef::npos)
    return word.str();
  std::string text = "'";
  for (char letter : word)
    text += letter == '\'' ? std::string("'\\''") : std::string(1, letter);
  return text + "'";
}

std::vector<std::string> commandOf(const PriceTable &table, const PricedRow &row) {
  std::vector<std::string> words{"zeroc", quoted(table.model)};
  for (const std::string &flag : row.flags)
    words.push_back(quoted(flag));
  return words;
}

} // namespace zero::prices
