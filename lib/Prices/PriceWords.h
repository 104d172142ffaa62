//===- PriceWords.h - what text and page say of prices ----------*- C++ -*-===//

#ifndef LIB_PRICES_PRICEWORDS_H
#define LIB_PRICES_PRICEWORDS_H

#include "zero/Prices/PriceTable.h"

namespace zero::prices {

/// Four significant digits, "12.35", or "-" of nothing.
std::string numberText(std::optional<double> number);
/// The same of bytes in units of 10^12.
std::string terabytesText(std::optional<double> bytes);

/// The parameters of the model without adapters, if a row of them has a plan.
int64_t parametersOf(const PriceTable &table);
/// "2048 tokens a step on 1 rank".
std::string ranksText(const PriceTable &table);
/// "74.51 GiB of device memory for each rank, 1.82 TiB of host memory, ...".
std::string capacityText(const Capacity &capacity);

/// "yes", "no", or "?" where the memory is not known.
std::string verdictOf(const PriceTable &table, const PricedRow &row);
/// Why there is no plan, or "fits, ...", or "misses 3.10 GiB of device memory".
std::string outcomeOf(const PriceTable &table, size_t index);
/// How many rows fit, and which is the fastest of them.
std::string conclusionOf(const PriceTable &table);

/// The words of the command that plans a row, as a shell takes them.
std::vector<std::string> commandOf(const PriceTable &table, const PricedRow &row);

} // namespace zero::prices

#endif // LIB_PRICES_PRICEWORDS_H
