//===- CodeTable.cpp - the numbers that codes stand for -------------------===//

#include "zero/Stored/CodeTable.h"

#include <cmath>

namespace zero::stored {

double CodeTable::endOf(int64_t decade) const {
  return std::pow(10, double(decade + 1 - numDecades));
}

double CodeTable::stepOf(int64_t decade) const {
  return 0.9 * endOf(decade) / double(firstCount() << decade);
}

double CodeTable::firstOf(int64_t decade) const {
  return decade == numDecades ? 1 : 0.1 * endOf(decade) + stepOf(decade) / 2;
}

double CodeTable::beginOf(int64_t decade) const {
  const double before = decade == 0 ? 0 : endOf(decade - 1) - stepOf(decade - 1) / 2;
  return (before + firstOf(decade)) / 2;
}

CodeTable::CodeTable(CodeMap map, unsigned bits) : kind(map) {
  if (map == CodeMap::LinearPositive) {
    const int64_t count = int64_t(1) << bits;
    for (int64_t i = 1; i <= count; ++i)
      numbers.push_back(float(double(i) / double(count)));
    return;
  }
  numDecades = int64_t(bits) - 1;
  std::vector<float> magnitudes{0};
  for (int64_t decade = 0; decade < numDecades; ++decade)
    for (int64_t i = 0; i < firstCount() << decade; ++i)
      magnitudes.push_back(float(firstOf(decade) + double(i) * stepOf(decade)));
  magnitudes.push_back(1);
  if (map == CodeMap::Dynamic) {
    zero = (int64_t(1) << (bits - 1)) - 1;
    for (int64_t m = zero; m > 0; --m)
      numbers.push_back(-magnitudes[size_t(m)]);
  }
  numbers.insert(numbers.end(), magnitudes.begin(), magnitudes.end());
}

} // namespace zero::stored
