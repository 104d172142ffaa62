//===- ValueNumbers.cpp - number the values of bytes ----------------------===//

#include "ValueNumbers.h"

using namespace mlir;

namespace zero {

uint32_t ValueNumbers::of(Value value) {
  value = throughViews(value);
  if (auto read = value.getDefiningOp<ReadOp>())
    return ofSymbol(read.getSymbol());
  return number(value.getAsOpaquePointer());
}

uint64_t ValueNumbers::startOf(Value value) const {
  return storage.place(value).offset - storage.place(throughViews(value)).offset;
}

} // namespace zero
