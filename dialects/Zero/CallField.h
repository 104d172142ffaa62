//===- CallField.h - a field of a library call ------------------*- C++ -*-===//

#ifndef DIALECTS_ZERO_CALLFIELD_H
#define DIALECTS_ZERO_CALLFIELD_H

#include "mlir/IR/BuiltinAttributes.h"

#include <variant>

namespace zero {

/// The value of a field; an enumeration is its number.
using CallField = std::variant<int64_t, bool, mlir::FloatAttr, mlir::DenseI64ArrayAttr>;
using FieldVisitor = llvm::function_ref<void(llvm::StringRef name, const CallField &value)>;

template <typename T>
CallField fieldOf(const T &value) {
  if constexpr (std::is_enum_v<T>)
    return static_cast<int64_t>(value);
  else
    return value;
}

} // namespace zero

#endif // DIALECTS_ZERO_CALLFIELD_H
