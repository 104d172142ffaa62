//===- PriceTable.h - what each way to train a model takes ------*- C++ -*-===//
// The table of `zeroc --prices`: a row for each plan, with the bytes of its certificate. It is
// printed, and written as JSON or as a page.
//===----------------------------------------------------------------------===//

#ifndef ZERO_PRICES_PRICETABLE_H
#define ZERO_PRICES_PRICETABLE_H

#include "zero/Planning/DriveWear.h"
#include "zero/Prices/Ways.h"

#include "mlir/IR/BuiltinOps.h"

#include <array>
#include <optional>

namespace zero::prices {

/// The memories of a machine.
enum class Memory { Device, Host, Disk };
inline constexpr std::array kMemories = {Memory::Device, Memory::Host, Memory::Disk};
/// "device memory", "host memory", "disk"
const char *memoryName(Memory memory);

/// What a plan takes.
struct Price {
  std::array<int64_t, 3> bytes = {}; ///< arena of each rank, by Memory
  int64_t parameters = 0, trained = 0;
  double seconds = 0;         ///< of a step, simulated
  int64_t tokens = 0;         ///< of all ranks in a step; 0: the model has no input of tokens
  int64_t written = 0;        ///< bytes that all ranks write to drives in a step
  planning::DriveWear drives; ///< of a node
};

/// The price of a packed module, whose ranks have `threads` threads each, on `machine`.
Price priceOf(mlir::ModuleOp module, const planning::Machine &machine, int64_t threads);

/// What a machine has.
struct Capacity {
  std::string machine; ///< its name
  int64_t ranksOnNode = 1;
  bool isShared = false; ///< device and host are one memory, which all ranks of a node share
  /// Bytes by Memory: of the device for each rank, of host and disks for all ranks of a node; if
  /// they share one memory, of the device for all, and of the host none. 0: not known.
  std::array<double, 3> bytes = {};
};

/// The capacity of `machine` for `ranks` ranks.
Capacity capacityOf(const planning::Machine &machine, int64_t ranks);

/// Bytes that `price` takes of a memory of `capacity`, in the same units: of a rank or of all of a
/// node.
double neededOf(const Capacity &capacity, const Price &price, Memory memory);

struct PricedRow {
  Row row;
  std::vector<std::string> flags; ///< all of it, as words of a command line
  std::string reason;             ///< why there is no plan; empty: there is one
  Price price;
  std::array<double, 3> missing = {}; ///< bytes by Memory

  bool hasPlan() const { return reason.empty(); }
  bool fits() const { return hasPlan() && missing == std::array<double, 3>{}; }
};

struct PriceTable {
  std::string model; ///< as given
  int64_t ranks = 1;
  double tokens = 0; ///< to train with
  Capacity capacity;
  std::vector<std::string> notes; ///< what was assumed
  std::vector<PricedRow> rows;
  std::optional<size_t> fastest; ///< of the rows that fit

  /// Fills in what rows miss, and which one is the fastest.
  void compare();
};

/// Steps and hours that `tokens` tokens take; nothing for a model without tokens.
std::optional<double> stepsOf(const Price &price, double tokens);
std::optional<double> hoursOf(const Price &price, double tokens);
/// Bytes that these steps write to drives.
std::optional<double> writtenOf(const Price &price, double tokens);
/// Years of such steps until the endurance of the drives is used up; nothing if it is not known or
/// nothing is written.
std::optional<double> yearsOf(const Price &price);

void printPrices(const PriceTable &table, llvm::raw_ostream &os);

/// One line of JSON, embeddable in a page; docs/guides/prices.md has the fields.
std::string pricesAsJson(const PriceTable &table);

/// Writes the JSON or, if the path ends in .html, the page with it.
llvm::LogicalResult writePrices(const PriceTable &table, llvm::ArrayRef<std::string> paths,
                                mlir::MLIRContext &context);

} // namespace zero::prices

#endif // ZERO_PRICES_PRICETABLE_H
