//===- Ways.h - ways to train a model ---------------------------*- C++ -*-===//
// A row of the price table is a way to train and a placement of what it stores, as flags of zeroc.
// All rows are in two tables, in Ways.cpp.
//===----------------------------------------------------------------------===//

#ifndef ZERO_PRICES_WAYS_H
#define ZERO_PRICES_WAYS_H

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace zero::prices {

/// A flag without dashes, and its value.
using Setting = std::pair<std::string, std::string>;

/// What decides which rows there are.
struct Question {
  std::map<std::string, std::string> given; ///< the user's flags: rows that say otherwise are none
  uint64_t ranks = 1;
  bool hasHost = true;  ///< the memory of the host is another one than that of the devices
  bool hasStep = false; ///< the model brings its own update, which no other way replaces
};

/// A way to train with a placement.
struct Row {
  std::string way, placement;
  std::vector<Setting> settings; ///< beside the user's flags
  bool hasAdapters = false;      ///< what the user says of adapters holds in these rows alone
};

/// The rows of `question`, in the order of the tables.
std::vector<Row> listRows(const Question &question);

} // namespace zero::prices

#endif // ZERO_PRICES_WAYS_H
