//===- ValueNumbers.cpp - which bytes are one value -----------------------===//

#include "ValueNumbers.h"

using namespace mlir;

namespace zero {

/// What `value` is a view of.
static Value viewed(Value value) {
  while (true) {
    value = throughReshapes(value);
    if (auto member = value.getDefiningOp<MemberOp>())
      value = member.getBucket();
    else if (auto slice = value.getDefiningOp<OwnSliceOp>())
      value = slice.getInput();
    else
      return value;
  }
}

uint32_t ValueNumbers::of(Value value) {
  value = viewed(value);
  if (auto read = value.getDefiningOp<ReadOp>())
    return ofSymbol(read.getSymbol());
  return number(value.getAsOpaquePointer());
}

uint64_t ValueNumbers::startOf(Value value) const {
  return storage.place(value).offset - storage.place(viewed(value)).offset;
}

} // namespace zero
