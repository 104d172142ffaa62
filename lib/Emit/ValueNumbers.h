//===- ValueNumbers.h - number the values of bytes --------------*- C++ -*-===//
//
// Numbers for what commands read and write. They come from who made a value, not from
// where `pack` put it or how long it thinks that it lives, so that a run can check that.
//
//===----------------------------------------------------------------------===//

#ifndef LIB_EMIT_VALUENUMBERS_H
#define LIB_EMIT_VALUENUMBERS_H

#include "dialects/Zero/Zero.h"
#include "zero/Analysis/Storage.h"

#include "llvm/ADT/DenseMap.h"

namespace zero {

class ValueNumbers {
public:
  ValueNumbers(const mlir::SymbolTable &symbols, const Storage &storage)
      : symbols(symbols), storage(storage) {}

  /// The number of `value`, or of the value that it is a part of. A view has the number of its
  /// source, and all reads of a state have the same number.
  uint32_t of(mlir::Value value);
  uint32_t of(mlir::Operation *symbol) { return number(symbol); }
  uint32_t ofSymbol(mlir::StringRef name) { return of(symbols.lookup(name)); }
  /// Bytes of that value before `value`, without those of lower ranks.
  uint64_t startOf(mlir::Value value) const;

private:
  uint32_t number(const void *key) {
    return numbers.try_emplace(key, numbers.size() + 1).first->second;
  }

  const mlir::SymbolTable &symbols;
  const Storage &storage;
  llvm::DenseMap<const void *, uint32_t> numbers;
};

} // namespace zero

#endif // LIB_EMIT_VALUENUMBERS_H
