//===- CodeTable.cpp - the numbers that codes stand for -------------------===//

#include "zero/Stored/CodeTable.h"

#include "llvm/ADT/APFloat.h"

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

/// QLoRA (arXiv 2305.14314), appendix E.
static constexpr float kNormalFloats[] = {
    -1.0f,
    -0.6961928009986877f,
    -0.5250730514526367f,
    -0.39491748809814453f,
    -0.28444138169288635f,
    -0.18477343022823334f,
    -0.09105003625154495f,
    0.0f,
    0.07958029955625534f,
    0.16093020141124725f,
    0.24611230194568634f,
    0.33791524171829224f,
    0.44070982933044434f,
    0.5626170039176941f,
    0.7229568362236023f,
    1.0f,
};

/// The float of E4M3 with the bits `code`, over the largest one. Of NaN, 0: no element has it.
static float eightBitFloat(unsigned code) {
  const llvm::APFloat value(llvm::APFloat::Float8E4M3FN(), llvm::APInt(8, code));
  return value.isNaN() ? 0.0f : float(value.convertToDouble() / 448);
}

CodeTable::CodeTable(CodeMap map, unsigned bits) : kind(map) {
  const unsigned count = 1u << bits;
  switch (map) {
  case CodeMap::LinearPositive:
    for (unsigned i = 1; i <= count; ++i)
      numbers.push_back(float(double(i) / double(count)));
    return;
  case CodeMap::NormalFloat:
    numbers.assign(std::begin(kNormalFloats), std::end(kNormalFloats));
    return;
  case CodeMap::Integer:
    for (unsigned code = 0; code < count; ++code)
      numbers.push_back(float(double(int8_t(code)) / 127));
    return;
  case CodeMap::Float8:
    for (unsigned code = 0; code < count; ++code)
      numbers.push_back(eightBitFloat(code));
    return;
  case CodeMap::Dynamic:
  case CodeMap::DynamicPositive:
    addDynamic(bits);
  }
}

void CodeTable::addDynamic(unsigned bits) {
  numDecades = int64_t(bits) - 1;
  std::vector<float> magnitudes{0};
  for (int64_t decade = 0; decade < numDecades; ++decade)
    for (int64_t i = 0; i < firstCount() << decade; ++i)
      magnitudes.push_back(float(firstOf(decade) + double(i) * stepOf(decade)));
  magnitudes.push_back(1);
  if (kind == CodeMap::Dynamic) {
    zero = (int64_t(1) << (bits - 1)) - 1;
    for (int64_t m = zero; m > 0; --m)
      numbers.push_back(-magnitudes[size_t(m)]);
  }
  numbers.insert(numbers.end(), magnitudes.begin(), magnitudes.end());
}

} // namespace zero::stored
