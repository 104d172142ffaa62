//===- packing.cpp - documents that share rows ----------------------------===//

#include "runtime/io/packing.h"

#include <algorithm>
#include <set>

namespace zero::rt {

namespace {
/// The rows of one window of documents.
class Window {
public:
  explicit Window(uint64_t width) : width(width) {}

  void add(uint64_t document, uint64_t length) {
    const auto fit = spaces.lower_bound({length, 0});
    if (fit == spaces.end()) {
      spaces.insert({width - length, rows.size()});
      rows.push_back({document});
      return;
    }
    const auto [space, row] = *fit;
    spaces.erase(fit);
    spaces.insert({space - length, row});
    rows[row].push_back(document);
  }

  std::vector<std::vector<uint64_t>> rows;

private:
  uint64_t width;
  std::set<std::pair<uint64_t, size_t>> spaces; ///< that are left, with the numbers of rows
};
} // namespace

PackedRows packDocuments(uint64_t count, const std::function<uint64_t(uint64_t)> &lengthOf,
                         uint64_t width, uint64_t window) {
  PackedRows packed;
  packed.documents.reserve(count);
  packed.begins.push_back(0);
  for (uint64_t first = 0; first < count; first += window) {
    std::vector<std::pair<uint64_t, uint64_t>> longest; // lengths and numbers of documents
    for (uint64_t i = first; i < std::min(count, first + window); ++i)
      longest.emplace_back(std::min(lengthOf(i), width), i);
    std::ranges::sort(longest, [](const auto &a, const auto &b) {
      return a.first != b.first ? a.first > b.first : a.second < b.second;
    });
    Window rows(width);
    for (const auto &[length, document] : longest)
      rows.add(document, length);
    for (const std::vector<uint64_t> &row : rows.rows) {
      packed.documents.insert(packed.documents.end(), row.begin(), row.end());
      packed.begins.push_back(packed.documents.size());
    }
  }
  return packed;
}

} // namespace zero::rt
