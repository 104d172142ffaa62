//===- PriceRows.h - rows of the price table as command lines ---*- C++ -*-===//

#ifndef TOOLS_ZEROC_PRICEROWS_H
#define TOOLS_ZEROC_PRICEROWS_H

#include "zero/Driver/Compiler.h"
#include "zero/Prices/PriceTable.h"

#include <memory>
#include <set>

namespace zero {

/// A flag of zeroc by its name, as one word: "ranks", "--ranks=4".
using FlagWord = std::pair<std::string, std::string>;

/// A row with the options that its words set.
struct PriceAttempt {
  prices::PricedRow priced;
  std::unique_ptr<CompilerOptions> options; ///< null after an error, which is the row's reason
};

/// Makes options of rows.
class PriceRows {
public:
  /// `common`: the words of all rows, before their own.
  PriceRows(std::string model, std::vector<FlagWord> common)
      : model(std::move(model)), common(std::move(common)) {}

  /// Reads the words of `row`. Of the common ones those are left out that have no effect on it.
  PriceAttempt read(const prices::Row &row);
  /// An error message about a common flag that has no effect on any row, or an empty string.
  std::string checkUsed() const;

private:
  std::vector<FlagWord> wordsOf(const prices::Row &row) const;
  std::string readWords(std::vector<FlagWord> &words, CompilerOptions &options);

  std::string model;
  std::vector<FlagWord> common;
  std::set<std::string> used;                ///< names of common flags
  std::map<std::string, std::string> unused; ///< and why they had no effect
};

} // namespace zero

#endif // TOOLS_ZEROC_PRICEROWS_H
